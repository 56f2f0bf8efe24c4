"""Pairs whose labels do not settle them: splits, ties, too few votes, nobody sure.

One statement answers for a whole study, from the outcomes that are kept beside the labels.
"""

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from django.db import connection
from django.utils import timezone

from results.selectors.labels import PLANNED_ANNOTATORS
from results.services.outcomes import update_outcomes
from studies.models import Member, Study

Kind = Literal["tie", "split", "unsure", "few", "agreed", "none"]
State = Literal["open", "waiting", "settled", ""]

CONTESTED: tuple[Kind, ...] = ("tie", "split", "unsure", "few")

# `waiting` is a pair that more labels are planned for, which may still settle it. Which pairs have
# a final label is asked beside the join with them, so that the many that agree are let go of before
# anything is joined.
OUTCOMES = f"""
WITH {PLANNED_ANNOTATORS},
outcome AS (
    SELECT p.id, p.public_id AS pair_public_id, q.public_id AS query_public_id,
        p.query_id, p.document_id,
        coalesce(c.name, '') AS class_name, coalesce(c.is_high_risk, false) AS is_high_risk,
        coalesce(c.name, '') = ANY (%(holes)s) AS is_hole,
        CASE WHEN o.kind = 'agreed' AND o.votes < %(minimum_votes)s THEN 'few'
            ELSE o.kind END AS kind,
        o.distance, f.id AS final_id, f.grade AS final_grade, coalesce(f.cause, '') AS cause,
        v.number AS rubric_number,
        control.pair_id IS NOT NULL AS is_control,
        CASE WHEN f.id IS NOT NULL THEN 'settled'
            WHEN o.outcomes < planned.annotators THEN 'waiting'
            ELSE 'open' END AS state
    FROM results_pairoutcome o
    JOIN studies_pair p ON p.id = o.pair_id AND p.pool_rank IS NOT NULL
    JOIN studies_query q ON q.id = p.query_id
    LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
    LEFT JOIN planned ON planned.query_id = p.query_id
    LEFT JOIN results_finallabel f ON f.pair_id = p.id AND f.ended_at IS NULL
    LEFT JOIN studies_rubricversion v ON v.id = f.rubric_version_id
    LEFT JOIN studies_controlpair control ON control.pair_id = p.id
    WHERE o.study_id = %(study)s
        AND (%(pairs)s::bigint[] IS NULL OR o.pair_id = ANY (%(pairs)s::bigint[]))
        AND (%(with_agreed)s OR o.kind IN ('tie', 'split', 'unsure')
            OR o.kind = 'agreed' AND o.votes < %(minimum_votes)s
            OR o.pair_id IN (SELECT pair_id FROM results_finallabel WHERE ended_at IS NULL))
),
chosen AS (
    SELECT * FROM outcome
    WHERE (%(query_class)s::text IS NULL OR class_name = %(query_class)s)
        AND (%(kind)s = '' OR kind = %(kind)s)
        AND (%(state)s = '' OR state = %(state)s)
        AND (%(cause)s = '' OR cause = %(cause)s)
        AND (NOT %(is_dropped)s OR final_id IS NOT NULL AND final_grade IS NULL)
        AND (%(finals)s::bigint[] IS NULL OR final_id = ANY (%(finals)s::bigint[]))
)
"""  # noqa: S608 - put together from constants

# High risk first, then classes with an open hole, then the labels farthest apart; the pairs of a
# query stay together. The random ids end it: no order tells of a rank.
ORDER = "is_high_risk DESC, is_hole DESC, distance DESC, query_public_id, pair_public_id"

PAGE = f"""
{OUTCOMES},
page AS (SELECT * FROM chosen ORDER BY {ORDER} LIMIT %(limit)s OFFSET %(offset)s)
SELECT page.id, page.pair_public_id, q.text, d.title, class_name, is_high_risk, is_hole, kind,
    state, distance, final_id, final_grade, cause, rubric_number
FROM page
JOIN studies_query q ON q.id = page.query_id
JOIN studies_document d ON d.id = page.document_id
ORDER BY {ORDER}
"""  # noqa: S608 - put together from constants

TALLY = f"""
{OUTCOMES}
SELECT kind, state, class_name, cause, is_control,
    final_id IS NOT NULL AND final_grade IS NULL, count(*)
FROM chosen
GROUP BY 1, 2, 3, 4, 5, 6
"""  # noqa: S608 - put together from constants

# What a member may be led to: nothing that they labelled, nothing that somebody else holds. The
# pair that they hold comes first, so that loading the page again shows the same one.
NEXT = f"""
{OUTCOMES}
SELECT chosen.id, count(*) OVER ()
FROM chosen
LEFT JOIN results_lease l ON l.pair_id = chosen.id AND l.expires_at > %(now)s
WHERE (l.holder_id IS NULL OR l.holder_id = %(member)s)
    AND (%(may_settle_own)s OR NOT EXISTS (
        SELECT FROM annotation_judgment own
        WHERE own.pair_id = chosen.id AND own.annotator_id = %(member)s))
ORDER BY chosen.pair_public_id = ANY (%(later)s), l.holder_id IS NULL, {ORDER}
LIMIT %(limit)s
"""  # noqa: S608 - put together from constants

KEYS = f"""
{OUTCOMES}
SELECT final_id FROM chosen WHERE final_id IS NOT NULL
"""  # noqa: S608 - put together from constants


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which pairs are asked for; what is left empty does not narrow.

    Without `with_agreed` those are the contested pairs and the settled ones. `pairs` are keys, and
    so are `finals`, of final labels.
    """

    query_class: str | None = None
    kind: str = ""
    state: str = ""
    cause: str = ""
    is_dropped: bool = False
    finals: list[int] | None = None
    with_agreed: bool = False
    pairs: list[int] | None = None


@dataclass(frozen=True, slots=True)
class QueuedPair:
    """A pair as the queue lists it. `distance` counts steps of the scale between the lowest and
    the highest grade; `final_grade` is None where there is no final label or it drops the pair."""

    id: int
    public_id: uuid.UUID
    query: str
    document_title: str
    query_class: str
    is_high_risk: bool
    is_hole: bool
    kind: Kind
    state: State
    distance: int
    final_id: int | None
    final_grade: int | None
    cause: str
    rubric_number: int | None


@dataclass(frozen=True, slots=True)
class Count:
    """So many pairs that are alike in all of this."""

    kind: Kind
    state: State
    query_class: str
    cause: str
    is_control: bool
    is_dropped: bool
    pairs: int


@dataclass(frozen=True, slots=True)
class Candidates:
    """Keys of the first pairs that a member may settle now, and how many there are in all."""

    keys: list[int]
    left: int


def list_pairs(
    study: Study, wanted: Wanted, *, holes: Sequence[str] = (), limit: int, offset: int = 0
) -> list[QueuedPair]:
    """Pairs in the order in which they are to be settled. `holes` names classes."""
    rows = _fetch(PAGE, study, wanted, holes=holes, limit=limit, offset=offset)
    return [QueuedPair(*row) for row in rows]


def count_pairs(study: Study, wanted: Wanted) -> list[Count]:
    return [Count(*row) for row in _fetch(TALLY, study, wanted)]


def find_candidates(
    study: Study,
    member: Member,
    wanted: Wanted,
    *,
    holes: Sequence[str] = (),
    later: Sequence[uuid.UUID] = (),
    limit: int = 20,
) -> Candidates:
    """The first pairs that the member may settle now; `later` puts pairs behind."""
    rows = _fetch(
        NEXT,
        study,
        replace(wanted, state="open"),
        holes=holes,
        member=member.pk,
        may_settle_own=study.settle_own_pairs,
        later=list(later),
        now=timezone.now(),
        limit=limit,
    )
    return Candidates(keys=[row[0] for row in rows], left=rows[0][1] if rows else 0)


def list_final_keys(study: Study, wanted: Wanted) -> list[int]:
    """Keys of the final labels that stand on these pairs."""
    return [row[0] for row in _fetch(KEYS, study, wanted)]


def _fetch(
    sql: str, study: Study, wanted: Wanted, *, holes: Sequence[str] = (), **parameters: Any
) -> list[tuple[Any, ...]]:
    values = {
        "study": study.pk,
        "annotator": None,
        "minimum_votes": study.minimum_votes,
        "holes": list(holes),
        **asdict(wanted),
        **parameters,
    }
    update_outcomes(study)
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())

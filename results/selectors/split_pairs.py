"""Pairs that split, in groups of those that split alike, the largest group first; or, where that
is asked for, those that got the same label from all who labelled them, or all that have a label.

The labels are those that the report of the scope speaks of: people's, on pairs of the pool,
without surplus labels, and without control pairs unless the scope takes them in.
"""

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from django.db import connection

from results.asked_labels import AskedLabel
from results.selectors.labels import read_snapshot, stream_rows
from results.services.outcomes import update_outcomes
from results.services.scopes import Scope, find_rounds
from studies.models import Study

EXCERPT = 900

ASKED_LABELS = 2

Cites = Literal["different_dimension", "different_reading", "same_reading", "unknown"]
CITES: tuple[Cites, ...] = get_args(Cites)


def _match(number: int) -> str:
    """Whether the label `l`, decided by `d`, is the one that is asked for."""
    by, grade, cited = (f"%({name}_{number})s::text" for name in ("by", "grade", "cited"))
    return f"""({by} IS NULL OR l.name = {by})
            AND ({grade} IS NULL OR coalesce(l.grade::text, 'unsure') = {grade})
            AND ({cited} IS NULL OR l.grade IS NOT NULL AND coalesce(d.name, '') = {cited})"""


# What the labels of a pair with a grade cite, as `results.statistics.splits.split_kinds` has it. A
# name is the same in every version of a rubric.
KIND = """CASE
    WHEN min(d.name COLLATE "C") FILTER (WHERE l.grade IS NOT NULL)
        <> max(d.name COLLATE "C") FILTER (WHERE l.grade IS NOT NULL) THEN 'different_dimension'
    WHEN bool_or(d.name IS NULL) FILTER (WHERE l.grade IS NOT NULL) THEN 'unknown'
    WHEN min(coalesce(k.name, '') COLLATE "C") FILTER (WHERE l.grade IS NOT NULL)
        <> max(coalesce(k.name, '') COLLATE "C") FILTER (WHERE l.grade IS NOT NULL)
        THEN 'different_reading'
    ELSE 'same_reading' END"""

# Of one annotator's labels on one pair that of the round named last counts. For the current labels
# the outcomes kept beside them tell which pairs can have split at all.
SPLITS = f"""
WITH label AS (
    SELECT DISTINCT ON (j.pair_id, j.annotator_id)
        j.id, j.pair_id, j.annotator_id, m.name, j.grade, j.decided_by_id, j.clause_id,
        j.judged_at
    FROM annotation_judgment j
    JOIN unnest(%(rounds)s::bigint[]) WITH ORDINALITY AS r (id, place) ON r.id = j.round_id
    JOIN studies_member m ON m.id = j.annotator_id AND NOT m.is_machine
    JOIN studies_pair p ON p.id = j.pair_id
    LEFT JOIN studies_controlpair k ON k.pair_id = p.id
    JOIN studies_query q ON q.id = p.query_id
    LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
    WHERE NOT j.is_surplus
        AND (%(query_class)s::text IS NULL
            OR (c.name IS NOT DISTINCT FROM %(query_class)s) <> %(elsewhere)s)
        AND (%(query)s::text IS NULL OR q.external_id = %(query)s)
        AND (%(annotators)s::text[] IS NULL OR m.name = ANY (%(annotators)s::text[]))
        AND (%(pairs)s::bigint[] IS NULL OR p.id = ANY (%(pairs)s::bigint[]))
        AND CASE WHEN %(with_controls)s THEN p.pool_rank IS NOT NULL OR k.pair_id IS NOT NULL
                 ELSE p.pool_rank IS NOT NULL AND k.pair_id IS NULL END
        AND (NOT %(is_current)s OR %(alike)s OR %(every)s OR EXISTS (
            SELECT FROM results_pairoutcome o WHERE o.pair_id = p.id AND o.distance > 0))
        AND (%(rubric)s::int IS NULL
            OR j.rubric_version_id IN (
                SELECT id FROM studies_rubricversion
                WHERE study_id = %(study)s AND number = %(rubric)s)
            OR j.id IN (
                SELECT carried.judgment_id FROM annotation_carriedlabel carried
                JOIN studies_rubricversion v ON v.id = carried.rubric_version_id
                WHERE v.study_id = %(study)s AND v.number = %(rubric)s))
    ORDER BY j.pair_id, j.annotator_id, r.place DESC
),
spread AS (
    SELECT pair_id, min(grade) AS low, max(grade) AS high
    FROM label
    GROUP BY pair_id
    HAVING CASE WHEN %(every)s THEN true
                WHEN %(alike)s THEN min(grade) = max(grade) AND count(grade) > 1
                ELSE min(grade) <> max(grade) END
        AND (%(since)s::timestamptz IS NULL
            OR max(judged_at) FILTER (WHERE grade IS NOT NULL) >= %(since)s::timestamptz)
        AND (%(until)s::timestamptz IS NULL
            OR max(judged_at) FILTER (WHERE grade IS NOT NULL)
                < %(until)s::timestamptz + interval '1 second')
        AND (%(low)s::int IS NULL OR min(grade) = %(low)s)
        AND (%(high)s::int IS NULL OR max(grade) = %(high)s)
),
split AS (
    SELECT s.pair_id, s.low, s.high,
        array_agg(l.name ORDER BY l.name) FILTER (
            WHERE l.grade IS NOT DISTINCT FROM s.high) AS highest,
        array_agg(l.name ORDER BY l.name) FILTER (
            WHERE l.grade IS NOT DISTINCT FROM s.low) AS lowest,
        count(*) FILTER (WHERE {_match(0)}) AS asked
    FROM spread s
    JOIN label l USING (pair_id)
    LEFT JOIN studies_dimension d ON d.id = l.decided_by_id
    LEFT JOIN studies_clause k ON k.id = l.clause_id
    GROUP BY s.pair_id, s.low, s.high
    HAVING (%(dimension)s::text IS NULL OR bool_or(d.name = %(dimension)s))
        AND (%(annotator)s::text IS NULL
            OR bool_or(l.name = %(annotator)s AND l.grade IS NOT NULL))
        AND (%(other_dimension)s::text IS NULL
            OR min(l.grade) FILTER (WHERE d.name = %(dimension)s)
                <> max(l.grade) FILTER (WHERE d.name = %(other_dimension)s)
            OR max(l.grade) FILTER (WHERE d.name = %(dimension)s)
                <> min(l.grade) FILTER (WHERE d.name = %(other_dimension)s))
        AND (%(cites)s::text IS NULL OR {KIND} = %(cites)s)
        AND {" AND ".join(f"bool_or({_match(number)})" for number in range(ASKED_LABELS))}
)
"""  # noqa: S608 - put together from constants

GROUPS = f"""
{SPLITS}
SELECT low, high, highest, lowest, count(*) AS size, sum(asked)::int
FROM split
GROUP BY low, high, highest, lowest
ORDER BY size DESC, high - low DESC, low, highest, lowest
"""  # noqa: S608 - put together from constants

# The same order as that of the groups, so that a group's place tells the page it begins on.
SIZED = """
sized AS (
    SELECT split.*, count(*) OVER (PARTITION BY low, high, highest, lowest) AS size FROM split
),
placed AS (
    SELECT sized.*, dense_rank() OVER (
        ORDER BY size DESC, high - low DESC, low, highest, lowest) AS place
    FROM sized
)
"""

PAIRS = f"""
{SPLITS}, {SIZED}
SELECT placed.place, p.id, p.public_id, q.text, coalesce(c.name, ''),
    d.title, d.external_id, coalesce(left(body.text, {EXCERPT + 1}), ''),
    coalesce(body.image, '') <> ''
FROM placed
JOIN studies_pair p ON p.id = placed.pair_id
JOIN studies_query q ON q.id = p.query_id
JOIN studies_document d ON d.id = p.document_id
LEFT JOIN studies_documenttext body ON body.document_id = d.id
LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
ORDER BY CASE WHEN %(by_query)s THEN 0 ELSE placed.place END,
    q.external_id COLLATE "C", d.external_id COLLATE "C"
LIMIT %(limit)s OFFSET %(offset)s
"""  # noqa: S608 - put together from constants

LABELS = f"""
{SPLITS}, {SIZED}
SELECT placed.place, placed.pair_id, q.external_id, d.external_id, coalesce(c.name, ''),
    placed.low, placed.high, label.name, j.grade, coalesce(g.name, ''),
    coalesce(dimension.name, ''), coalesce(clause.name, ''), j.note
FROM placed
JOIN label ON label.pair_id = placed.pair_id
JOIN annotation_judgment j ON j.id = label.id
JOIN studies_pair p ON p.id = placed.pair_id
JOIN studies_query q ON q.id = p.query_id
JOIN studies_document d ON d.id = p.document_id
LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
LEFT JOIN studies_grade g ON g.rubric_version_id = j.rubric_version_id AND g.value = j.grade
LEFT JOIN studies_dimension dimension ON dimension.id = j.decided_by_id
LEFT JOIN studies_clause clause ON clause.id = j.clause_id
ORDER BY placed.place, q.external_id COLLATE "C", d.external_id COLLATE "C",
    j.grade DESC NULLS LAST, label.name
"""  # noqa: S608 - put together from constants


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which splits are asked for; what is left empty does not narrow.

    With two or more `annotators` only their labels are looked at, so the splits are those among
    them; with one, the splits are those of the pairs that this one labelled.
    With `elsewhere` they are those outside of `query_class`, queries without a class among them.
    `cites` asks for splits whose labels cite so, a kind of `Cites`.
    `dimension` asks for splits in which at least one label cites it, `other_dimension` for
    another label that cites that, or the same, and differs; `labels`, two at most, for labels that
    the pair has; `low` and `high` for the lowest and the highest grade, `query`
    for those of one query (id), `pair` for that of one pair (key). `since` and `until`, both to
    the second, bound the moment of a pair's last label. With `alike` the pairs are those that did
    not split although labelled twice or more, with `every` all that have a label.
    """

    query_class: str | None = None
    annotators: tuple[str, ...] = ()
    dimension: str | None = None
    pair: int | None = None
    other_dimension: str | None = None
    query: str | None = None
    low: int | None = None
    high: int | None = None
    since: datetime | None = None
    until: datetime | None = None
    alike: bool = False
    every: bool = False
    labels: tuple[AskedLabel, ...] = ()
    elsewhere: bool = False
    cites: Cites | None = None


@dataclass(frozen=True, slots=True)
class SplitGroup:
    """Pairs that split alike: between the same grades, the same people at either end. The grades
    are None where all are unsure. `asked` counts the labels that the first of the asked ones is."""

    low: int | None
    high: int | None
    highest: tuple[str, ...]
    lowest: tuple[str, ...]
    pairs: int
    asked: int = field(default=0, compare=False)

    @property
    def is_split(self) -> bool:
        return self.low != self.high


@dataclass(frozen=True, slots=True)
class SplitLabel:
    """One label of a split pair; `grade` None is unsure."""

    query_id: str
    document_id: str
    query_class: str
    low: int | None
    high: int | None
    annotator: str
    grade: int | None
    grade_name: str
    dimension: str
    clause: str
    note: str


@dataclass(slots=True)
class SplitPair:
    """A pair with its labels, the highest first. `place` counts the groups from 1. `document_id`
    is for who reads results alone: what those who may judge on can read holds no such id."""

    place: int
    key: int
    public_id: uuid.UUID
    query: str
    query_class: str
    title: str
    document_id: str
    text: str
    has_image: bool
    labels: list[SplitLabel] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.title or self.document_id

    @property
    def excerpt(self) -> str:
        return f"{self.text[:EXCERPT]} …" if len(self.text) > EXCERPT else self.text


def list_groups(study: Study, scope: Scope, wanted: Wanted) -> list[SplitGroup]:
    """The ways in which pairs split, the most frequent first. Raises UnknownScope."""
    rows = _fetch(GROUPS, _name_values(study, scope, wanted))
    return [
        SplitGroup(low, high, tuple(highest), tuple(lowest), size, asked)
        for low, high, highest, lowest, size, asked in rows
    ]


def list_split_pairs(
    study: Study,
    scope: Scope,
    wanted: Wanted,
    *,
    limit: int | None,
    offset: int = 0,
    by_query: bool = False,
) -> list[SplitPair]:
    """Pairs in the order of their groups, or query by query, which tells nothing of who split.
    Each has its labels. Raises UnknownScope."""
    values = _name_values(study, scope, wanted)
    window = {"limit": limit, "offset": offset, "by_query": by_query}
    found = {row[1]: SplitPair(*row) for row in _fetch(PAIRS, values | window)}
    # Of these pairs alone, whose places are known: looking at all splits again takes as long again.
    for _place, key, *told in _fetch(LABELS, values | {"pairs": list(found)}):
        found[key].labels.append(SplitLabel(*told))
    return list(found.values())


def stream_split_labels(
    study: Study, scope: Scope, wanted: Wanted
) -> Iterator[tuple[int, SplitLabel]]:
    """The place of the group and the label, for every label of every split pair."""
    values = _name_values(study, scope, wanted)
    with read_snapshot():
        for place, _key, *told in stream_rows(LABELS, values):
            yield place, SplitLabel(*told)


def _name_values(study: Study, scope: Scope, wanted: Wanted) -> dict[str, Any]:
    rounds = find_rounds(study, scope)
    update_outcomes(study)
    return {
        "study": study.pk,
        "rounds": [round.pk for round in rounds.labels],
        "rubric": scope.rubric,
        "is_current": scope == Scope(),
        "with_controls": scope.with_controls,
        "query_class": wanted.query_class,
        "elsewhere": wanted.elsewhere,
        "cites": wanted.cites,
        "annotators": list(wanted.annotators) if len(wanted.annotators) > 1 else None,
        "annotator": wanted.annotators[0] if len(wanted.annotators) == 1 else None,
        "dimension": wanted.dimension,
        "pairs": None if wanted.pair is None else [wanted.pair],
        "other_dimension": wanted.other_dimension,
        "query": wanted.query,
        "low": wanted.low,
        "high": wanted.high,
        "since": wanted.since,
        "until": wanted.until,
        "alike": wanted.alike,
        "every": wanted.every,
        **_name_labels(wanted.labels),
    }


def _name_labels(labels: Sequence[AskedLabel]) -> dict[str, str | None]:
    named: dict[str, str | None] = {}
    for number in range(ASKED_LABELS):
        asked = labels[number] if number < len(labels) else AskedLabel()
        grade = None if asked.grade is None else str(asked.grade)
        named |= {
            f"by_{number}": asked.by,
            f"grade_{number}": grade,
            f"cited_{number}": asked.dimension,
        }
    return named


def _fetch(sql: str, values: dict[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, values)
        return list(cursor.fetchall())

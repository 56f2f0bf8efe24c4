"""The counts behind the progress page: a fixed number of statements, whatever the study's size.

"In force" is a claim that is finished, or held and not yet run out. A place is one annotator on
one query that has pairs; where a query is for everybody, it has as many as there are annotators
(in a closed round: as there were when it was closed). In a round that gives single pairs to single
people a place is its person's alone, and has the pairs given to them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.utils import timezone

from annotation.services.claims import is_lasting
from annotation.statements import IS_LEFT_OVER, IS_OF_TEAM, QUOTAS
from studies.models import Study

PLANNED = f"""
WITH pairs AS (
    SELECT query_id, count(*) AS pairs FROM studies_pair WHERE study_id = %(study)s GROUP BY 1
), in_force AS (
    SELECT c.round_query_id, count(*) AS taken,
        count(*) FILTER (WHERE c.state = 'finished') AS finished
    FROM annotation_claim c
    JOIN studies_roundquery rq ON rq.id = c.round_query_id
    JOIN studies_round r ON r.id = rq.round_id
    WHERE r.study_id = %(study)s
        AND (c.state = 'finished' OR (c.state = 'held' AND c.expires_at > now()))
    GROUP BY 1
), given AS (
    SELECT a.round_id, p.query_id, a.annotator_id, count(*) AS pairs
    FROM annotation_roundassignment a
    JOIN studies_round r ON r.id = a.round_id
    JOIN studies_pair p ON p.id = a.pair_id
    WHERE r.study_id = %(study)s
    GROUP BY 1, 2, 3
), given_free AS (
    SELECT rq.id, g.round_id, g.annotator_id, g.pairs
    FROM given g
    JOIN studies_roundquery rq ON rq.round_id = g.round_id AND rq.query_id = g.query_id
    WHERE NOT EXISTS (
        SELECT FROM annotation_claim c
        WHERE c.round_query_id = rq.id AND c.annotator_id = g.annotator_id
            AND (c.state IN ('finished', 'released') OR (c.state = 'held' AND c.expires_at > now()))
    )
), given_pairs AS (
    SELECT id, sum(pairs) AS pairs FROM given_free GROUP BY 1
), team AS (
    SELECT r.id AS round_id, count(*) AS size
    FROM studies_round r JOIN studies_member m ON m.study_id = r.study_id
    WHERE r.study_id = %(study)s AND {IS_OF_TEAM}
    GROUP BY 1
), planned AS (
    SELECT rq.id, rq.round_id, p.pairs, rq.annotators IS NULL AS is_shared,
        coalesce(rq.annotators, r.team_size, team.size, 1) AS places,
        coalesce(f.taken, 0) AS taken, coalesce(f.finished, 0) AS finished,
        CASE WHEN rq.round_id IN (SELECT round_id FROM given)
            THEN coalesce(g.pairs, 0)
            ELSE p.pairs * greatest(
                coalesce(rq.annotators, r.team_size, team.size, 1) - coalesce(f.taken, 0), 0
            )
        END AS pairs_free
    FROM studies_roundquery rq
    JOIN studies_round r ON r.id = rq.round_id
    LEFT JOIN team ON team.round_id = rq.round_id
    JOIN pairs p ON p.query_id = rq.query_id
    LEFT JOIN in_force f ON f.round_query_id = rq.id
    LEFT JOIN given_pairs g ON g.id = rq.id
    WHERE r.study_id = %(study)s
)
"""  # noqa: S608 - put together from constants

COUNT_PLACES = (
    PLANNED
    + """
SELECT round_id, count(*), sum(places), sum(least(finished, places)),
    sum(pairs_free), count(*) FILTER (WHERE finished >= places),
    count(*) FILTER (WHERE is_shared OR taken < places), count(*) FILTER (WHERE is_shared)
FROM planned GROUP BY round_id
"""
)

# Queries with a free place that the annotator has or has had: those are not open to them.
COUNT_SHUT = (
    PLANNED
    + """
SELECT p.round_id, c.annotator_id, count(*), count(*) FILTER (WHERE p.is_shared)
FROM planned p JOIN annotation_claim c ON c.round_query_id = p.id
WHERE (p.is_shared OR p.taken < p.places)
    AND (c.state IN ('finished', 'released') OR (c.state = 'held' AND c.expires_at > now()))
GROUP BY 1, 2
"""
)

COUNT_GIVEN = f"""
{PLANNED}
SELECT g.round_id, g.annotator_id, count(f.id)
FROM (SELECT DISTINCT round_id, annotator_id FROM given) g
LEFT JOIN given_free f ON f.round_id = g.round_id AND f.annotator_id = g.annotator_id
GROUP BY 1, 2
"""  # noqa: S608 - put together from constants

# Split queries with a free place that an annotator who has used up their share is offered all the
# same, as the queue does.
COUNT_LEFT_OVER = f"""
{PLANNED}, {QUOTAS}
SELECT own.round_id, own.member_id, count(*)
FROM allowances own JOIN planned rq ON rq.round_id = own.round_id
WHERE own.annotates AND own.left_to_take <= 0 AND NOT rq.is_shared AND rq.taken < rq.places
    AND NOT EXISTS (
        SELECT FROM annotation_claim c
        WHERE c.round_query_id = rq.id AND c.annotator_id = own.member_id
            AND (c.state IN ('finished', 'released') OR (c.state = 'held' AND c.expires_at > now()))
    )
    AND {IS_LEFT_OVER}
GROUP BY 1, 2
"""  # noqa: S608 - put together from constants

COUNT_SPLIT = """
SELECT rq.round_id, c.annotator_id, count(*)
FROM annotation_claim c
JOIN studies_roundquery rq ON rq.id = c.round_query_id
JOIN studies_round r ON r.id = rq.round_id
WHERE r.study_id = %(study)s AND rq.annotators IS NOT NULL
    AND (c.state = 'finished' OR (c.state = 'held' AND c.expires_at > now()))
GROUP BY 1, 2
"""

# In a round that gives single pairs to single people only those of the annotator count.
LIST_HELD = """
SELECT c.id, c.round_query_id, rq.round_id, c.annotator_id, m.name, q.text, c.expires_at,
    held.pairs, held.labelled
FROM annotation_claim c
JOIN studies_roundquery rq ON rq.id = c.round_query_id
JOIN studies_round r ON r.id = rq.round_id
JOIN studies_query q ON q.id = rq.query_id
JOIN studies_member m ON m.id = c.annotator_id
CROSS JOIN LATERAL (
    SELECT count(*) AS pairs, count(j.id) AS labelled
    FROM studies_pair p
    LEFT JOIN annotation_judgment j
        ON j.pair_id = p.id AND j.round_id = r.id AND j.annotator_id = c.annotator_id
    WHERE p.query_id = rq.query_id AND (
        r.kind NOT IN ('recheck', 'relabel')
        OR NOT EXISTS (SELECT FROM annotation_roundassignment a WHERE a.round_id = r.id)
        OR EXISTS (
            SELECT FROM annotation_roundassignment a
            WHERE a.round_id = r.id AND a.annotator_id = c.annotator_id AND a.pair_id = p.id
        )
    )
) held
WHERE r.study_id = %(study)s AND c.state = 'held' AND c.expires_at > now()
ORDER BY c.expires_at, c.id
"""

COUNT_LABELS = """
SELECT j.round_id, j.annotator_id, count(*), count(*) FILTER (WHERE j.is_unsure),
    count(*) FILTER (WHERE j.is_surplus), count(j.active_seconds) FILTER (WHERE j.source = 'app'),
    coalesce(sum(j.active_seconds) FILTER (WHERE j.source = 'app'), 0), max(j.judged_at)
FROM annotation_judgment j JOIN studies_round r ON r.id = j.round_id
WHERE r.study_id = %(study)s
GROUP BY 1, 2
"""

LIST_TAKEN = """
SELECT round_query_id, annotator_id FROM annotation_claim
WHERE round_query_id = ANY(%(keys)s) AND state <> 'lapsed'
"""


@dataclass(frozen=True, slots=True)
class Places:
    """A round's queries and places. `pairs_free` are labels still to be given on free places,
    `open_queries` those that somebody could take, `shared` those for everybody."""

    queries: int
    places: int
    finished: int
    pairs_free: int
    queries_done: int
    open_queries: int
    shared: int


@dataclass(frozen=True, slots=True)
class Shut:
    """Queries with a free place that are not open to one annotator; `shared` are for everybody."""

    queries: int
    shared: int


@dataclass(frozen=True, slots=True)
class Held:
    claim_id: int
    round_query_id: int
    round_id: int
    annotator_id: int
    name: str
    query: str
    expires_at: datetime
    pairs: int
    labelled: int

    @property
    def left(self) -> int:
        return max(self.pairs - self.labelled, 0)

    @property
    def is_lasting(self) -> bool:
        """Whether it ends only when the query is done or an admin releases it."""
        return is_lasting(self.expires_at)


@dataclass(frozen=True, slots=True)
class Labels:
    """What one annotator has done in one round; seconds are active ones of labels given here."""

    labels: int
    unsure: int
    surplus: int
    timed: int
    seconds: float
    latest: datetime


def count_places(study: Study) -> dict[int, Places]:
    """By round."""
    rows = fetch(COUNT_PLACES, {"study": study.pk})
    return {round_id: Places(*map(int, counts)) for round_id, *counts in rows}


def count_shut(study: Study) -> dict[tuple[int, int], Shut]:
    """By round and annotator."""
    rows = fetch(COUNT_SHUT, {"study": study.pk})
    return {(round_id, annotator_id): Shut(*counts) for round_id, annotator_id, *counts in rows}


def count_given(study: Study) -> dict[tuple[int, int], int]:
    """By round that gives single pairs to single people, and annotator who was given any: the
    queries with such pairs that they could take, since their hold ended."""
    rows = fetch(COUNT_GIVEN, {"study": study.pk})
    return {(round_id, annotator_id): count for round_id, annotator_id, count in rows}


def count_split(study: Study) -> dict[tuple[int, int], int]:
    """By round and annotator, the queries that are not for everybody and that they have taken."""
    rows = fetch(COUNT_SPLIT, {"study": study.pk})
    return {(round_id, annotator_id): count for round_id, annotator_id, count in rows}


def count_left_over(study: Study) -> dict[tuple[int, int], int]:
    """By open round and annotator whose quota is used up, the split queries that fall to them
    because nobody below their own could take these."""
    rounds = list(study.rounds.filter(closed_at=None).values_list("pk", flat=True))
    values = {"study": study.pk, "rounds": rounds, "now": timezone.now()}
    rows = fetch(COUNT_LEFT_OVER, values)
    return {(round_id, annotator_id): count for round_id, annotator_id, count in rows}


def list_held(study: Study) -> list[Held]:
    """Who holds what until when; what runs out first comes first."""
    return [Held(*row) for row in fetch(LIST_HELD, {"study": study.pk})]


def count_labels(study: Study) -> dict[tuple[int, int], Labels]:
    """By round and annotator."""
    rows = fetch(COUNT_LABELS, {"study": study.pk})
    return {(round_id, annotator_id): Labels(*counts) for round_id, annotator_id, *counts in rows}


def list_taken(round_query_ids: Sequence[int]) -> set[tuple[int, int]]:
    """Which annotators have or have had which of these queries."""
    return {(key, annotator) for key, annotator in fetch(LIST_TAKEN, {"keys": round_query_ids})}


def fetch(statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows: list[tuple[Any, ...]] = cursor.fetchall()
    return rows

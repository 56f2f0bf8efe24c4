"""The study's current labels, pair by pair, streamed in constant memory.

Current labels are those of the main rounds, a label of a recheck round taking the place of the
one that it renews. Labels of calibration and relabel rounds, surplus labels and labels of
machines are outside.
"""

import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db import connection, transaction

from annotation.statements import IS_OF_TEAM
from results.consensus import FinalDecision
from studies.models import Member, Study

ROWS_AT_ONCE = 2000


def select_current_labels(restriction: str = "") -> str:
    """The common table expression `current_labels`, one row for each annotator and pair.

    For one annotator and pair the newest recheck comes first, else the newest main round.
    `restriction` is a further condition on the judgment `j`, a constant of the code.
    """
    return f"""
current_labels AS (
    SELECT DISTINCT ON (j.pair_id, j.annotator_id)
        j.id, j.pair_id, j.annotator_id, j.grade, j.is_unsure, j.rubric_version_id
    FROM annotation_judgment j
    JOIN studies_round r ON r.id = j.round_id
    JOIN studies_member m ON m.id = j.annotator_id
    WHERE r.study_id = %(study)s
        AND r.kind IN ('main', 'recheck')
        AND NOT j.is_surplus
        AND CASE WHEN %(annotator)s::bigint IS NULL THEN NOT m.is_machine
                 ELSE m.id = %(annotator)s::bigint END
        {restriction}
    ORDER BY j.pair_id, j.annotator_id,
        (r.kind = 'recheck') DESC, r.position DESC, r.id DESC
)
"""  # noqa: S608 - put together from constants


# Of the member `m` in the round `r`. Whoever has never had a label there is told by the counts of
# changes: looking for a label of theirs would read all labels there are.
HAS_HAD_LABELS = """EXISTS (
            SELECT FROM annotation_labelchanges c
            WHERE c.annotator_id = m.id AND c.round_id = r.id)"""
HAS_LABELS = f"""({HAS_HAD_LABELS} AND EXISTS (
            SELECT FROM annotation_judgment j
            WHERE j.annotator_id = m.id AND j.round_id = r.id AND NOT j.is_surplus))"""


def select_planned_annotators(
    rounds: str = "r.kind = 'main'", *, has_labels: str = HAS_LABELS
) -> str:
    """The common table expression `planned`: how many annotators each query of `rounds` is for.

    "All annotators" (null) means the round's team, and never nobody: the active people who hold
    the role, or who have a label in the round, like the names of an import. How many they were
    when a round was closed is kept in it. `rounds` is a condition on the round `r`, `has_labels`
    one on the member `m` in it, both constants of the code.
    """
    return f"""
team AS (
    SELECT r.id AS round_id, count(*) AS size
    FROM studies_round r
    JOIN studies_member m ON m.study_id = r.study_id
    WHERE r.study_id = %(study)s AND {rounds} AND r.closed_at IS NULL
        AND m.is_active AND NOT m.is_machine
        AND ({IS_OF_TEAM} OR {has_labels})
    GROUP BY r.id
),
planned AS (
    SELECT rq.query_id, max(coalesce(rq.annotators, r.team_size, team.size, 1)) AS annotators
    FROM studies_roundquery rq
    JOIN studies_round r ON r.id = rq.round_id
    LEFT JOIN team ON team.round_id = r.id
    WHERE r.study_id = %(study)s AND {rounds}
    GROUP BY rq.query_id
)
"""  # noqa: S608 - put together from constants


PLANNED_ANNOTATORS = select_planned_annotators()

PAIR_LABELS = f"""
WITH {select_current_labels()}, {PLANNED_ANNOTATORS}, votes AS (
    SELECT l.pair_id,
        array_agg(l.grade ORDER BY l.grade) FILTER (WHERE NOT l.is_unsure) AS grades,
        count(*) FILTER (WHERE l.is_unsure) AS unsure,
        array_agg(DISTINCT v.number) AS rubric_versions
    FROM current_labels l
    JOIN studies_rubricversion v ON v.id = l.rubric_version_id
    GROUP BY l.pair_id
)
SELECT q.external_id, d.external_id, p.pool_rank, planned.annotators,
    votes.grades, coalesce(votes.unsure, 0), votes.rubric_versions,
    f.id IS NOT NULL, f.grade, fv.number,
    coalesce(c.name, ''),
    CASE WHEN %(with_texts)s::boolean THEN q.text END,
    CASE WHEN %(with_texts)s::boolean THEN d.title END,
    body.text
FROM studies_pair p
JOIN studies_query q ON q.id = p.query_id
JOIN studies_document d ON d.id = p.document_id
LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
LEFT JOIN planned ON planned.query_id = p.query_id
LEFT JOIN votes ON votes.pair_id = p.id
LEFT JOIN results_finallabel f ON f.pair_id = p.id AND f.ended_at IS NULL
    AND %(annotator)s::bigint IS NULL
LEFT JOIN studies_rubricversion fv ON fv.id = f.rubric_version_id
LEFT JOIN studies_documenttext body
    ON body.document_id = p.document_id AND %(with_texts)s::boolean
WHERE p.study_id = %(study)s AND p.pool_rank IS NOT NULL
ORDER BY q.external_id, d.external_id
"""  # noqa: S608 - put together from constants


@dataclass(frozen=True, slots=True)
class PairTexts:
    """What a model would be trained on; `text` is None where the study does not hold it."""

    query: str
    title: str
    text: str | None


@dataclass(frozen=True, slots=True)
class PairLabels:
    """A pair of the pool with its current labels.

    `planned` is the number of annotators who were to judge the query in a main round, None if
    it is in none; `grades` are the votes in ascending order, one per annotator; `unsure` is how
    many annotators were unsure; `rubric_versions` are the numbers that the labels, or the final
    label that stands in their place, were given under. `texts` is there when it was asked for.
    """

    query_id: str
    document_id: str
    pool_rank: int
    planned: int | None
    grades: tuple[int, ...] = ()
    unsure: int = 0
    rubric_versions: tuple[int, ...] = ()
    final: FinalDecision | None = None
    query_class: str = ""
    texts: PairTexts | None = None

    @property
    def outcomes(self) -> int:
        """How many annotators are done with the pair, by a grade or by being unsure."""
        return len(self.grades) + self.unsure


@contextmanager
def read_snapshot() -> Iterator[None]:
    """Everything read inside is of one moment, whatever is written meanwhile.

    A REPEATABLE READ transaction that can write nothing. Inside a transaction of the caller it
    is that transaction, with the isolation the caller chose.
    """
    inside_another = connection.in_atomic_block
    with transaction.atomic():
        if not inside_another:
            with connection.cursor() as cursor:
                cursor.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
        try:
            yield
        except BaseException as error:
            # Readers stopped half-way hold cursors, and the traceback holds the readers: let go
            # of them while their transaction is still there.
            traceback.clear_frames(error.__traceback__)
            raise


def stream_rows(sql: str, parameters: dict[str, Any]) -> Iterator[Sequence[Any]]:
    """Rows of a query through a server-side cursor, some thousand in memory at a time.

    Must run inside a transaction, such as `read_snapshot`.
    """
    with connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while rows := cursor.fetchmany(ROWS_AT_ONCE):
            yield from rows


def stream_pair_labels(
    study: Study, *, annotator: Member | None = None, with_texts: bool = False
) -> Iterator[PairLabels]:
    """Every pair of the pool with its current labels, by query id and document id (code points).

    With `annotator`, only that one's labels, also if it is a machine, and no final labels. Pairs
    without a label come too. Must run inside a transaction, such as `read_snapshot`.
    """
    parameters = {
        "study": study.pk,
        "annotator": annotator.pk if annotator else None,
        "with_texts": with_texts,
    }
    for row in stream_rows(PAIR_LABELS, parameters):
        query_id, document_id, pool_rank, planned, grades, unsure, versions, *rest = row
        is_final, final_grade, final_version, query_class, *texts = rest
        yield PairLabels(
            query_id=query_id,
            document_id=document_id,
            pool_rank=pool_rank,
            planned=planned,
            grades=tuple(grades or ()),
            unsure=unsure,
            rubric_versions=(final_version,) if is_final else tuple(versions or ()),
            final=FinalDecision(final_grade) if is_final else None,
            query_class=query_class,
            texts=PairTexts(*texts) if with_texts else None,
        )

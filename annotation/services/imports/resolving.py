"""What the staged labels mean in their study, and which of them cannot stand in it."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.backends.utils import CursorWrapper

from studies.services.imports.staging import fetch, materialise

LOCK_ROUNDS = """
SELECT id FROM studies_round
WHERE study_id = %(study)s AND name IN (SELECT round FROM staged_label) ORDER BY id FOR SHARE
"""
LOCK_PLACES = """
SELECT rq.id
FROM studies_roundquery rq
JOIN studies_round r ON r.id = rq.round_id
JOIN studies_query q ON q.id = rq.query_id
WHERE r.study_id = %(study)s
    AND (r.name, q.external_id) IN (SELECT s.round, s.query_id FROM staged_label s)
ORDER BY rq.id FOR UPDATE OF rq
"""

# Every label with the rows it refers to; what is not there is null. `copy` numbers the rows that
# speak of the same annotator, pair and round; one `is_late` that is new to a closed round.
RESOLVE = """
SELECT s.*, gen_random_uuid() AS public_id,
    q.id AS query, p.id AS pair, r.id AS round_id, rq.id AS round_query,
    v.id AS rubric, v.number AS rubric_number, g.value AS grade,
    s.relevance = 'unsure' AS is_unsure, d.id AS dimension, c.id AS clause_id,
    m.id AS member,
    r.closed_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM annotation_judgment j
        WHERE j.round_id = r.id AND j.pair_id = p.id AND j.annotator_id = m.id
    ) AS is_late,
    row_number() OVER (
        PARTITION BY s.query_id, s.doc_id, s.annotator, s.round ORDER BY s.line
    ) AS copy
FROM staged_label s
LEFT JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
LEFT JOIN studies_document doc ON doc.study_id = %(study)s AND doc.external_id = s.doc_id
LEFT JOIN studies_pair p ON p.query_id = q.id AND p.document_id = doc.id
LEFT JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
LEFT JOIN studies_roundquery rq ON rq.round_id = r.id AND rq.query_id = q.id
LEFT JOIN studies_rubricversion v ON v.study_id = %(study)s
    AND (v.number = s.version OR s.version IS NULL AND v.id = r.rubric_version_id)
LEFT JOIN studies_grade g ON g.rubric_version_id = v.id
    AND (g.value::text = s.relevance OR g.name = s.relevance)
LEFT JOIN studies_dimension d ON d.rubric_version_id = v.id AND d.name = s.decided_by
LEFT JOIN studies_clause c ON c.dimension_id = d.id AND c.name = s.clause
LEFT JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
"""

FIND_FAULTS = """
SELECT line, CASE
    WHEN query IS NULL THEN format('the query %%s is unknown', query_id)
    WHEN is_late THEN format('the round %%s is closed: it takes no further labels', round)
    WHEN pair IS NULL AND %(pool_is_closed)s THEN
        format('the pair %%s %%s is not in the pool, whose rounds are closed', query_id, doc_id)
    WHEN pair IS NULL THEN
        format('the pair %%s %%s is not in the pool (--extend-pool adds it)', query_id, doc_id)
    WHEN round_id IS NULL THEN format('there is no round %%s', round)
    WHEN round_query IS NULL THEN format('the query %%s is not in the round %%s', query_id, round)
    WHEN rubric IS NULL THEN format('there is no rubric %%s', version)
    WHEN grade IS NULL AND NOT is_unsure THEN
        format('%%s is no grade of rubric %%s', quote_literal(relevance), rubric_number)
    WHEN dimension IS NULL AND decided_by IS NOT NULL THEN
        format('%%s is no dimension of rubric %%s', quote_literal(decided_by), rubric_number)
    ELSE format('%%s is no clause of %%s in rubric %%s',
        quote_literal(clause), decided_by, rubric_number)
END
FROM resolved_label
WHERE query IS NULL OR is_late OR pair IS NULL OR round_query IS NULL OR rubric IS NULL
    OR grade IS NULL AND NOT is_unsure
    OR dimension IS NULL AND decided_by IS NOT NULL
    OR clause_id IS NULL AND clause IS NOT NULL
ORDER BY line
"""

# What a label says beside another on the same pair by the same annotator in the same round. A
# file that is silent on what decided a label does not contradict one that tells it.
CONTRADICTS = """
    (s.grade, s.is_unsure) IS DISTINCT FROM (o.grade, o.is_unsure)
    OR s.dimension IS NOT NULL AND s.dimension IS DISTINCT FROM o.dimension
    OR s.clause_id IS NOT NULL AND s.clause_id IS DISTINCT FROM o.clause_id
"""

FIND_CONFLICTS = f"""
SELECT s.line, s.annotator, s.query_id, s.doc_id, s.round, o.place,
    coalesce(o.grade::text, 'unsure'), coalesce(' decided by ' || d.name, '')
FROM resolved_label s
JOIN LATERAL (
    SELECT 'in the study' AS place, j.grade, j.is_unsure, j.decided_by_id AS dimension,
        j.clause_id
    FROM annotation_judgment j
    WHERE j.round_id = s.round_id AND j.pair_id = s.pair AND j.annotator_id = s.member
) o ON {CONTRADICTS}
LEFT JOIN studies_dimension d ON d.id = o.dimension
UNION ALL
SELECT s.line, s.annotator, s.query_id, s.doc_id, s.round, format('in line %%s', o.line),
    coalesce(o.grade::text, 'unsure'), coalesce(' decided by ' || o.decided_by, '')
FROM resolved_label s
JOIN resolved_label o ON o.copy = 1 AND s.copy > 1
    AND (o.query_id, o.doc_id, o.annotator, o.round)
        = (s.query_id, s.doc_id, s.annotator, s.round)
    AND ({CONTRADICTS})
ORDER BY 1
"""  # noqa: S608 - put together from constants

COUNT_OTHER_NOTES = """
SELECT count(*) FROM resolved_label s
JOIN annotation_judgment j
    ON j.round_id = s.round_id AND j.pair_id = s.pair AND j.annotator_id = s.member
WHERE s.note NOT IN ('', j.note)
"""


def lock_places(cursor: CursorWrapper, study_id: int) -> None:
    """Keep judges out of the queries that the staged labels speak of until the transaction ends, in
    the order in which a judge locks: the rounds, shared, then the queries in them. A label that
    is recorded meanwhile stands before the file is held against it."""
    fetch(cursor, LOCK_ROUNDS, {"study": study_id})
    fetch(cursor, LOCK_PLACES, {"study": study_id})


def resolve_labels(cursor: CursorWrapper, study_id: int) -> None:
    """Join the staged labels with what they refer to, into `resolved_label`."""
    materialise(cursor, "resolved_label", RESOLVE, {"study": study_id})


def find_faults(cursor: CursorWrapper, *, pool_is_closed: bool) -> list[tuple[int, str]]:
    """Line and reason of each label that refers to what is not there, or comes too late."""
    rows = fetch(cursor, FIND_FAULTS, {"pool_is_closed": pool_is_closed})
    return [(line, reason) for line, reason in rows]


def find_conflicts(cursor: CursorWrapper) -> Iterator[tuple[int, str]]:
    """Line and reason of each label that stands otherwise, in the study or further up."""
    for line, annotator, query_id, doc_id, round_name, place, label, decided_by in fetch(
        cursor, FIND_CONFLICTS, {}
    ):
        yield (
            line,
            (
                f"{annotator}'s label of {query_id} {doc_id} in the round {round_name} is "
                f"{label}{decided_by} {place}"
            ),
        )


def count_other_notes(cursor: CursorWrapper) -> int:
    """How many labels are in the study with another note than the file's."""
    return int(fetch(cursor, COUNT_OTHER_NOTES, {})[0][0])

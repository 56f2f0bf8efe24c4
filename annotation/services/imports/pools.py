"""Pairs that only the imported labels know: added to the pool on request."""

from __future__ import annotations

from django.db.backends.utils import CursorWrapper

from studies.models import Round, Study
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import execute, execute_by_query, fetch

# Labels of closed rounds are no ground to add anything.
IN_OPEN_ROUND = """
    EXISTS (
        SELECT FROM studies_round r
        WHERE r.study_id = %(study)s AND r.name = s.round AND r.closed_at IS NULL
    )
"""

FIND_ABSENT_DOCUMENTS = f"""
SELECT min(s.line), s.doc_id FROM staged_label s
WHERE {IN_OPEN_ROUND} AND NOT EXISTS (
    SELECT FROM studies_document d WHERE d.study_id = %(study)s AND d.external_id = s.doc_id
)
GROUP BY s.doc_id ORDER BY 1
"""  # noqa: S608 - put together from constants

ADD_KNOWN_BY_ID = f"""
INSERT INTO studies_document (study_id, external_id, title, format, superseded_by, url, metadata)
SELECT DISTINCT ON (doc_id) %(study)s, doc_id, '', 'text', '', '', '{{}}'::jsonb
FROM staged_label s
WHERE {IN_OPEN_ROUND} AND NOT EXISTS (
    SELECT FROM studies_document d WHERE d.study_id = %(study)s AND d.external_id = s.doc_id
)
"""  # noqa: S608 - put together from constants

# New pairs follow the query's others, in the order of the file.
ADD_PAIRS = f"""
INSERT INTO studies_pair (study_id, query_id, document_id, public_id, pool_rank, added_at)
SELECT %(study)s, q.id, d.id, gen_random_uuid(),
    coalesce((SELECT max(pool_rank) FROM studies_pair known WHERE known.query_id = q.id), 0)
        + row_number() OVER (PARTITION BY q.id ORDER BY min(s.line)),
    now()
FROM staged_label s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
WHERE {IN_OPEN_ROUND} AND NOT EXISTS (
    SELECT FROM studies_pair p WHERE p.query_id = q.id AND p.document_id = d.id
)
GROUP BY q.id, d.id
RETURNING query_id
"""  # noqa: S608 - put together from constants

ADD_ROUND_QUERIES = """
INSERT INTO studies_roundquery (round_id, query_id, annotators)
SELECT DISTINCT r.id, q.id, %(annotators)s::smallint
FROM staged_label s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round AND r.closed_at IS NULL
ON CONFLICT (round_id, query_id) DO NOTHING
"""


def is_pool_closed(study: Study) -> bool:
    """Whether each round over the whole pool is closed: a new pair would be judged in none."""
    main = study.rounds.filter(kind=Round.Kind.MAIN)
    return main.exists() and not main.filter(closed_at=None).exists()


def extend_pool(cursor: CursorWrapper, study: Study, report: ImportReport, file: str) -> int:
    """Add the staged labels' pairs that the pool lacks, and their queries to the round.

    Documents must be in the study unless it takes them by their id. Labels of closed rounds add
    nothing, and none does where the pool is closed. Returns the number of pairs.
    """
    if is_pool_closed(study):
        return 0
    values = {"study": study.pk, "annotators": study.annotators_per_query}
    if study.documents_required:
        for line, doc_id in fetch(cursor, FIND_ABSENT_DOCUMENTS, values):
            reason = f"the document {doc_id} is not in the study, which requires documents"
            report.refuse("pairs", file, line, reason)
    else:
        by_id = execute(cursor, ADD_KNOWN_BY_ID, values)
        report.count("documents by id", read=by_id, new=by_id)
    grown = execute_by_query(cursor, ADD_PAIRS, values)
    execute(cursor, ADD_ROUND_QUERIES, values)
    added = sum(grown.values())
    if added:
        report.count("pairs", read=added, new=added)
        report.grown |= grown.keys()
    return added

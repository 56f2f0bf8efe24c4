"""Queries: staged, compared and added in the database."""

from __future__ import annotations

from django.db.backends.utils import CursorWrapper
from psycopg.types.json import Jsonb

from studies.models import Study
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import (
    EXTERNAL_ID,
    Watch,
    execute,
    fetch,
    refresh_statistics,
    stage,
)

COLUMNS = {
    "external_id": EXTERNAL_ID,
    "text": "text",
    "context": "text",
    "class": "text",
    "metadata": "jsonb",
    "line": "integer",
}

FIND_CONFLICTS = """
SELECT s.line, s.external_id, concat_ws(', ',
    CASE WHEN s.text <> q.text THEN 'text' END,
    CASE WHEN s.context <> q.context THEN 'context' END,
    CASE WHEN s.class IS DISTINCT FROM c.name THEN 'class' END,
    CASE WHEN s.metadata <> q.metadata THEN 'metadata' END
)
FROM staged_query s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.external_id
LEFT JOIN studies_queryclass c ON c.id = q.query_class_id
WHERE (s.text, s.context, s.metadata) <> (q.text, q.context, q.metadata)
    OR s.class IS DISTINCT FROM c.name
ORDER BY s.line
"""

ADD_QUERIES = """
INSERT INTO studies_query (study_id, external_id, public_id, text, context, query_class_id,
    metadata)
SELECT %(study)s, s.external_id, gen_random_uuid(), s.text, s.context, c.id, s.metadata
FROM staged_query s
LEFT JOIN studies_queryclass c ON c.study_id = %(study)s AND c.name = s.class
ON CONFLICT (study_id, external_id) DO NOTHING
"""


def add_queries(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport, watch: Watch
) -> None:
    """Add queries the study does not hold; one that differs from the study's is a conflict."""
    rows = (
        (q.query_id, q.text, q.context, q.query_class, Jsonb(q.metadata), q.line)
        for q in plan.queries
    )
    read = stage(cursor, "staged_query", COLUMNS, watch.rows(rows, "queries"))
    values = {"study": study.pk}
    conflicts = fetch(cursor, FIND_CONFLICTS, values)
    for line, query_id, differing in conflicts:
        reason = f"the query {query_id} has another {differing} in the study"
        report.conflict("queries", plan.queries_file, line, reason)
    new = execute(cursor, ADD_QUERIES, values)
    if new:
        refresh_statistics(cursor, "studies_query")
    report.count("queries", read=read, new=new, odd=len(conflicts))
    _refuse_unknown(study, plan, report)


def _refuse_unknown(study: Study, plan: StudyPlan, report: ImportReport) -> None:
    """Refuse what names queries that neither the folder nor the study holds."""
    if not plan.absent_queries:
        return
    known = set(study.queries.values_list("external_id", flat=True))
    for absent in plan.absent_queries:
        if absent.external_id not in known:
            absent.refuse_query(report)

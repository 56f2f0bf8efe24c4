"""The pool and control pairs. What is there keeps its rank; what is new joins it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db.backends.utils import CursorWrapper

from studies.models import Study
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import (
    EXTERNAL_ID,
    Watch,
    count_of_no_query,
    draw_public_ids,
    execute,
    execute_by_query,
    fetch,
    refresh_statistics,
    stage,
)

PAIR_COLUMNS = {
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "rank": "integer",
    "public_id": "uuid",
}

ADD_KNOWN_BY_ID = """
INSERT INTO studies_document (study_id, external_id, title, format,
    superseded_by, url, metadata)
SELECT %(study)s, s.doc_id, '', 'text', '', '', '{}'::jsonb
FROM staged_id s
WHERE NOT EXISTS (
    SELECT FROM studies_document d WHERE d.study_id = %(study)s AND d.external_id = s.doc_id
)
"""

# A control pair that no run had returned joins the pool when one does.
RANK_CONTROLS = """
UPDATE studies_pair p SET pool_rank = s.rank
FROM staged_pair s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
WHERE p.query_id = q.id AND p.document_id = d.id AND p.pool_rank IS NULL
    AND s.rank IS NOT NULL
RETURNING p.query_id
"""

ADD_PAIRS = """
INSERT INTO studies_pair (study_id, query_id, document_id, public_id, pool_rank, added_at)
SELECT %(study)s, q.id, d.id, s.public_id, s.rank, now()
FROM staged_pair s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
WHERE NOT EXISTS (
    SELECT FROM studies_pair p WHERE p.query_id = q.id AND p.document_id = d.id
)
RETURNING query_id
"""

CONTROL_COLUMNS = {
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "grade": "integer",
    "decided_by": "text",
    "purpose": "text",
    "line": "integer",
}

CONTROL_PAIRS = """
FROM staged_control s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
JOIN studies_pair p ON p.query_id = q.id AND p.document_id = d.id
"""

FIND_OTHER_CONTROLS = f"""
SELECT s.line, s.query_id, s.doc_id {CONTROL_PAIRS}
JOIN studies_controlpair c ON c.pair_id = p.id
WHERE (c.grade, c.decided_by, c.purpose) <> (s.grade, s.decided_by, s.purpose)
ORDER BY s.line
"""

ADD_CONTROLS = f"""
INSERT INTO studies_controlpair (pair_id, grade, decided_by, purpose)
SELECT p.id, s.grade, s.decided_by, s.purpose {CONTROL_PAIRS}
ON CONFLICT (pair_id) DO NOTHING
"""


def add_pairs(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport, watch: Watch
) -> None:
    """Add the pool's pairs and those of the controls; no pair of the study loses its rank."""
    _add_documents_by_id(cursor, study, plan, report)
    ids = draw_public_ids()
    pool = ((pair.query_id, pair.doc_id, pair.pool_rank, next(ids)) for pair in plan.pool)
    read = stage(cursor, "staged_pair", PAIR_COLUMNS, watch.rows(pool, "pool"))
    added = _add_staged_pairs(cursor, study)
    new = added.total()
    report.grown |= added.keys()
    if new:
        refresh_statistics(cursor, "studies_pair")
    lost = count_of_no_query(cursor, "staged_pair", study)
    if plan.folder.pool is None:
        # The runs' hits were refused; the pairs they would make go with them.
        report.tally("pairs").refused += lost
    report.count("pairs", read=read, new=new, odd=lost)


def _add_staged_pairs(cursor: CursorWrapper, study: Study) -> Counter[int]:
    """Returns the number of pairs that each query (by key) gained."""
    values = {"study": study.pk}
    ranked = Counter(execute_by_query(cursor, RANK_CONTROLS, values))
    return ranked + Counter(execute_by_query(cursor, ADD_PAIRS, values))


def _add_documents_by_id(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport
) -> None:
    """Add the documents that pool and controls name and neither folder nor study holds, known by
    their id alone; a study that requires documents refuses them."""
    ids = ((doc_id,) for doc_id in sorted(plan.documents_by_id))
    read = stage(cursor, "staged_id", {"doc_id": EXTERNAL_ID}, ids)
    if study.documents_required:
        _refuse_absent_documents(study, plan, report)
    new = execute(cursor, ADD_KNOWN_BY_ID, {"study": study.pk})
    if new:
        refresh_statistics(cursor, "studies_document")
    if not study.documents_required:
        report.count("documents by id", read=read, new=new)


def _refuse_absent_documents(study: Study, plan: StudyPlan, report: ImportReport) -> None:
    """Refuse pooled documents that neither the folder nor the study holds."""
    if not plan.absent_documents:
        return
    known = set(study.documents.values_list("external_id", flat=True))
    for absent in plan.absent_documents:
        if absent.external_id not in known:
            absent.refuse_document(report)


def add_controls(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport
) -> None:
    """Add control pairs; one outside of the pool becomes a pair without a rank.

    Grade and dimension are those of the study's newest rubric.
    """
    rows = list(_control_rows(study, plan, report))
    ids = draw_public_ids()
    pairs = ((query_id, doc_id, None, next(ids)) for query_id, doc_id, *_ in rows)
    stage(cursor, "staged_pair", PAIR_COLUMNS, pairs)
    _add_staged_pairs(cursor, study)
    stage(cursor, "staged_control", CONTROL_COLUMNS, rows)
    values = {"study": study.pk}
    for line, query_id, doc_id in fetch(cursor, FIND_OTHER_CONTROLS, values):
        reason = f"the control pair {query_id} {doc_id} is established otherwise in the study"
        report.conflict("controls", "controls.csv", line, reason)
    new = execute(cursor, ADD_CONTROLS, values)
    tally = report.tally("controls")
    odd = tally.conflicting + tally.refused
    report.count("controls", read=len(plan.controls), new=new, odd=odd)


def _control_rows(
    study: Study, plan: StudyPlan, report: ImportReport
) -> Iterator[tuple[object, ...]]:
    rubric = study.rubric_versions.order_by("-number")[0]
    grades: dict[int | str, int] = {}
    for grade in rubric.grades.all():
        grades |= {grade.value: grade.value, grade.name: grade.value}
    dimensions = set(rubric.dimensions.values_list("name", flat=True))
    for control in plan.controls:
        grade_value = grades.get(control.grade)
        if grade_value is None:
            reason = f"{control.grade!r} is no grade of rubric {rubric.number}"
            report.refuse("controls", "controls.csv", control.line, reason)
        elif control.decided_by not in dimensions:
            reason = f"{control.decided_by!r} is no dimension of rubric {rubric.number}"
            report.refuse("controls", "controls.csv", control.line, reason)
        else:
            yield (
                control.query_id,
                control.doc_id,
                grade_value,
                control.decided_by,
                control.purpose,
                control.line,
            )

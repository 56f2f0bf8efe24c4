"""Runs, the pool and control pairs. What is there keeps its rank; what is new joins it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from django.db.backends.utils import CursorWrapper

from studies.formats.runs import rank_hits
from studies.models import Run, Study
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import (
    EXTERNAL_ID,
    Watch,
    draw_public_ids,
    execute,
    execute_by_query,
    fetch,
    refresh_statistics,
    stage,
)

HIT_COLUMNS = {
    "run_id": "bigint",
    "file": "text",
    "line": "integer",
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "rank": "integer",
    "score": "double precision",
}

COUNT_ROWS_OF_NO_QUERY = """
SELECT count(*) FROM {table} s
WHERE NOT EXISTS (
    SELECT FROM studies_query q WHERE q.study_id = %(study)s AND q.external_id = s.query_id
)
"""

# A run of the study may gain hits; none that it has may move. One line per query is enough.
FIND_MOVED_HITS = """
SELECT file, min(line), query_id, count(*)
FROM (
    SELECT s.file, s.line, s.query_id
    FROM staged_hit s
    JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
    JOIN studies_runhit h ON h.run_id = s.run_id AND h.query_id = q.id
        AND h.document_external_id = s.doc_id
    WHERE (h.rank, h.score) <> (s.rank, s.score)
    UNION
    SELECT s.file, s.line, s.query_id
    FROM staged_hit s
    JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
    JOIN studies_runhit h ON h.run_id = s.run_id AND h.query_id = q.id AND h.rank = s.rank
    WHERE h.document_external_id <> s.doc_id
) moved
GROUP BY file, query_id
ORDER BY file, min(line)
"""

ADD_HITS = """
INSERT INTO studies_runhit (run_id, query_id, document_external_id, rank, score)
SELECT s.run_id, q.id, s.doc_id, s.rank, s.score
FROM staged_hit s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
WHERE NOT EXISTS (
    SELECT FROM studies_runhit h WHERE h.run_id = s.run_id AND h.query_id = q.id
        AND h.document_external_id = s.doc_id
) AND NOT EXISTS (
    SELECT FROM studies_runhit h WHERE h.run_id = s.run_id AND h.query_id = q.id
        AND h.rank = s.rank
)
"""

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


def add_runs(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport, watch: Watch
) -> None:
    """Add runs and their hits, all of them and not only those above the pool's depth.

    A hit that the study's run of this name has elsewhere is a conflict.
    """
    run_ids = _add_run_rows(study, plan, report)
    rows = watch.rows(_hit_rows(plan, run_ids), "runs")
    read = stage(cursor, "staged_hit", HIT_COLUMNS, rows)
    values = {"study": study.pk}
    moved = fetch(cursor, FIND_MOVED_HITS, values)
    for file, line, query_id, count in moved:
        reason = (
            f"the study's run of this name ranks {count:,} of the hits for the query {query_id} "
            "otherwise; give another ranking another name"
        )
        report.conflict("run hits", file, line, reason, rows=count)
    new = execute(cursor, ADD_HITS, values)
    if new:
        refresh_statistics(cursor, "studies_runhit")
    odd = sum(count for *_, count in moved) + _count_rows_of_no_query(cursor, "staged_hit", study)
    report.count("run hits", read=read, new=new, odd=odd)


def _count_rows_of_no_query(cursor: CursorWrapper, table: str, study: Study) -> int:
    """How many staged rows name a query that the study lacks; they were refused before."""
    ((count,),) = fetch(cursor, COUNT_ROWS_OF_NO_QUERY.format(table=table), {"study": study.pk})
    return int(count)


def _add_run_rows(study: Study, plan: StudyPlan, report: ImportReport) -> dict[str, int]:
    known = dict(study.runs.values_list("name", "pk"))
    new = [run for run in plan.runs if run.name not in known]
    made = Run.objects.bulk_create(Run(study=study, name=run.name, tag=run.tag) for run in new)
    report.count("runs", read=len(plan.runs), new=len(new))
    return known | {run.name: run.pk for run in made}


def _hit_rows(plan: StudyPlan, run_ids: dict[str, int]) -> Iterator[tuple[object, ...]]:
    for path, run in zip(plan.folder.runs, plan.runs, strict=True):
        file, run_id = f"runs/{path.name}", run_ids[run.name]
        for query_id, hits in rank_hits(run).items():
            for rank, hit in enumerate(hits, start=1):
                yield run_id, file, hit.line, query_id, hit.doc_id, rank, hit.score


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
    lost = _count_rows_of_no_query(cursor, "staged_pair", study)
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

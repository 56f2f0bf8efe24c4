"""Final labels of a study that moves: all of `final_labels.csv` or nothing, twice is once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from results.models import Cause, Citation, FinalLabel
from studies.formats.judgments import read_final_labels_csv
from studies.formats.problems import RecordError
from studies.formats.records import DROPPED, FinalLabelRecord
from studies.formats.text import check_name, open_source
from studies.models import Member, Study, User
from studies.services.imports import ImportReport
from studies.services.imports.staging import EXTERNAL_ID, all_or_nothing, execute, fetch, stage

KIND = "final labels"

COLUMNS = {
    "line": "integer",
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "relevance": "text",
    "decided_by": "text",
    "clause": "text",
    "cause": "text",
    "citation": "text",
    "reason": "text",
    "version": "integer",
    "by": 'text COLLATE "C"',
    "decided_at": "timestamptz",
}

# Every row with what it refers to; what is not there is null. Without a version it is of the
# newest one that is published.
RESOLVED = """
WITH resolved AS (
    SELECT s.*, p.id AS pair, v.id AS rubric, v.number AS rubric_number, g.value AS grade,
        s.relevance = 'dropped' AS is_dropped, d.id AS dimension, c.id AS clause_id,
        m.id AS member, coalesce(m.is_machine, false) AS is_machine, f.id AS final_id,
        f.id IS NOT NULL AND (f.grade, f.is_dropped, f.decided_by_id, f.clause_id, f.cause,
            f.citation, f.reason, f.rubric_version_id, f.by_id) IS NOT DISTINCT FROM (g.value,
            s.relevance = 'dropped', d.id, c.id, s.cause, s.citation, s.reason, v.id, m.id)
            AS is_same
    FROM staged_final s
    LEFT JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
    LEFT JOIN studies_document doc ON doc.study_id = %(study)s AND doc.external_id = s.doc_id
    LEFT JOIN studies_pair p ON p.query_id = q.id AND p.document_id = doc.id
    LEFT JOIN studies_rubricversion v ON v.study_id = %(study)s AND v.number = coalesce(
        s.version, (SELECT max(number) FROM studies_rubricversion
                    WHERE study_id = %(study)s AND published_at IS NOT NULL))
    LEFT JOIN studies_grade g ON g.rubric_version_id = v.id
        AND (g.value::text = s.relevance OR g.name = s.relevance)
    LEFT JOIN studies_dimension d ON d.rubric_version_id = v.id AND d.name = s.decided_by
    LEFT JOIN studies_clause c ON c.dimension_id = d.id AND c.name = s.clause
    LEFT JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.by
    LEFT JOIN results_finallabel f ON f.pair_id = p.id AND f.ended_at IS NULL
)
"""

FAULTS = f"""
{RESOLVED}
SELECT line, CASE
    WHEN pair IS NULL THEN format('the pair %%s %%s is not in the study', query_id, doc_id)
    WHEN rubric IS NULL THEN format('there is no rubric %%s', version)
    WHEN grade IS NULL AND NOT is_dropped THEN
        format('%%s is no grade of rubric %%s, and not dropped', quote_literal(relevance),
            rubric_number)
    WHEN dimension IS NULL AND decided_by IS NOT NULL THEN
        format('%%s is no dimension of rubric %%s', quote_literal(decided_by), rubric_number)
    WHEN is_machine THEN format('%%s is a machine; a person decides a final label', by)
    ELSE format('%%s is no clause of %%s', quote_literal(clause), decided_by)
END
FROM resolved
WHERE pair IS NULL OR rubric IS NULL OR grade IS NULL AND NOT is_dropped OR is_machine
    OR dimension IS NULL AND decided_by IS NOT NULL OR clause_id IS NULL AND clause IS NOT NULL
ORDER BY line
"""  # noqa: S608 - put together from constants

CONFLICTS = f"""
{RESOLVED}
SELECT line, query_id, doc_id FROM resolved WHERE final_id IS NOT NULL AND NOT is_same
ORDER BY line
"""  # noqa: S608 - put together from constants

ADD = f"""
{RESOLVED}
INSERT INTO results_finallabel (public_id, pair_id, grade, is_dropped, decided_by_id, clause_id,
    cause, citation, reason, rubric_version_id, source, by_id, decided_at)
SELECT gen_random_uuid(), pair, grade, is_dropped, dimension, clause_id, cause, citation, reason,
    rubric, CASE WHEN dimension IS NULL AND NOT is_dropped THEN 'import' ELSE %(source)s END,
    member, coalesce(decided_at, %(now)s)
FROM resolved WHERE final_id IS NULL ORDER BY line
RETURNING id
"""  # noqa: S608 - put together from constants

LOG = """
INSERT INTO studies_action (study_id, at, name, user_id, member_id, data)
SELECT %(study)s, statement_timestamp(), 'final_label.imported', %(user)s, f.by_id,
    jsonb_build_object('grade', f.grade, 'dropped', f.is_dropped,
        'decided_by', coalesce(d.name, ''), 'clause', coalesce(c.name, ''), 'cause', f.cause,
        'citation', f.citation, 'reason', f.reason, 'query_id', q.external_id,
        'doc_id', doc.external_id, 'rubric_version', v.number, 'final_label', f.public_id)
FROM results_finallabel f
JOIN studies_pair p ON p.id = f.pair_id
JOIN studies_query q ON q.id = p.query_id
JOIN studies_document doc ON doc.id = p.document_id
JOIN studies_rubricversion v ON v.id = f.rubric_version_id
LEFT JOIN studies_dimension d ON d.id = f.decided_by_id
LEFT JOIN studies_clause c ON c.id = f.clause_id
WHERE f.id = ANY (%(finals)s) ORDER BY f.id
"""


class Row(NamedTuple):
    """One final label on its way in; the fields are the columns of the staging table."""

    line: int
    query_id: str
    doc_id: str
    relevance: str
    decided_by: str | None
    clause: str | None
    cause: str
    citation: str
    reason: str
    version: int | None
    by: str | None
    decided_at: object


def add_final_labels(
    *,
    study: Study,
    path: Path,
    report: ImportReport,
    user: User | None = None,
    keep_source: bool = False,
    log_each: bool = True,
) -> None:
    """Add the final labels of a file, inside the caller's transaction and into its report.

    What stands already changes nothing; another final label on the pair is a conflict. Who
    decided and is not known becomes an identity of the study. Nothing is written when the report
    holds refusals afterwards. `keep_source`: the study moves, so what was decided in the app
    stays such.
    """
    with all_or_nothing(dry_run=False) as cursor:
        before = report.problems.count
        read = stage(cursor, "staged_final", COLUMNS, _rows(path, report))
        report.tally(KIND).refused += report.problems.count - before
        _add_identities(cursor, study)
        values = {"study": study.pk, "user": user.pk if user else None, "now": timezone.now()}
        for line, reason in fetch(cursor, FAULTS, values):
            report.refuse(KIND, path.name, line, reason)
        for line, query_id, doc_id in fetch(cursor, CONFLICTS, values):
            reason = f"the pair {query_id} {doc_id} has another final label in the study"
            report.conflict(KIND, path.name, line, reason)
        if report.problems:
            return
        source = FinalLabel.Source.APP if keep_source else FinalLabel.Source.IMPORT
        new = _add(cursor, values | {"source": source}, log_each=log_each)
        report.count(KIND, read=read, new=new)


def _add(cursor: CursorWrapper, values: dict[str, object], *, log_each: bool) -> int:
    added = fetch(cursor, ADD, values)
    if log_each:
        execute(cursor, LOG, values | {"finals": [key for (key,) in added]})
    return len(added)


def _rows(path: Path, report: ImportReport) -> Iterator[Row]:
    """The rows of the file; those that cannot be a final label are added to the problems."""
    with open_source(path) as stream:
        records = read_final_labels_csv(stream, file=path.name, problems=report.problems)
        for record in records:
            try:
                yield _row(record)
            except RecordError as error:
                report.problems.add(path.name, record.line, str(error))


def _row(record: FinalLabelRecord) -> Row:
    if not record.reason.strip():
        raise RecordError("the reason is blank; a final label has one")
    if record.clause and not record.decided_by:
        raise RecordError(f"the clause {record.clause} needs its dimension in decided_by")
    if record.by and (fault := check_name(record.by)):
        raise RecordError(f"by: {fault}")
    _check_choice("cause", record.cause, Cause.values)
    _check_choice("citation", record.citation, Citation.values)
    is_dropped = record.relevance.lower() == DROPPED
    return Row(
        record.line,
        record.query_id,
        record.doc_id,
        DROPPED if is_dropped else record.relevance,
        record.decided_by,
        record.clause,
        record.cause or "",
        record.citation or "",
        record.reason,
        record.rubric_version,
        record.by,
        record.decided_at,
    )


def _check_choice(column: str, value: str | None, choices: list[str]) -> None:
    if value and value not in choices:
        raise RecordError(f"the {column} {value!r} is not one of {', '.join(choices)}")


def _add_identities(cursor: CursorWrapper, study: Study) -> None:
    """Create who decided and is not known; they have no account."""
    named = fetch(cursor, "SELECT DISTINCT by FROM staged_final WHERE by IS NOT NULL", {})
    known = set(study.members.values_list("name", flat=True))
    Member.objects.bulk_create(
        Member(study=study, name=name) for (name,) in named if name not in known
    )

"""The notes on splits of a study that moves between installations."""

from collections.abc import Iterable

from django.db.backends.utils import CursorWrapper

from studies.models import Study
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import EXTERNAL_ID, execute, stage
from studies.services.imports.state import NoteState

COLUMNS = {
    "round": "text",
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "kind": "text",
    "note": "text",
    "noted_by": 'text COLLATE "C"',
    "at": "timestamptz",
}

ADD_NOTES = """
INSERT INTO results_calibrationnote (round_id, pair_id, kind, note, by_id, at, edition)
SELECT r.id, p.id, s.kind, s.note, b.id, s.at, 1
FROM staged_note s
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
JOIN studies_pair p ON p.query_id = q.id AND p.document_id = d.id
LEFT JOIN studies_member b ON b.study_id = %(study)s AND b.name = s.noted_by
ON CONFLICT DO NOTHING
"""


def restore_notes(
    cursor: CursorWrapper, study: Study, notes: Iterable[NoteState], report: ImportReport
) -> None:
    """Put the notes back. Those that name what the study has not, or a split twice, are refused."""
    rows = ((n.round, n.query_id, n.doc_id, n.kind, n.note, n.by, n.at) for n in notes)
    staged = stage(cursor, "staged_note", COLUMNS, rows)
    written = execute(cursor, ADD_NOTES, {"study": study.pk})
    report.count("calibration notes", read=staged, new=written)
    if written < staged:
        reason = f"notes twice on one split, or on what the study has not: {staged - written:,}"
        report.refuse("calibration notes", "state.json", None, reason)

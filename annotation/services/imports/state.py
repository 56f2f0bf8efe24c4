"""Claims, assignments, surplus and carried labels of a study that moves between installations."""

from __future__ import annotations

from django.db import IntegrityError, transaction
from django.db.backends.utils import CursorWrapper

from studies.models import Study
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import EXTERNAL_ID, execute, stage
from studies.services.imports.state import StudyState

CLAIM_COLUMNS = {
    "round": "text",
    "query_id": EXTERNAL_ID,
    "annotator": 'text COLLATE "C"',
    "state": "text",
    "slot": "integer",
    "claimed_at": "timestamptz",
    "expires_at": "timestamptz",
}

ADD_CLAIMS = """
INSERT INTO annotation_claim (round_query_id, annotator_id, state, slot, claimed_at, expires_at,
    open_pairs)
SELECT rq.id, m.id, s.state, s.slot, s.claimed_at, s.expires_at, 0
FROM staged_claim s
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_roundquery rq ON rq.round_id = r.id AND rq.query_id = q.id
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
"""

SURPLUS_COLUMNS = {
    "round": "text",
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "annotator": 'text COLLATE "C"',
}

MARK_SURPLUS = """
UPDATE annotation_judgment j SET is_surplus = true
FROM staged_surplus s
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
JOIN studies_pair p ON p.query_id = q.id AND p.document_id = d.id
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
WHERE j.round_id = r.id AND j.pair_id = p.id AND j.annotator_id = m.id
"""


LABEL_KEYS = """
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
JOIN studies_pair p ON p.query_id = q.id AND p.document_id = d.id
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
"""

ADD_ASSIGNMENTS = f"""
INSERT INTO annotation_roundassignment (round_id, pair_id, annotator_id)
SELECT r.id, p.id, m.id FROM staged_assignment s {LABEL_KEYS}
"""  # noqa: S608 - put together from constants

CARRIED_COLUMNS = {
    **SURPLUS_COLUMNS,
    "rubric_version": "integer",
    "why": "text",
    "carried_by": 'text COLLATE "C"',
    "at": "timestamptz",
}

ADD_CARRIED = f"""
INSERT INTO annotation_carriedlabel (judgment_id, rubric_version_id, why, by_id, at)
SELECT j.id, v.id, s.why, b.id, s.at
FROM staged_carried s {LABEL_KEYS}
JOIN annotation_judgment j ON j.round_id = r.id AND j.pair_id = p.id AND j.annotator_id = m.id
JOIN studies_rubricversion v ON v.study_id = %(study)s AND v.number = s.rubric_version
LEFT JOIN studies_member b ON b.study_id = %(study)s AND b.name = s.carried_by
"""  # noqa: S608 - put together from constants


def restore_state(
    cursor: CursorWrapper, study: Study, state: StudyState, report: ImportReport
) -> None:
    """Put back claims, assignments and carried labels; set aside the labels that were surplus.

    What names a round, query or person that the study has not is refused, and so are claims
    beyond the places planned.
    """
    try:
        with transaction.atomic():
            _restore(cursor, study, state, report)
    except IntegrityError as error:
        reason = str(error).splitlines()[0]
        report.refuse("claims", "state.json", None, f"the claims contradict the study: {reason}")


def _restore(cursor: CursorWrapper, study: Study, state: StudyState, report: ImportReport) -> None:
    values = {"study": study.pk}
    claims = (
        (c.round, c.query_id, c.annotator, c.state, c.slot, c.claimed_at, c.expires_at)
        for c in state.claims
    )
    surplus = ((s.round, s.query_id, s.doc_id, s.annotator) for s in state.surplus)
    assigned = ((s.round, s.query_id, s.doc_id, s.annotator) for s in state.assignments)
    carried = (
        (c.round, c.query_id, c.doc_id, c.annotator, c.rubric_version, c.why, c.by, c.at)
        for c in state.carried
    )
    for kind, staged, statement in (
        ("claims", stage(cursor, "staged_claim", CLAIM_COLUMNS, claims), ADD_CLAIMS),
        (
            "surplus labels",
            stage(cursor, "staged_surplus", SURPLUS_COLUMNS, surplus),
            MARK_SURPLUS,
        ),
        (
            "assigned pairs",
            stage(cursor, "staged_assignment", SURPLUS_COLUMNS, assigned),
            ADD_ASSIGNMENTS,
        ),
        ("carried labels", stage(cursor, "staged_carried", CARRIED_COLUMNS, carried), ADD_CARRIED),
    ):
        written = execute(cursor, statement, values)
        report.count(kind, read=staged, new=written)
        if written < staged:
            reason = f"{kind} that name what the study has not: {staged - written:,}"
            report.refuse(kind, "state.json", None, reason)

"""What was being collected of a study that moves between installations: claims and the like."""

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


QUOTA_COLUMNS = {
    "round": "text",
    "annotator": 'text COLLATE "C"',
    "queries": "integer",
    "is_fixed": "boolean",
}

ADD_QUOTAS = """
INSERT INTO studies_quota (round_id, member_id, queries, is_fixed)
SELECT r.id, m.id, s.queries, s.is_fixed
FROM staged_quota s
JOIN studies_round r ON r.study_id = %(study)s AND r.name = s.round
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
"""

REPORT_COLUMNS = {
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "annotator": 'text COLLATE "C"',
    "kind": "text",
    "note": "text",
    "at": "timestamptz",
}

ADD_REPORTS = """
INSERT INTO annotation_problemreport (public_id, pair_id, annotator_id, kind, note, reported_at)
SELECT gen_random_uuid(), p.id, m.id, s.kind, s.note, s.at
FROM staged_report s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.doc_id
JOIN studies_pair p ON p.query_id = q.id AND p.document_id = d.id
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
"""

TOLD_COLUMNS = {
    "annotator": 'text COLLATE "C"',
    "rubric_version": "integer",
    "at": "timestamptz",
}

ADD_TOLD = """
INSERT INTO annotation_rubrictold (annotator_id, rubric_version_id, at)
SELECT m.id, v.id, s.at
FROM staged_told s
JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.annotator
JOIN studies_rubricversion v ON v.study_id = %(study)s AND v.number = s.rubric_version
"""


def restore_state(
    cursor: CursorWrapper, study: Study, state: StudyState, report: ImportReport
) -> None:
    """Put back claims, assignments, quotas, reports and the like; set aside surplus labels.

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
    quotas = ((q.round, q.annotator, q.queries, q.is_fixed) for q in state.quotas)
    reports = (
        (r.query_id, r.doc_id, r.annotator, r.kind, r.note, r.at) for r in state.problem_reports
    )
    told = ((t.annotator, t.rubric_version, t.at) for t in state.rubric_told)
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
        ("quotas", stage(cursor, "staged_quota", QUOTA_COLUMNS, quotas), ADD_QUOTAS),
        ("problem reports", stage(cursor, "staged_report", REPORT_COLUMNS, reports), ADD_REPORTS),
        ("rubrics told", stage(cursor, "staged_told", TOLD_COLUMNS, told), ADD_TOLD),
    ):
        written = execute(cursor, statement, values)
        report.count(kind, read=staged, new=written)
        if written < staged:
            reason = f"{kind} that name what the study has not: {staged - written:,}"
            report.refuse(kind, "state.json", None, reason)

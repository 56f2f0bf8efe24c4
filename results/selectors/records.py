"""What was recorded, streamed: judgments, final labels and the action log.

Everything here runs inside a transaction, such as `labels.read_snapshot`.
"""

from collections.abc import Iterator
from typing import Any

from django.db.models import TextField, Value
from django.db.models.functions import Cast, Coalesce

from annotation.models import Judgment
from results.models import FinalLabel
from results.selectors.materials import NARROW_ROWS
from studies.formats.records import DROPPED, UNSURE, FinalLabelRecord, JudgmentRecord
from studies.models import Action, Study

# In the order of the fields of `JudgmentRecord`, between which the line stands.
JUDGMENT_COLUMNS = (
    "pair__query__external_id",
    "pair__document__external_id",
    "annotator__name",
    Coalesce(Cast("grade", TextField()), Value(UNSURE, TextField())),
    "decided_by__name",
    "clause__name",
    "note",
    "round__name",
    "rubric_version__number",
    "source",
    "active_seconds",
    "judged_at",
    "pair__query__query_class__name",
)
LINE_AT = JudgmentRecord._fields.index("line")
JUDGMENT_ORDER = (
    "pair__query__external_id",
    "pair__document__external_id",
    "annotator__name",
    "round__position",
    "round_id",
)
FINAL_LABEL_COLUMNS = {
    "query_id": "pair__query__external_id",
    "doc_id": "pair__document__external_id",
    "decided_by": "decided_by__name",
    "clause": "clause__name",
    "cause": "cause",
    "citation": "citation",
    "reason": "reason",
    "rubric_version": "rubric_version__number",
    "by": "by__name",
    "decided_at": "decided_at",
}
ACTION_COLUMNS = {
    "at": "at",
    "name": "name",
    "member": "member__name",
    "user": "user__username",
    "active_seconds": "active_seconds",
    "away_seconds": "away_seconds",
    "data": "data",
}


def stream_judgments(study: Study) -> Iterator[JudgmentRecord]:
    """Every label of every round, also of machines and surplus ones, by query id, document id,
    annotator and round."""
    rows = (
        Judgment.objects.filter(round__study=study)
        .order_by(*JUDGMENT_ORDER)
        .values_list(*JUDGMENT_COLUMNS)
    )
    for row in rows.iterator(NARROW_ROWS):
        yield JudgmentRecord._make((*row[:LINE_AT], 0, *row[LINE_AT:]))


def stream_final_labels(study: Study) -> Iterator[FinalLabelRecord]:
    """The final labels that stand, by query id and document id."""
    rows = (
        FinalLabel.objects.filter(pair__study=study, ended_at__isnull=True)
        .order_by("pair__query__external_id", "pair__document__external_id")
        .values_list("grade", *FINAL_LABEL_COLUMNS.values())
    )
    for grade, *values in rows.iterator(NARROW_ROWS):
        relevance = DROPPED if grade is None else str(grade)
        fields: dict[str, Any] = dict(zip(FINAL_LABEL_COLUMNS, values, strict=True))
        named: dict[str, Any] = {
            key: None if value == "" else value for key, value in fields.items()
        }
        yield FinalLabelRecord(relevance=relevance, line=0, **named)


def stream_actions(study: Study, *, until: int | None = None) -> Iterator[dict[str, Any]]:
    """Every action in the order it was logged, or so many of the first, with the names of the
    member and the account."""
    rows = Action.objects.filter(study=study).order_by("id").values_list(*ACTION_COLUMNS.values())
    for values in rows[:until].iterator(NARROW_ROWS):
        yield dict(zip(ACTION_COLUMNS, values, strict=True))

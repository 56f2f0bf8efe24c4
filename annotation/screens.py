"""Builds the judge's screens from the models."""

import uuid
from collections.abc import Mapping
from datetime import datetime, timedelta

from django.utils import timezone
from django.utils.translation import gettext as _

from annotation import selectors
from annotation.blind_items import read_blind_item
from annotation.contexts import (
    BlindItem,
    FormValues,
    JudgeContext,
    NothingToJudge,
    OwnLabel,
    Progress,
    RubricChanged,
)
from annotation.models import Judgment
from annotation.rubric_sheet import get_rubric_sheet
from annotation.services.judgments import as_label, describe_state
from annotation.services.queue import next_pair
from annotation.services.rubric_notices import find_version_known
from annotation.tokens import ShownPair
from studies.models import Document, Member, Pair, Round, RubricVersion
from studies.rubric_contexts import show_diff
from studies.selectors import is_everything_closed, list_open_rounds


def show_next(
    annotator: Member,
    *,
    notice: str = "",
    latest: Judgment | None = None,
    notes: Mapping[str, str] | None = None,
) -> JudgeContext | RubricChanged | NothingToJudge:
    """The next pair for the annotator, what changed in the rubric before it, or why there is
    none. `latest` is the annotator's latest label, where the caller knows it; `notes` are what
    stood in labels taken back, by the id of their pair."""
    found = next_pair(annotator)
    if found is None:
        return explain_nothing(annotator, notice=notice)
    known = find_version_known(annotator, found.round, found.version_told)
    if known is not None:
        return tell_rubric_change(annotator, found.round, known, notice=notice)
    item = read_blind_item(annotator.study, found.pair_id)
    shown = ShownPair(
        annotator_id=annotator.pk,
        round_id=found.round.pk,
        rubric_version_id=found.round.rubric_version_id,
        pair_id=uuid.UUID(item.pair_id),
        shown_at=timezone.now(),
    )
    return lay_out_pair(
        annotator,
        found.round,
        item,
        shown,
        progress=Progress(done=found.labelled, left=found.left),
        values=FormValues(note=(notes or {}).get(item.pair_id, "")),
        notice=notice,
        undo_id=str(latest.public_id) if latest else selectors.get_latest_label_id(annotator),
    )


def tell_rubric_change(
    annotator: Member, round: Round, known: RubricVersion, *, notice: str
) -> RubricChanged:
    new = RubricVersion.objects.get(pk=round.rubric_version_id)
    return RubricChanged(
        study_slug=annotator.study.slug,
        study_title=annotator.study.title,
        round_name=round.name,
        known=known.number,
        number=new.number,
        changes=show_diff(known, new),
        notice=notice,
    )


def show_again(
    annotator: Member,
    shown: ShownPair,
    *,
    key: uuid.UUID,
    values: FormValues,
    errors: Mapping[str, str],
) -> JudgeContext | None:
    """The same pair with what was typed and what is wrong with it; None if it is gone."""
    pair = Pair.objects.filter(public_id=shown.pair_id, study=annotator.study_id).first()
    round = Round.objects.filter(pk=shown.round_id, study=annotator.study_id).first()
    if pair is None or round is None:
        return None
    return lay_out_pair(
        annotator,
        round,
        read_blind_item(annotator.study, pair.pk),
        shown,
        progress=count_progress(annotator),
        key=key,
        values=values,
        errors=errors,
        undo_id="" if shown.judgment_id else selectors.get_latest_label_id(annotator),
    )


def show_own_label(annotator: Member, judgment: Judgment) -> JudgeContext:
    """A past label of one's own, in the form, to be revised."""
    label = as_label(judgment)
    shown = ShownPair(
        annotator_id=annotator.pk,
        round_id=judgment.round_id,
        rubric_version_id=judgment.rubric_version_id,
        pair_id=judgment.pair.public_id,
        shown_at=timezone.now(),
        judgment_id=str(judgment.public_id),
        state=describe_state(judgment),
    )
    values = FormValues(
        grade="" if label.grade is None else str(label.grade),
        decided_by=label.decided_by,
        clause=label.clause,
        is_unsure=label.is_unsure,
        note=label.note,
    )
    return lay_out_pair(
        annotator,
        judgment.round,
        read_blind_item(annotator.study, judgment.pair_id),
        shown,
        progress=count_progress(annotator),
        values=values,
    )


def count_progress(annotator: Member) -> Progress:
    return Progress(
        done=selectors.count_own_labels(annotator), left=selectors.count_left(annotator)
    )


def lay_out_pair(
    annotator: Member,
    round: Round,
    item: BlindItem,
    shown: ShownPair,
    *,
    progress: Progress,
    key: uuid.UUID | None = None,
    values: FormValues | None = None,
    errors: Mapping[str, str] | None = None,
    notice: str = "",
    undo_id: str = "",
) -> JudgeContext:
    return JudgeContext(
        study_slug=annotator.study.slug,
        study_title=annotator.study.title,
        round_name=round.name,
        rubric=get_rubric_sheet(shown.rubric_version_id, item.class_name),
        item=item,
        token=shown.sign(),
        key=str(key or uuid.uuid4()),
        progress=progress,
        values=values or FormValues(),
        errors=errors or {},
        notice=notice,
        undo_id=undo_id,
        is_revision=bool(shown.judgment_id),
    )


def explain_nothing(annotator: Member, *, notice: str = "") -> NothingToJudge:
    frees_at = None
    if not list_open_rounds(annotator.study):
        reason = "closed" if is_everything_closed(annotator.study) else "no_round"
    elif selectors.has_judged_own_share(annotator):
        reason = "share_done"
    else:
        freed = selectors.find_when_held_queries_free(annotator)
        reason = "held_by_others" if freed else "all_done"
        frees_at = blur(freed) if freed else None
    return NothingToJudge(
        study_slug=annotator.study.slug,
        study_title=annotator.study.title,
        reason=reason,
        labelled=selectors.count_own_labels(annotator),
        frees_at=frees_at,
        notice=notice,
        undo_id=selectors.get_latest_label_id(annotator),
    )


def blur(moment: datetime) -> datetime:
    """The full hour after a moment: to the minute, the end of a hold would tell when its holder
    last labelled."""
    return moment.replace(minute=0, second=0, microsecond=0) + timedelta(hours=1)


def describe_label(judgment: Judgment | None) -> str:
    """A label in words, for the notice that it was recorded."""
    if judgment is None:
        return ""
    label = as_label(judgment)
    grade = _("unsure") if label.grade is None else str(label.grade)
    return f"{grade} · {label.decided_by}"


def tell_recorded(judgment: Judgment | None, *, grade_left: str = "") -> str:
    """The notice that a label was recorded, and that a grade chosen before "unsure" was not."""
    label = describe_label(judgment)
    if not grade_left:
        return _("Recorded: %(label)s") % {"label": label}
    return _("Recorded: %(label)s, without the grade %(grade)s") % {
        "label": label,
        "grade": grade_left,
    }


def list_own_label(judgment: Judgment) -> OwnLabel:
    """A label of `selectors.list_own_labels` as the list shows it."""
    label = as_label(judgment)
    return OwnLabel(
        judgment_id=str(judgment.public_id),
        query=judgment.pair.query.text,
        document_title=title_of(judgment.pair.document),
        grade="" if label.grade is None else str(label.grade),
        grade_name=judgment.grade_name or "",  # type: ignore[attr-defined]  # annotated by its query
        is_unsure=label.is_unsure,
        decided_by=label.decided_by,
        clause=label.clause,
        note=label.note,
        round_name=judgment.round.name,
        rubric_number=judgment.rubric_version.number,
        judged_at=judgment.judged_at,
        revised_at=judgment.revised_at,
        is_imported=judgment.source == Judgment.Source.IMPORT,
        is_open=judgment.round.is_open and judgment.source == Judgment.Source.APP,
    )


def title_of(document: Document) -> str:
    """A document's title; never its id, which may tell where it came from."""
    return document.title or _("Untitled document")

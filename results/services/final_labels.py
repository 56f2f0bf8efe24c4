"""Settling pairs: a final label is set, revised by another one, or reopened; never changed."""

import uuid
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone

from results.models import FinalLabel, Lease
from results.selectors.final_labels import WITH_PARTS, get_final_label
from results.services.proposals import Proposal, propose_clause
from studies.models import Action, Clause, Dimension, Member, Pair, RubricVersion, Study
from studies.services.log import record_action

ROWS_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class Decision:
    """What is decided on a pair: a grade with what decided it, or (`grade` None) to drop it.

    `cause` and `citation` are values of `Cause` and `Citation`, "" where the labels agree.
    """

    grade: int | None
    reason: str
    decided_by: str = ""
    clause: str = ""
    cause: str = ""
    citation: str = ""


@dataclass(frozen=True, slots=True)
class Settled:
    """What became of a decision.

    `recorded` and `repeated` (the same form again; nothing changed) have the final label that
    stands. `outdated` changed nothing: the pair no longer is as the form showed it, and `final`
    is what stands there now, None where it was reopened.
    """

    kind: Literal["recorded", "repeated", "outdated"]
    final: FinalLabel | None


@transaction.atomic
def settle_pair(
    *,
    pair: Pair,
    member: Member,
    rubric_version: RubricVersion,
    decision: Decision,
    shown: str,
    key: uuid.UUID,
    seconds: tuple[float | None, float | None] = (None, None),
    proposal: Proposal | None = None,
) -> Settled:
    """Set the pair's final label, or revise the one that was shown.

    `shown` is the public id of the final label that the form showed, "" for none, `seconds` the
    active and the away time since. Everything
    happens under the lock of the pair's row, so that of two decisions one finds the other.
    A `proposal` goes into the draft of the next rubric version with it.
    Raises Dimension.DoesNotExist or Clause.DoesNotExist for names the rubric version has not, and
    RubricRefused where the draft has not the proposal's dimension.
    """
    # Without its key: labels of the pair are written meanwhile.
    Pair.objects.select_for_update(of=("self",), no_key=True).get(pk=pair.pk)
    current = get_final_label(pair)
    if Action.objects.filter(key=key).exists():
        is_same = current is not None and as_decision(current) == decision
        return Settled("repeated" if is_same else "outdated", current)
    if (str(current.public_id) if current else "") != shown:
        return Settled("outdated", current)
    final = make_final_label(pair, member, rubric_version, decision)
    if current is not None:
        end_final_label(current, member)
    final.save()
    name = "final_label.revised" if current else "final_label.set"
    before = {"before": asdict(as_decision(current))} if current else {}
    record_action(
        member.study,
        name,
        user=member.user,
        member=member,
        data=describe_event(final) | before,
        active_seconds=seconds[0],
        away_seconds=seconds[1],
        key=key,
    )
    if proposal is not None:
        propose_clause(pair=pair, member=member, proposal=proposal)
    Lease.objects.filter(pair=pair).delete()
    return Settled("recorded", final)


@transaction.atomic
def reopen_final_labels(*, study: Study, finals: Iterable[int], member: Member, reason: str) -> int:
    """End these final labels (keys), so that the labels decide again; the rows stay.

    Returns how many it ended: those that had ended already are passed over.
    """
    current = list(
        FinalLabel.objects.select_for_update(of=("self",))
        .select_related(*WITH_PARTS)
        .filter(pk__in=list(finals), pair__study=study, ended_at__isnull=True)
        .order_by("pk")
    )
    FinalLabel.objects.filter(pk__in=[final.pk for final in current]).update(
        ended_at=timezone.now(), ended_by=member
    )
    Action.objects.bulk_create(
        (
            Action(
                study=study,
                name="final_label.reopened",
                user=member.user,
                member=member,
                data=describe_event(final) | {"reopened_because": reason},
            )
            for final in current
        ),
        batch_size=ROWS_AT_ONCE,
    )
    return len(current)


def make_final_label(
    pair: Pair, member: Member, rubric_version: RubricVersion, decision: Decision
) -> FinalLabel:
    """The row of a decision, not saved yet."""
    dimension = (
        Dimension.objects.get(rubric_version=rubric_version, name=decision.decided_by)
        if decision.decided_by
        else None
    )
    return FinalLabel(
        pair=pair,
        grade=decision.grade,
        is_dropped=decision.grade is None,
        decided_by=dimension,
        clause=(
            Clause.objects.get(dimension=dimension, name=decision.clause)
            if decision.clause
            else None
        ),
        cause=decision.cause,
        citation=decision.citation,
        reason=decision.reason,
        rubric_version=rubric_version,
        by=member,
    )


def end_final_label(final: FinalLabel, member: Member) -> None:
    final.ended_at = timezone.now()
    final.ended_by = member
    final.save(update_fields=["ended_at", "ended_by"])


def as_decision(final: FinalLabel) -> Decision:
    return Decision(
        grade=final.grade,
        reason=final.reason,
        decided_by=final.decided_by.name if final.decided_by else "",
        clause=final.clause.name if final.clause else "",
        cause=final.cause,
        citation=final.citation,
    )


def describe_event(final: FinalLabel) -> dict[str, Any]:
    """What the log says of a final label: enough to replay it without other tables."""
    return asdict(as_decision(final)) | {
        "query_id": final.pair.query.external_id,
        "doc_id": final.pair.document.external_id,
        "dropped": final.is_dropped,
        "rubric_version": final.rubric_version.number,
        "final_label": str(final.public_id),
    }

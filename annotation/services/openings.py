"""When a round opens: put off, brought forward, or opened at once."""

from collections.abc import Collection
from datetime import datetime

from django.db import transaction
from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.services.releases import RoundClosed
from studies.models import Member, Round
from studies.services.log import record_action


class RoundBegun(Exception):
    """Somebody has begun the open round: it is not put off any more. Nothing was changed."""


@transaction.atomic
def set_opening(*, round: Round, opens_at: datetime | None, by: Member) -> bool:
    """Let the round open at that time; at once for None and for a time that has passed.

    Until then nothing of it is offered to anybody. A round that is open already can be put off
    while nobody has begun it. Waits for the labels that are being written and the places that are
    being taken at this moment. Returns whether anything changed, to the minute. Raises RoundClosed
    and RoundBegun.
    """
    locked = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
    if locked.closed_at is not None:
        raise RoundClosed
    before, now = locked.opens_at, timezone.now()
    wanted = now if opens_at is None else max(opens_at, now)
    if _is_same(before, wanted, now):
        return False
    if locked.is_open and find_begun([locked]):
        raise RoundBegun
    locked.opens_at = round.opens_at = wanted
    locked.save(update_fields=["opens_at"])
    data = {"round": locked.name, "from": before.isoformat(), "to": wanted.isoformat()}
    record_action(by.study, "round.opening_changed", user=by.user, member=by, data=data)
    return True


def find_begun(rounds: Collection[Round]) -> set[int]:
    """Keys of those of the rounds in which somebody has taken a query, was given pairs, or has a
    label."""
    claimed = Claim.objects.filter(round_query__round__in=rounds).order_by()
    labelled = Judgment.objects.filter(round__in=rounds).order_by()
    return {
        *claimed.values_list("round_query__round", flat=True).distinct(),
        *labelled.values_list("round", flat=True).distinct(),
    }


def _is_same(before: datetime, wanted: datetime, now: datetime) -> bool:
    if before <= now:
        return wanted <= now
    return before.replace(second=0, microsecond=0) == wanted.replace(second=0, microsecond=0)

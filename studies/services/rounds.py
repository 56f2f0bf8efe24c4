"""Closing a round, and holding one open while a label of it is written."""

from django.db import connection, transaction
from django.utils import timezone

from studies.models import Member, Round, User
from studies.services.log import record_action

# Shared: labels never wait for one another here, only for who is closing the round at this moment.
HOLD = """
SELECT closed_at IS NULL AND opens_at <= %(now)s FROM studies_round WHERE id = %(round)s FOR SHARE
"""


@transaction.atomic
def close_round(*, round: Round, user: User | None, member: Member | None = None) -> bool:
    """Close the round for good: nothing is judged, revised or taken back in it from now on.

    Waits for the labels that are being written at this moment; whatever comes after them finds the
    round closed. Returns whether it was open (or still to be opened) before; closing it again
    changes nothing.
    """
    locked = Round.objects.select_for_update(no_key=True).get(pk=round.pk)
    was_open = locked.closed_at is None
    if was_open:
        locked.closed_at = timezone.now()
        locked.save(update_fields=["closed_at"])
        data = {"round": locked.name}
        record_action(round.study, "round.closed", user=user, member=member, data=data)
    round.closed_at = locked.closed_at
    return was_open


def hold_round(round_id: int) -> bool:
    """Keep the round from being closed until the caller's transaction ends; returns whether it
    takes labels now.

    To be called before any other row is locked: who closes a round may be about to lock those.
    """
    with connection.cursor() as cursor:
        cursor.execute(HOLD, {"round": round_id, "now": timezone.now()})
        row = cursor.fetchone()
    return bool(row and row[0])

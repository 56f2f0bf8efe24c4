"""Leases: who is settling which pair at this moment."""

from collections.abc import Iterable
from datetime import timedelta

from django.db import connection
from django.utils import timezone

from results.models import FinalLabel, Lease
from studies.models import Member, Pair

# A pair shown this long ago without a decision is led to again for others.
LEASE_TIME = timedelta(minutes=15)

# One statement, so that of two adjudicators who want the same pair the database lets one have it.
TAKE = """
INSERT INTO results_lease (pair_id, holder_id, expires_at)
VALUES (%(pair)s, %(holder)s, %(expires_at)s)
ON CONFLICT (pair_id) DO UPDATE
    SET holder_id = EXCLUDED.holder_id, expires_at = EXCLUDED.expires_at
    WHERE results_lease.holder_id = EXCLUDED.holder_id OR results_lease.expires_at <= %(now)s
RETURNING pair_id
"""


def take_lease(pair_id: int, member: Member) -> bool:
    """Hold the pair for the member, or hold it longer; False when somebody else holds it."""
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(
            TAKE,
            {
                "pair": pair_id,
                "holder": member.pk,
                "expires_at": now + LEASE_TIME,
                "now": now,
            },
        )
        return cursor.fetchone() is not None


def take_first_free(pair_ids: Iterable[int], member: Member) -> int | None:
    """Hold the first of these pairs that nobody else holds and that is not settled; None when
    there is none.

    Looks at the final label once the pair is held: whoever settles a pair frees it in the same
    transaction, so what this lease waited for is seen then.
    """
    for pair_id in pair_ids:
        if not take_lease(pair_id, member):
            continue
        if not FinalLabel.objects.filter(pair=pair_id, ended_at__isnull=True).exists():
            return pair_id
        Lease.objects.filter(pair=pair_id, holder=member).delete()
    return None


def release_lease(pair: Pair, member: Member) -> None:
    Lease.objects.filter(pair=pair, holder=member).delete()


def find_other_holder(pair: Pair, member: Member) -> Lease | None:
    """The lease of somebody else on the pair, if it is in force."""
    return (
        Lease.objects.select_related("holder")
        .filter(pair=pair, expires_at__gt=timezone.now())
        .exclude(holder=member)
        .first()
    )

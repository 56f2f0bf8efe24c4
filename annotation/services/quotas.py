"""How many queries of a round one annotator may take.

A quota counts queries, those that everybody judges included. These are always open to everybody;
what a quota limits are the others, which are split: at most the quota less the shared ones. A
quota set by hand is never exceeded. A fair share gives way for a query that nobody who is still
below their share could take, so that the last places of a round do not stay empty.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q, QuerySet
from django.utils import timezone

from annotation import statements
from annotation.models import Claim
from annotation.services.offers import OpenQueries, read_value
from studies.models import Member, Quota, Round, RoundQuery
from studies.rows import prepared_cursor


@dataclass(frozen=True, slots=True)
class Allowed:
    """`keys` of round queries may be tried, in this order; `pairs` is how many pairs the
    annotator can expect to judge of them, as far as the quota goes."""

    keys: Iterable[int]
    pairs: int


def list_allowed(*, round: Round, annotator: Member, offered: OpenQueries) -> Allowed:
    """Of the queries offered, those within the annotator's quota."""
    quota = read_quota(statements.QUOTA, round.pk, annotator)
    if quota is None:
        return Allowed(offered, offered.count_pairs())
    shared = set(
        RoundQuery.objects.filter(round=round, annotators__isnull=True).values_list("pk", flat=True)
    )
    keys, sizes = list(offered), offered.sizes
    split = [key for key in keys if key not in shared]
    left = count_allowance(quota)
    if left > 0:
        expected = shared.union(split[:left])
        return Allowed(keys, sum(sizes[key] for key in keys if key in expected))
    remains = shared | list_left_over(quota, split)
    keys = [key for key in keys if key in remains]
    return Allowed(keys, sum(sizes[key] for key in keys))


def is_within_quota(round_query: RoundQuery, annotator: Member) -> bool:
    """Whether the annotator may take this locked row, told under a lock of their quota: two tabs
    of one person never take more together than one would."""
    if round_query.annotators is None:
        return True
    quota = read_quota(statements.LOCK_QUOTA, round_query.round_id, annotator)
    if quota is None or count_allowance(quota) > 0:
        return True
    return bool(list_left_over(quota, [round_query.pk]))


def read_quota(statement: str, round_id: int, annotator: Member) -> Quota | None:
    with prepared_cursor() as cursor:
        cursor.execute(statement, {"round": round_id, "annotator": annotator.pk})
        row = cursor.fetchone()
    return statements.QUOTA_ROW.build(row) if row else None


def count_allowance(quota: Quota) -> int:
    """How many split queries the annotator may still take; below 0 where the plan has shrunk."""
    queries = RoundQuery.objects.filter(round=quota.round_id)
    shared = queries.filter(annotators__isnull=True).count()
    taken = list_places(quota.round_id).filter(annotator=quota.member_id).count()
    return quota.queries - shared - taken


def list_places(round_id: int) -> QuerySet[Claim]:
    """The claims in force on the round's split queries."""
    return Claim.objects.filter(
        Q(state=Claim.State.FINISHED) | Q(state=Claim.State.HELD, expires_at__gt=timezone.now()),
        round_query__round=round_id,
        round_query__annotators__isnull=False,
    )


def list_left_over(quota: Quota, keys: Sequence[int]) -> set[int]:
    """Of these split queries, those that nobody else below their quota could take, and which a fair
    share (no quota set by hand) gives way for. The progress page counts by the same rule."""
    found = read_value(
        statements.LEFT_OVER,
        rounds=[quota.round_id],
        annotator=quota.member_id,
        keys=list(keys),
        now=timezone.now(),
    )
    return set(found)

"""Taking places back: one that is held for too long, or those of many queries at once."""

from collections import defaultdict
from collections.abc import Collection, Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from annotation.assigned import is_assigned
from annotation.models import Claim
from studies.models import Member, Round, RoundQuery, Study, User
from studies.services.log import record_action


class RoundClosed(Exception):
    """The round takes no labels any more; nothing was changed."""


@transaction.atomic
def release_claims(*, study: Study, claim_ids: Collection[int], user: User) -> int:
    """End holds: their places are free, labels are kept, and who comes back may take the place
    again if it is still free. A place whose pairs were given to its holder waits for nobody else.
    Returns how many were held; finished ones are left alone."""
    wanted = Claim.objects.filter(pk__in=claim_ids, round_query__round__study=study)
    lock_rows(wanted.values_list("round_query", flat=True))
    held = list(
        wanted.filter(state=Claim.State.HELD)
        .select_related("annotator", "round_query__round", "round_query__query")
        .order_by("pk")
    )
    for claim in held:
        record_action(
            study,
            "claim.released",
            user=user,
            member=claim.annotator,
            data={
                "round": claim.round_query.round.name,
                "query": claim.round_query.query.external_id,
                "annotator": claim.annotator.name,
            },
        )
    Claim.objects.filter(pk__in=[claim.pk for claim in held]).update(
        state=Claim.State.LAPSED, slot=None, expires_at=timezone.now()
    )
    return len(held)


@transaction.atomic
def requeue_queries(
    *,
    round: Round,
    round_query_ids: Collection[int],
    user: User,
    annotator: Member | None = None,
) -> int:
    """Give these queries to others: everybody's places on them (or the annotator's only) are
    free, and who had them is not offered them again. Queries for which there are no others (see
    `list_transferable`) are left as they are.

    Labels are kept, and count until others have finished every place; then they are surplus.
    Returns the number of places freed. Raises RoundClosed.
    """
    rows = lock_rows(
        RoundQuery.objects.filter(round=round, pk__in=round_query_ids).values_list("pk", flat=True)
    )
    if Round.objects.get(pk=round.pk).closed_at is not None:
        raise RoundClosed
    taken_over = list_transferable(round).filter(pk__in=rows)
    in_force = Claim.objects.filter(round_query__in=taken_over, slot__isnull=False)
    if annotator is not None:
        in_force = in_force.filter(annotator=annotator)
    holders: dict[str, list[str]] = defaultdict(list)
    places = in_force.order_by("round_query", "slot")
    for query, name in places.values_list("round_query__query__external_id", "annotator__name"):
        holders[query].append(name)
    freed = in_force.update(state=Claim.State.RELEASED, slot=None)
    data = {"round": round.name, "queries": dict(holders)}
    record_action(round.study, "queries.requeued", user=user, data=data)
    return freed


def list_transferable(round: Round) -> QuerySet[RoundQuery]:
    """The queries of the round that others could take over: not those that everybody judges, and
    none where single pairs are given to single people."""
    if is_assigned(round):
        return RoundQuery.objects.none()
    return RoundQuery.objects.filter(round=round, annotators__isnull=False)


def lock_rows(keys: Iterable[int]) -> list[int]:
    """Lock rows of RoundQuery in the order of their keys, as everybody does who locks several."""
    rows = RoundQuery.objects.select_for_update().filter(pk__in=list(keys)).order_by("pk")
    return list(rows.values_list("pk", flat=True))

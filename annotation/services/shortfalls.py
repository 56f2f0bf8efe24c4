"""Counting a query of a closed round with what it has: who never finished it is taken off."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet

from annotation.models import Claim, Judgment
from annotation.services.claims import count_label_changes, recount_surplus
from annotation.services.plans import renumber_places
from annotation.services.releases import lock_rows
from studies.models import Member, Pair, RoundQuery
from studies.services.log import record_action


@transaction.atomic
def count_without_missing(
    *, round_queries: Collection[int], annotators: int, by: Member, reason: str
) -> None:
    """Let a query of closed rounds (keys of its rows there) be for so many annotators, if it was
    for more. Who has not labelled every pooled pair of it there loses their place; their labels
    are kept, and are surplus once others have finished every place that is left. Nothing happens
    to a row of a round that is open: what is missing there can still be given.
    """
    rows = RoundQuery.objects.select_related("round", "query").filter(
        pk__in=lock_rows(round_queries), round__closed_at__isnull=False
    )
    for row in rows.order_by("pk"):
        planned = row.annotators or row.round.team_size or 1
        if planned > annotators:
            _lower(row, planned, annotators, by=by, reason=reason)


def _lower(row: RoundQuery, planned: int, annotators: int, *, by: Member, reason: str) -> None:
    unfinished = _list_unfinished(row)
    taken_off = list(
        unfinished.order_by("annotator__name").values_list("annotator__name", flat=True)
    )
    unfinished.filter(slot__isnull=False).update(state=Claim.State.RELEASED, slot=None)
    renumber_places(row.pk)
    row.annotators = annotators
    row.save(update_fields=["annotators"])
    count_label_changes(recount_surplus(row))
    record_action(
        by.study,
        "query.counted_without",
        user=by.user,
        member=by,
        data={
            "round": row.round.name,
            "query": row.query.external_id,
            "from": planned,
            "to": annotators,
            "taken_off": taken_off,
            "reason": reason,
        },
    )


def _list_unfinished(row: RoundQuery) -> QuerySet[Claim]:
    """Claims on the query of those who lack a label of a pooled pair of it."""
    own = Judgment.objects.filter(
        round=row.round_id, pair=OuterRef("pk"), annotator=OuterRef(OuterRef("annotator"))
    )
    pooled = Pair.objects.filter(query=row.query_id, pool_rank__isnull=False)
    return Claim.objects.filter(Exists(pooled.exclude(Exists(own))), round_query=row)

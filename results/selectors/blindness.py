"""Who may not see results yet, because they are still to judge blind."""

from collections.abc import Collection

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.models import Claim
from studies.models import Member, Pair, Role, Round, RoundQuery


def list_unfinished_rounds(member: Member) -> list[str]:
    """Names of the open rounds in which this member, as an annotator, holds a query or could
    still be given one."""
    if not member.has_role(Role.ANNOTATOR):
        return []
    rounds = Round.objects.filter(
        study=member.study_id, closed_at__isnull=True, opens_at__lte=timezone.now()
    )
    own = Claim.objects.filter(round_query=OuterRef("pk"), annotator=member)
    held = own.filter(state=Claim.State.HELD, expires_at__gt=timezone.now())
    queries = RoundQuery.objects.filter(round=OuterRef("pk"))
    unfinished = rounds.filter(
        Exists(queries.filter(Exists(held))) | Exists(_with_a_free_place(queries, own))
    )
    return list(unfinished.order_by("position", "pk").values_list("name", flat=True))


def _with_a_free_place(queries: QuerySet[RoundQuery], own: QuerySet[Claim]) -> QuerySet[RoundQuery]:
    """The queries that hold pairs, that the member has not taken, and that not enough have.

    A hold that has run out is no place taken, also while nobody has noticed yet.
    """
    run_out = Q(state=Claim.State.HELD, expires_at__lte=timezone.now())
    in_force = Q(claims__state=Claim.State.FINISHED) | Q(
        claims__state=Claim.State.HELD, claims__expires_at__gt=timezone.now()
    )
    return (
        queries.filter(Exists(Pair.objects.filter(query=OuterRef("query"))))
        .exclude(Exists(own.exclude(run_out | Q(state=Claim.State.LAPSED))))
        .annotate(taken=Count("claims", filter=in_force))
        .filter(Q(annotators__isnull=True) | Q(taken__lt=F("annotators")))
    )


def find_blinding_rounds(member: Member, shown: Collection[Round]) -> list[str]:
    """Names of the unfinished rounds for whose sake these rounds' results stay hidden.

    A relabel round asks for the same pairs again, so it hides the results of every round.
    """
    unfinished = list_unfinished_rounds(member)
    if not unfinished:
        return []
    names = {round.name for round in shown}
    relabel = set(
        Round.objects.filter(
            study=member.study_id, kind=Round.Kind.RELABEL, name__in=unfinished
        ).values_list("name", flat=True)
    )
    return [name for name in unfinished if name in names or name in relabel]

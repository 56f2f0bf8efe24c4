"""Who may not see results yet, because they are still to judge blind."""

from collections.abc import Collection

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from annotation.holds import has_ended
from annotation.models import Claim, Judgment, RoundAssignment
from studies.models import Member, Pair, Role, Round, RoundQuery, Unblinding

# Rounds that give pairs back to who has labelled them before.
GIVING_BACK = (Round.Kind.RELABEL, Round.Kind.RECHECK)


def list_unfinished_rounds(member: Member) -> list[str]:
    """Names of the open rounds in which this member, as an annotator, holds a query or could
    still be given one, and of those to come whose pairs are theirs already.

    A judge sees nothing of a round to come; but who may read results sees that it is planned, and
    would read what others say of the pairs that are to come back to them.
    """
    if not member.has_role(Role.ANNOTATOR):
        return []
    given = RoundAssignment.objects.filter(round=OuterRef("pk"), annotator=member)
    rounds = Round.objects.filter(
        Q(opens_at__lte=timezone.now()) | Q(Exists(given)),
        study=member.study_id,
        closed_at__isnull=True,
    )
    own = Claim.objects.filter(round_query=OuterRef("pk"), annotator=member)
    held = own.filter(state=Claim.State.HELD, expires_at__gt=timezone.now())
    queries = RoundQuery.objects.filter(round=OuterRef("pk"))
    unfinished = rounds.filter(
        Exists(queries.filter(Exists(held))) | Exists(_with_a_free_place(queries, own, member))
    )
    return list(unfinished.order_by("position", "pk").values_list("name", flat=True))


def _with_a_free_place(
    queries: QuerySet[RoundQuery], own: QuerySet[Claim], member: Member
) -> QuerySet[RoundQuery]:
    """The queries that hold pairs, that the member has not taken, and that not enough have.

    In a round that gives single pairs to single people only queries with pairs of the member
    count.
    """
    given = RoundAssignment.objects.filter(round=OuterRef("round"))
    to_member = given.filter(annotator=member, pair__query=OuterRef("query"))
    in_force = Q(claims__state=Claim.State.FINISHED) | Q(
        claims__state=Claim.State.HELD, claims__expires_at__gt=timezone.now()
    )
    return (
        queries.filter(Exists(Pair.objects.filter(query=OuterRef("query"))))
        .filter(~Exists(given) | Exists(to_member))
        .exclude(Exists(own.exclude(has_ended())))
        .annotate(taken=Count("claims", filter=in_force))
        .filter(Q(annotators__isnull=True) | Q(taken__lt=F("annotators")))
    )


def find_blinding_rounds(member: Member, shown: Collection[Round]) -> list[str]:
    """Names of the unfinished rounds for whose sake these rounds' results stay hidden.

    A relabel or recheck round asks for the same pairs again, so it hides the results of every
    round. A main round hides, beside its own, those of other rounds that hold a query of it; a
    calibration is compared by everybody before the main round begins, and stays open to them.
    There is none where the study lets those read who still judge (`judges_read_results`).
    """
    if member.study.judges_read_results:
        return []
    unfinished = list_unfinished_rounds(member)
    if not unfinished:
        return []
    blinding = _select_touched(member, shown).filter(name__in=unfinished)
    return list(blinding.order_by("position", "pk").values_list("name", flat=True))


def list_blind_rounds(member: Member, shown: Collection[Round]) -> list[Round]:
    """The rounds of which these rounds' results tell, that are not closed, that this member has so
    far judged blind and that could give them pairs: where pairs go to single people, those with
    some of theirs. Rounds to come count where they hold pairs of theirs already, or queries that
    others have labelled, as by an import."""
    given = RoundAssignment.objects.filter(round=OuterRef("pk"))
    to_member = Exists(given.filter(annotator=member))
    told = Judgment.objects.filter(
        round__in=shown, pair__query__round_queries__round=OuterRef("pk")
    ).exclude(annotator=member)
    opened = _select_touched(member, shown).filter(
        to_member | (~Exists(given) & (Q(opens_at__lte=timezone.now()) | Exists(told))),
        ~Exists(Unblinding.objects.filter(round=OuterRef("pk"), member=member)),
        closed_at__isnull=True,
    )
    return list(opened.order_by("position", "pk"))


def list_unblinded_rounds(member: Member) -> list[str]:
    """Names of the rounds, not closed yet, that this annotator judges no longer blind."""
    unblinded = Round.objects.filter(unblindings__member=member, closed_at__isnull=True)
    return list(unblinded.order_by("position", "pk").values_list("name", flat=True))


def has_labels_of_others(member: Member, rounds: Collection[Round]) -> bool:
    """Whether anybody but this member has a label in one of the rounds."""
    labels = Judgment.objects.filter(annotator=OuterRef("pk"), round__in=[r.pk for r in rounds])
    others = Member.objects.filter(study=member.study_id).exclude(pk=member.pk)
    return others.filter(Exists(labels)).exists()


def _select_touched(member: Member, shown: Collection[Round]) -> QuerySet[Round]:
    """The rounds of the study whose judging these rounds' results touch, themselves included."""
    compared = [round for round in shown if round.kind != Round.Kind.CALIBRATION]
    again = RoundQuery.objects.filter(round__in=compared, query=OuterRef("query"))
    shared = RoundQuery.objects.filter(Exists(again), round=OuterRef("pk"))
    return Round.objects.filter(
        Q(pk__in=[round.pk for round in shown])
        | Q(kind__in=GIVING_BACK)
        | Q(Exists(shared), kind=Round.Kind.MAIN),
        study=member.study_id,
    )

"""Rounds that give single pairs to single people, as a recheck does."""

from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation.models import Judgment, RoundAssignment
from studies.models import Member, Round, RoundQuery

ASSIGNED_KINDS = (Round.Kind.RECHECK, Round.Kind.RELABEL)


def is_assigned(round: Round) -> bool:
    """Whether the round gives out single pairs; other kinds of rounds are not even asked."""
    if round.kind not in ASSIGNED_KINDS:
        return False
    return RoundAssignment.objects.filter(round=round).exists()


def may_be_given(round_query: RoundQuery, annotator: Member) -> bool:
    """Whether the annotator may judge of the query: where single pairs are given to single people,
    only who has some of it."""
    if not is_assigned(round_query.round):
        return True
    own = RoundAssignment.objects.filter(round=round_query.round_id, annotator=annotator)
    return own.filter(pair__query=round_query.query_id).exists()


def leave_out_judged_anew(labels: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Labels without those whose pair their annotator is to judge anew, blind, in an open round.

    They stay out of reach until that round is closed, also once the pair has been judged there:
    the new label can still be revised, and would no longer be blind. Before the round opens they
    are as they were: what is missing would tell which pairs it is going to bring back.
    """
    anew = RoundAssignment.objects.filter(
        pair=OuterRef("pair"),
        annotator=OuterRef("annotator"),
        round__closed_at__isnull=True,
        round__opens_at__lte=timezone.now(),
    ).exclude(round=OuterRef("round"))
    return labels.exclude(Exists(anew))

"""What an annotator holds, and what they have done."""

import uuid
from datetime import datetime

from django.db.models import Exists, Min, OuterRef, QuerySet, Subquery
from django.utils import timezone

from annotation.assigned import leave_out_judged_anew
from annotation.desk import read_desks
from annotation.holds import has_ended
from annotation.models import Claim, Judgment, RoundAssignment
from annotation.services.claims import LASTING_HOLD
from annotation.services.quotas import count_allowance
from studies.models import Grade, Member, Pair, Quota
from studies.selectors import list_open_rounds


def get_pair(pair_id: int) -> Pair:
    """A pair with all that is shown of it."""
    return Pair.objects.select_related("query__query_class", "document__body").get(pk=pair_id)


def count_left(annotator: Member) -> int:
    """Pairs still to be had in open rounds, as of the annotator's latest claims: those of held
    queries without a label, and those of queries that could be taken."""
    return sum(desk.left for desk in read_desks(annotator))


def count_own_labels(annotator: Member) -> int:
    """Labels this annotator has given here in rounds that are open; imported ones are not among
    them."""
    return Judgment.objects.filter(
        annotator=annotator, round__closed_at__isnull=True, source=Judgment.Source.APP
    ).count()


def get_latest_label_id(annotator: Member) -> str:
    """Public id of the label that "back" would take back, "" where there is none."""
    own = Judgment.objects.filter(annotator=annotator, source=Judgment.Source.APP)
    latest = (
        leave_out_judged_anew(own)
        .order_by("-pk")
        .values_list("public_id", "round__closed_at")
        .first()
    )
    return str(latest[0]) if latest and latest[1] is None else ""


def find_when_held_queries_free(annotator: Member) -> datetime | None:
    """When the first hold of somebody else on a query of an open round runs out, if there is
    one that this annotator could then take."""
    own = Claim.objects.filter(round_query=OuterRef("round_query"), annotator=annotator)
    assigned = RoundAssignment.objects.filter(round=OuterRef("round_query__round"))
    held = Claim.objects.filter(
        round_query__round__in=list_open_rounds(annotator.study),
        round_query__annotators__isnull=False,
        state=Claim.State.HELD,
        expires_at__gt=timezone.now(),
        expires_at__lt=timezone.now() + LASTING_HOLD / 2,
    ).exclude(Exists(assigned))
    frees_at: datetime | None = (
        held.exclude(annotator=annotator)
        .exclude(Exists(own.exclude(has_ended())))
        .aggregate(first=Min("expires_at"))["first"]
    )
    return frees_at


def has_judged_own_share(annotator: Member) -> bool:
    """Whether a quota keeps further queries of an open round from this annotator."""
    quotas = Quota.objects.filter(round__in=list_open_rounds(annotator.study), member=annotator)
    return any(count_allowance(quota) <= 0 for quota in quotas)


def list_own_labels(annotator: Member) -> QuerySet[Judgment]:
    """The annotator's labels, latest first, with what the list of them shows: a grade by the name
    (`grade_name`) that it has in the label's own version, for a later one may have retired it.
    Those of pairs that they are to judge anew, blind, come back once the round of that is closed.
    """
    given = Grade.objects.filter(rubric_version=OuterRef("rubric_version"), value=OuterRef("grade"))
    return (
        leave_out_judged_anew(Judgment.objects.filter(annotator=annotator))
        .select_related(
            "pair__query", "pair__document", "round", "rubric_version", "decided_by", "clause"
        )
        .annotate(grade_name=Subquery(given.values("name")))
        .order_by("-pk")
    )


def get_own_label(annotator: Member, public_id: uuid.UUID) -> Judgment | None:
    return (
        leave_out_judged_anew(
            Judgment.objects.filter(
                annotator=annotator, public_id=public_id, source=Judgment.Source.APP
            )
        )
        .select_related(
            "round",
            "pair__query__query_class",
            "pair__document__body",
            "decided_by",
            "clause",
        )
        .first()
    )

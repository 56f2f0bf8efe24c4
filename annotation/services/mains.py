"""Opening a main round: the queries of the pool that wait for one."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Exists, OuterRef
from django.utils.translation import gettext as _

from annotation.models import Judgment
from annotation.services.assignments import BATCH, add_round
from studies.models import Member, Query, Round, RoundQuery, RubricVersion, Study
from studies.selectors import find_rubric_in_force
from studies.services.log import record_action

NAME = "main"


class MainRefused(Exception):
    """No round was opened, for a reason that an admin can act on."""


@dataclass(frozen=True, slots=True)
class MainPlan:
    """The queries (keys) that a main round would have, with their number of pairs."""

    queries: Sequence[int]
    pairs: int
    rubric_version: RubricVersion | None


def plan_main(study: Study) -> MainPlan:
    """Every query that has pairs and is in no main round, or only in closed ones that have no
    label of it."""
    judged = RoundQuery.objects.filter(
        query=OuterRef("pk"), round__kind=Round.Kind.MAIN, round__closed_at__isnull=True
    )
    labelled = Judgment.objects.filter(pair__query=OuterRef("pk"), round__kind=Round.Kind.MAIN)
    rows = (
        Query.objects.filter(study=study)
        .exclude(Exists(judged))
        .exclude(Exists(labelled))
        .annotate(size=Count("pairs"))
        .filter(size__gt=0)
        .order_by("pk")
        .values_list("pk", "size")
    )
    return MainPlan(
        queries=[key for key, _size in rows],
        pairs=sum(size for _key, size in rows),
        rubric_version=find_rubric_in_force(study),
    )


@transaction.atomic
def open_main(
    *, study: Study, annotators: int, by: Member, opens_at: datetime | None = None
) -> Round:
    """Open the round that `plan_main` shows, for so many annotators a query, under the newest
    version; at the time given, or now. Its plan says more. Raises MainRefused."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    plan = plan_main(study)
    if reason := find_obstacle(plan):
        raise MainRefused(reason)
    assert plan.rubric_version is not None
    round = add_round(
        study,
        NAME,
        kind=Round.Kind.MAIN,
        rubric_version=plan.rubric_version,
        opens_at=opens_at,
    )
    RoundQuery.objects.bulk_create(
        (RoundQuery(round=round, query_id=query, annotators=annotators) for query in plan.queries),
        batch_size=BATCH,
    )
    record_action(
        study,
        "main.opened",
        user=by.user,
        member=by,
        data={
            "round": round.name,
            "rubric_version": plan.rubric_version.number,
            "queries": len(plan.queries),
            "pairs": plan.pairs,
            "annotators_per_query": annotators,
            "opens_at": round.opens_at.isoformat(),
        },
    )
    return round


def find_obstacle(plan: MainPlan) -> str:
    """Why the round cannot be opened, "" where it can."""
    if plan.rubric_version is None:
        return _("The rubric has no published version yet: nothing can be judged under it.")
    if not plan.queries:
        return _("No query waits for a main round.")
    return ""

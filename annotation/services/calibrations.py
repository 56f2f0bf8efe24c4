"""Opening a calibration round: a few queries that everybody judges and nobody has met."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.utils.translation import gettext as _

from annotation.models import Claim, Judgment
from annotation.planning import choose_shared
from annotation.services.assignments import add_round
from studies.models import Member, Pair, Query, Role, Round, RoundQuery, RubricVersion, Study
from studies.selectors import find_rubric_in_force
from studies.services.log import record_action
from studies.services.rubrics import list_published_examples

NAME = "calibration"


class CalibrationRefused(Exception):
    """No round was opened, for a reason that an admin can act on."""


@dataclass(frozen=True, slots=True)
class CalibrationPlan:
    """The queries (keys) that a calibration round would have, out of `available` new ones;
    `classes` counts them by class ("" for none); `pairs` is what each of the `team` (names)
    judges."""

    queries: tuple[int, ...]
    available: int
    classes: Mapping[str, int]
    pairs: int
    team: Sequence[str]
    rubric_version: RubricVersion | None
    open_round: str


def plan_calibration(study: Study, count: int) -> CalibrationPlan:
    """Choose `count` new queries, each class by its share, the same each time it is asked."""
    team = dict(_list_team(study).order_by("name").values_list("pk", "name"))
    rows = {
        str(public_id): (key, name or "")
        for key, public_id, name in _list_new_queries(study, list(team))
    }
    chosen = choose_shared(
        {item: name for item, (_key, name) in rows.items()},
        count,
        seed=study.seed,
        round_id=f"{NAME}-{study.rounds.count()}",
    )
    found = [rows[item] for item in sorted(chosen)]
    open_rounds = study.rounds.filter(kind=Round.Kind.CALIBRATION, closed_at__isnull=True)
    keys = [key for key, _name in found]
    return CalibrationPlan(
        queries=tuple(keys),
        available=len(rows),
        classes=dict(sorted(Counter(name for _key, name in found).items())),
        pairs=Pair.objects.filter(query__in=keys).count(),
        team=list(team.values()),
        rubric_version=find_rubric_in_force(study),
        open_round=open_rounds.values_list("name", flat=True).first() or "",
    )


def _list_team(study: Study) -> QuerySet[Member]:
    return Member.objects.filter(
        study=study, is_active=True, roles__contains=[Role.ANNOTATOR.value]
    )


def _list_new_queries(study: Study, team: Sequence[int]) -> list[tuple[int, object, str | None]]:
    """Queries with pairs that none of those who judge (keys) has met: not in a calibration round,
    with no label of theirs, held by none of them, and not used as an example in the rubric."""
    calibrated = RoundQuery.objects.filter(query=OuterRef("pk"), round__kind=Round.Kind.CALIBRATION)
    labelled = Judgment.objects.filter(pair__query=OuterRef("pk"), annotator__in=team)
    held = Claim.objects.filter(
        round_query__query=OuterRef("pk"), slot__isnull=False, annotator__in=team
    )
    queries = (
        Query.objects.filter(study=study)
        .exclude(Exists(calibrated))
        .exclude(Exists(labelled))
        .exclude(Exists(held))
        .exclude(pk__in=_list_example_queries(study))
        .filter(Exists(Pair.objects.filter(query=OuterRef("pk"))))
        .order_by("pk")
    )
    return list(queries.values_list("pk", "public_id", "query_class__name"))


def _list_example_queries(study: Study) -> set[int]:
    """Queries of which a pair stands in the rubric as an example."""
    examples = list_published_examples(study)
    names = {query for query, _document in examples}
    rows = Pair.objects.filter(
        Q(query__external_id__in=names) | Q(query__text__in=names), study=study
    ).values_list(
        "query",
        "query__external_id",
        "query__text",
        "document__external_id",
        "document__title",
    )
    return {
        key
        for key, query_id, text, document_id, title in rows
        if any((q, d) in examples for q in (query_id, text) for d in (document_id, title))
    }


@transaction.atomic
def open_calibration(
    *, study: Study, count: int, by: Member, opens_at: datetime | None = None
) -> Round:
    """Open the round that `plan_calibration` shows, for everybody, under the newest version; at
    the time given, or now.

    Raises CalibrationRefused where one is open already, or there is nothing to judge or nobody
    to compare.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    plan = plan_calibration(study, count)
    if reason := find_obstacle(plan):
        raise CalibrationRefused(reason)
    assert plan.rubric_version is not None
    round = add_round(
        study,
        NAME,
        kind=Round.Kind.CALIBRATION,
        rubric_version=plan.rubric_version,
        opens_at=opens_at,
    )
    RoundQuery.objects.bulk_create(
        RoundQuery(round=round, query_id=query, annotators=None) for query in plan.queries
    )
    record_action(
        study,
        "calibration.opened",
        user=by.user,
        member=by,
        data={
            "round": round.name,
            "rubric_version": plan.rubric_version.number,
            "queries": len(plan.queries),
            "pairs": plan.pairs,
            "opens_at": round.opens_at.isoformat(),
        },
    )
    return round


def find_obstacle(plan: CalibrationPlan) -> str:
    """Why the round cannot be opened, "" where it can."""
    if plan.rubric_version is None:
        return _("The rubric has no published version yet: nothing can be judged under it.")
    if plan.open_round:
        return _("“%(round)s” is still open: compare it first, which closes it.") % {
            "round": plan.open_round
        }
    if len(plan.team) < 2:
        return _("A calibration compares people: at least two are to annotate.")
    if not plan.queries:
        return _("There is no query left that nobody of those who judge has met.")
    return ""

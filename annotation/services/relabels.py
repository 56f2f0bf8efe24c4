"""Opening a relabel round: everybody judges some of their own pairs again, blind."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.utils.translation import gettext as _

from annotation.models import CarriedLabel, RoundAssignment
from annotation.services.assignments import add_round, assign_pairs
from annotation.shuffle import Shuffler
from annotation.usage import list_current_labels
from studies.models import Member, Role, Round, RubricVersion, Study
from studies.selectors import find_rubric_in_force
from studies.services.log import record_action

NAME = "relabel"


class RelabelRefused(Exception):
    """No round was opened, for a reason that an admin can act on."""


@dataclass(frozen=True, slots=True)
class OwnPair:
    """A pair that its annotator judges again (keys); `name` is the annotator's."""

    pair: int
    query: int
    annotator: int
    name: str


@dataclass(frozen=True, slots=True)
class RelabelPlan:
    """What a relabel round would give back, and to whom: `loads` counts pairs by name."""

    given: Sequence[OwnPair]
    loads: Mapping[str, int]
    rubric_version: RubricVersion | None
    open_round: str


def plan_relabel(study: Study, each: int) -> RelabelPlan:
    """Choose up to `each` pairs of every annotator among those they have graded under the version
    in force, or under one from which the label was carried to it: judged under another rubric a
    pair is no repetition. The same each time it is asked."""
    version = find_rubric_in_force(study)
    own: dict[tuple[int, str], dict[str, OwnPair]] = defaultdict(dict)
    if version is not None:
        for pair, query, annotator, name, query_id, doc_id in _list_labels(study, version):
            own[annotator, name][f"{query_id}\0{doc_id}"] = OwnPair(pair, query, annotator, name)
    given: list[OwnPair] = []
    for (_key, name), pairs in sorted(own.items(), key=lambda one: one[0][1]):
        shuffler = Shuffler(study.seed, f"{NAME}-{study.rounds.count()}", name)
        given += [pairs[item] for item in shuffler.shuffle(pairs)[:each]]
    open_rounds = study.rounds.filter(kind=Round.Kind.RELABEL, closed_at__isnull=True)
    return RelabelPlan(
        given=given,
        loads=Counter(one.name for one in given),
        rubric_version=version,
        open_round=open_rounds.values_list("name", flat=True).first() or "",
    )


def _list_labels(
    study: Study, version: RubricVersion
) -> Sequence[tuple[int, int, int, str, str, str]]:
    """Current grades of people who can judge again, given under the version or carried to it,
    of pairs that no open round gives back to them already."""
    carried = CarriedLabel.objects.filter(judgment=OuterRef("pk"), rubric_version=version)
    waiting = RoundAssignment.objects.filter(
        pair=OuterRef("pair"), annotator=OuterRef("annotator"), round__closed_at__isnull=True
    ).exclude(round=OuterRef("round"))
    labels = (
        list_current_labels(study)
        .filter(
            Q(rubric_version=version) | Q(Exists(carried)),
            grade__isnull=False,
            annotator__is_active=True,
            annotator__user__isnull=False,
            annotator__roles__contains=[Role.ANNOTATOR.value],
        )
        .exclude(Exists(waiting))
        .order_by("pk")
    )
    return list(
        labels.values_list(
            "pair",
            "pair__query",
            "annotator",
            "annotator__name",
            "pair__query__external_id",
            "pair__document__external_id",
        )
    )


@transaction.atomic
def open_relabel(*, study: Study, each: int, by: Member, opens_at: datetime | None = None) -> Round:
    """Open the round that `plan_relabel` shows, at the time given, or now. From then on old labels
    are out of their annotators' reach; what is given there feeds self-agreement only.

    Raises RelabelRefused where one is open already, or nobody has labels to give again.
    """
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    plan = plan_relabel(study, each)
    if reason := find_obstacle(plan):
        raise RelabelRefused(reason)
    assert plan.rubric_version is not None
    round = add_round(
        study,
        NAME,
        kind=Round.Kind.RELABEL,
        rubric_version=plan.rubric_version,
        opens_at=opens_at,
    )
    assign_pairs(round, plan.given)
    record_action(
        study,
        "relabel.opened",
        user=by.user,
        member=by,
        data={
            "round": round.name,
            "rubric_version": plan.rubric_version.number,
            "pairs": dict(plan.loads),
            "opens_at": round.opens_at.isoformat(),
        },
    )
    return round


def find_obstacle(plan: RelabelPlan) -> str:
    """Why the round cannot be opened, "" where it can."""
    if plan.open_round:
        return _("“%(round)s” is still open: close it first.") % {"round": plan.open_round}
    if not plan.given:
        return _("Nobody who judges here has labels under the version in force to be given again.")
    return ""

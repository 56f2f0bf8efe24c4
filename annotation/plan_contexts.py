"""What the preview of a plan shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.progress.counts import Labels, count_labels
from annotation.progress.pace import count_hours, measure_pace
from annotation.services.plans import Load, Plan


@dataclass(frozen=True, slots=True)
class LoadRow:
    name: str
    queries: int
    pairs: int
    labelled: int
    hours_left: float
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class ClassRow:
    name: str
    shared: int
    queries: int


@dataclass(frozen=True, slots=True)
class PlanPreview:
    shared: int
    split: int
    per_query: int
    unfilled: int
    pace: float
    loads: Sequence[LoadRow]
    classes: Sequence[ClassRow]
    pairs: int
    labelled: int
    hours_left: float


def show_plan(plan: Plan) -> PlanPreview:
    """The plan with everybody's load in pairs, how many of them are labelled and, at the study's
    pace, how many hours the others take."""
    counts = count_labels(plan.round.study)
    pace = measure_pace(counts.values())
    loads = [
        lay_out_load(load, counts.get((plan.round.pk, load.member.pk)), pace) for load in plan.loads
    ]
    return PlanPreview(
        shared=len(plan.shared),
        split=len(plan.split),
        per_query=plan.per_query,
        unfilled=plan.unfilled,
        pace=pace,
        loads=loads,
        classes=[ClassRow(name, *numbers) for name, numbers in plan.classes.items()],
        pairs=round(sum(load.pairs for load in plan.loads)),
        labelled=sum(load.labelled for load in loads),
        hours_left=sum(load.hours_left for load in loads),
    )


def lay_out_load(load: Load, given: Labels | None, pace: float) -> LoadRow:
    """Labels set aside as surplus leave their pairs to be judged."""
    labelled = given.labels - given.surplus if given else 0
    return LoadRow(
        name=load.member.name,
        queries=load.queries,
        pairs=round(load.pairs),
        labelled=labelled,
        hours_left=count_hours(max(load.pairs - labelled, 0), pace),
        is_fixed=load.is_fixed,
    )

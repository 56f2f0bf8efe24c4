"""What the preview of a plan shows."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.progress.counts import count_labels
from annotation.progress.pace import count_hours, measure_pace
from annotation.services.plans import Plan


@dataclass(frozen=True, slots=True)
class LoadRow:
    name: str
    queries: int
    pairs: int
    hours: float
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
    hours: float


def show_plan(plan: Plan) -> PlanPreview:
    """The plan with everybody's load in pairs and, at the study's pace, in hours."""
    pace = measure_pace(count_labels(plan.round.study).values())
    pairs = sum(load.pairs for load in plan.loads)
    return PlanPreview(
        shared=len(plan.shared),
        split=len(plan.split),
        per_query=plan.per_query,
        unfilled=plan.unfilled,
        pace=pace,
        loads=[
            LoadRow(
                name=load.member.name,
                queries=load.queries,
                pairs=round(load.pairs),
                hours=count_hours(load.pairs, pace),
                is_fixed=load.is_fixed,
            )
            for load in plan.loads
        ],
        classes=[ClassRow(name, *numbers) for name, numbers in plan.classes.items()],
        pairs=round(pairs),
        hours=count_hours(pairs, pace),
    )

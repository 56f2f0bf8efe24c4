"""What the page shows of the labels that a change of the rubric touches."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from results.services.rechecks import Touched, TouchedBy, find_touched
from results.wording import as_count, as_duration
from studies.models import Member, RubricVersion, Study
from studies.rubric_contexts import ShownChange, show_change
from studies.rubric_diff import EdgeCaseChange, GradeChange


@dataclass(frozen=True, slots=True)
class ChangeRow:
    key: str
    shown: ShownChange
    labels: str
    pairs: str
    is_chosen: bool
    reaches_all: bool
    """Whether it is bound to no class and no dimension, so that it may concern any label."""


@dataclass(frozen=True, slots=True)
class LoadRow:
    name: str
    pairs: str
    time: str


@dataclass(frozen=True, slots=True)
class RecheckPage:
    """`pace` is the time that a pair takes, as a text like `time`.

    `can_open` is false where no pair would be given back, `can_carry` where no label would be
    carried forward even if those were kept whose annotator cannot judge.
    """

    study: Study
    number: int
    numbers: Sequence[int]
    changes: Sequence[ChangeRow]
    load: Sequence[LoadRow]
    labels: int
    pairs: int
    time: str
    pace: str
    untouched: int
    kept: int
    examples: int
    not_asked: int
    given_back: int
    valid: int
    can_open: bool
    can_carry: bool
    keeps_not_asked: bool


def show_recheck(
    study: Study,
    version: RubricVersion,
    chosen: Collection[str] | None,
    *,
    keep_not_asked: bool = False,
) -> RecheckPage:
    found = find_touched(study, version, chosen=chosen)
    numbers = study.rubric_versions.filter(published_at__isnull=False, number__gt=1)
    return RecheckPage(
        study=study,
        number=version.number,
        numbers=list(numbers.order_by("-number").values_list("number", flat=True)),
        changes=[_show_row(one, chosen) for one in found.by_change.values()],
        load=_show_load(study, found),
        labels=len(found.back),
        pairs=found.pairs,
        time=as_duration(found.hours * 3600),
        pace=as_duration(found.seconds_per_pair),
        untouched=len(found.untouched),
        kept=len(found.kept),
        examples=found.examples,
        not_asked=len(found.not_asked),
        given_back=found.given_back,
        valid=found.valid,
        can_open=bool(found.back),
        can_carry=bool(found.untouched or found.kept or found.not_asked),
        keeps_not_asked=keep_not_asked,
    )


def _show_row(found: TouchedBy, chosen: Collection[str] | None) -> ChangeRow:
    return ChangeRow(
        key=found.key,
        shown=show_change(found.change),
        labels=as_count(found.labels),
        pairs=as_count(len(found.pairs)),
        is_chosen=chosen is None or found.key in chosen,
        reaches_all=isinstance(found.change, EdgeCaseChange)
        or (isinstance(found.change, GradeChange) and found.change.is_reworded),
    )


def _show_load(study: Study, found: Touched) -> list[LoadRow]:
    counts = found.count_by_annotator()
    names = dict(Member.objects.filter(study=study, pk__in=counts).values_list("pk", "name"))
    return [
        LoadRow(name, as_count(counts[key]), as_duration(counts[key] * found.seconds_per_pair))
        for key, name in sorted(names.items(), key=lambda row: row[1])
    ]

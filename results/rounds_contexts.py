"""What the page of rounds shows: calibration rounds beside each other, and self-agreement."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from annotation.opening_forms import LOCAL
from annotation.progress.counts import count_labels, list_held
from annotation.progress.pace import measure_pace
from annotation.services import calibrations, mains, relabels
from annotation.services.openings import find_begun
from results.contexts import Link, list_tabs
from results.models import AgreementReport
from results.selectors.blindness import find_blinding_rounds
from results.selectors.calibration import (
    list_outdated,
    list_reports,
    list_rounds,
    list_waiting_scopes,
)
from results.selectors.reports import COMPUTE_AGREEMENT
from results.services.reading import record_reading
from results.services.scopes import Scope
from results.wording import as_duration, as_words
from studies.access import StudyAccess
from studies.models import Role, Round, Study

COMPARED = (Round.Kind.CALIBRATION, Round.Kind.RELABEL)
Bounds = tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Figure:
    """A measure with its interval; `value` None goes with a `reason`."""

    value: float | None
    interval: Bounds = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RoundFigures:
    """A round and, once it is closed and computed, its numbers. `state` is open, planned,
    computing, missing (closed, without numbers), old (the labels have changed since) or ready;
    `held` counts the queries that somebody has begun and not finished; `may_be_timed` while when
    it opens can still be said."""

    name: str
    kind: str
    number: int
    queries: int
    opens_at: datetime
    closed_at: datetime | None
    state: str
    pairs: int = 0
    splits: int = 0
    rate: Figure | None = None
    alpha: Figure | None = None
    kappas: Mapping[tuple[str, str], Figure] | None = None
    held: int = 0
    may_be_timed: bool = False
    is_calibration: bool = False

    @property
    def opening(self) -> str:
        """What the field for it starts with: when a round to come opens."""
        return f"{localtime(self.opens_at):{LOCAL}}" if self.state == "planned" else ""


@dataclass(frozen=True, slots=True)
class KappaRow:
    """κ of two annotators, round by round; None where they do not meet."""

    a: str
    b: str
    figures: Sequence[Figure | None]


@dataclass(frozen=True, slots=True)
class SelfRow:
    """Somebody's labels in a relabel round against their own earlier ones."""

    round: str
    name: str
    pairs: int
    observed: float | None
    expected: float | None
    kappa: Figure
    band: str
    is_old: bool


@dataclass(frozen=True, slots=True)
class Preview:
    """What would be opened: who is to judge how much, or why nothing can be. `number` is what
    its form starts with."""

    number: int
    loads: Sequence[tuple[str, int, str]]
    obstacle: str
    available: int = 0
    queries: int = 0
    pairs: int = 0
    classes: Mapping[str, int] | None = None
    rubric_number: int | None = None


@dataclass(frozen=True, slots=True)
class RoundsPage:
    """`hidden_by` names rounds for whose sake the numbers stay closed to this person.

    Only who may open rounds gets previews, and that of a relabel round, which looks at every
    label, only when it was asked for; `each` is the number that its form starts with, `opens_at`
    the time, as typed.
    """

    study: Study
    tabs: Sequence[Link]
    hidden_by: Sequence[str]
    rounds: Sequence[RoundFigures]
    kappas: Sequence[KappaRow]
    relabels: Sequence[RoundFigures]
    selves: Sequence[SelfRow]
    open_rounds: Sequence[RoundFigures]
    calibration: Preview | None
    main: Preview | None
    relabel: Preview | None
    each: int
    may_open: bool
    opens_at: str = ""
    problem: str = ""

    @property
    def is_missing(self) -> bool:
        """Whether numbers of a closed round are still to be asked for, or to be asked for anew."""
        return any(one.state in {"missing", "old"} for one in (*self.rounds, *self.relabels))

    @property
    def relabels_without_numbers(self) -> Sequence[RoundFigures]:
        """Relabel rounds of which no numbers are shown, or which are being computed anew."""
        shown = {row.round for row in self.selves}
        return [one for one in self.relabels if one.name not in shown or one.state == "computing"]


def show_rounds(
    access: StudyAccess,
    *,
    queries: int,
    each: int,
    with_relabel: bool = False,
    annotators: int | None = None,
    opens_at: str = "",
    problem: str = "",
) -> RoundsPage:
    study, may_open = access.study, access.member.has_role(Role.ADMIN)
    every = list_rounds(study, *Round.Kind)
    found = [one for one in every if one.kind in COMPARED]
    hidden_by = find_blinding_rounds(access.member, every)
    reports = {} if hidden_by else list_reports(study, found)
    record_reading(access, [one for one in found if one.name in reports])
    waiting = list_waiting_scopes(study, COMPUTE_AGREEMENT)
    old = list_outdated(study, {one: reports[one.name] for one in found if one.name in reports})
    shown = {
        kind: [
            show_round(one, reports.get(one.name), waiting, is_old=one.name in old)
            for one in found
            if one.kind == kind
        ]
        for kind in COMPARED
    }
    # Reads every label; only what would be opened is told in hours.
    pace = measure_pace(count_labels(study).values()) if may_open else 0.0
    held = Counter(one.round_id for one in list_held(study)) if may_open else Counter()
    return RoundsPage(
        study=study,
        tabs=list_tabs(study, Scope(), "results:rounds"),
        hidden_by=hidden_by,
        rounds=shown[Round.Kind.CALIBRATION],
        kappas=list_kappas(shown[Round.Kind.CALIBRATION]),
        relabels=shown[Round.Kind.RELABEL],
        selves=[
            read_self(one.name, row, is_old=one.name in old)
            for one in shown[Round.Kind.RELABEL]
            if one.name in reports
            for row in reports[one.name].payload["self_agreement"]
        ],
        open_rounds=list_open_rounds(every, held) if may_open else [],
        calibration=preview_calibration(study, queries, pace) if may_open else None,
        main=preview_main(study, annotators) if may_open else None,
        relabel=preview_relabel(study, each, pace) if may_open and with_relabel else None,
        each=each,
        may_open=may_open,
        opens_at=opens_at,
        problem=problem,
    )


def list_open_rounds(every: Sequence[Round], held: Mapping[int, int]) -> list[RoundFigures]:
    """The rounds that are not closed, those to come too, without calibrations that somebody has
    begun: nothing is left to be said of these but their comparison."""
    rounds = [one for one in every if one.closed_at is None]
    begun = find_begun(rounds)
    return [
        replace(
            show_round(one, None, set()),
            held=held.get(one.pk, 0),
            may_be_timed=may_be_timed,
            is_calibration=one.kind == Round.Kind.CALIBRATION,
        )
        for one in rounds
        if (may_be_timed := not one.is_open or one.pk not in begun)
        or one.kind != Round.Kind.CALIBRATION
    ]


def show_round(
    round: Round, report: AgreementReport | None, waiting: set[str], *, is_old: bool = False
) -> RoundFigures:
    frame: dict[str, Any] = {
        "name": round.name,
        "kind": round.get_kind_display(),
        "number": round.rubric_version.number,
        "queries": round.size,  # type: ignore[attr-defined]  # annotated by its query
        "opens_at": round.opens_at,
        "closed_at": round.closed_at,
    }
    if round.closed_at is None:
        return RoundFigures(**frame, state="open" if round.is_open else "planned")
    is_asked = Scope(round=round.name).key in waiting
    if report is None:
        return RoundFigures(**frame, state="computing" if is_asked else "missing")
    payload = report.payload
    pairs, splits = payload["pairs_labelled_twice"], payload["splits"]
    return RoundFigures(
        **frame,
        state=("computing" if is_asked else "old") if is_old else "ready",
        pairs=pairs,
        splits=splits,
        rate=Figure(splits / pairs if pairs else None, read_bounds(payload["splits_interval95"])),
        alpha=read_figure(payload["krippendorff_alpha"]["nominal"], "value"),
        kappas={
            (entry["a"], entry["b"]): read_figure(entry, "nominal")
            for entry in payload["cohen_kappa"]
            if entry["pairs"]
        },
    )


def read_figure(entry: Mapping[str, Any], name: str) -> Figure:
    reason = entry.get("reason") or entry.get("interval95_reason")
    return Figure(entry[name], read_bounds(entry["interval95"]), as_words(reason))


def read_bounds(interval: Sequence[float] | None) -> Bounds:
    return None if interval is None else (interval[0], interval[1])


def list_kappas(rounds: Sequence[RoundFigures]) -> list[KappaRow]:
    both = dict.fromkeys(pair for one in rounds for pair in one.kappas or {})
    return [KappaRow(*pair, [(one.kappas or {}).get(pair) for one in rounds]) for pair in both]


def read_self(round_name: str, row: Mapping[str, Any], *, is_old: bool) -> SelfRow:
    return SelfRow(
        round=round_name,
        name=row["name"],
        pairs=row["pairs"],
        observed=row["observed"],
        expected=row["expected"],
        kappa=read_figure(row, "kappa"),
        band=as_words(row["band"]),
        is_old=is_old,
    )


def preview_calibration(study: Study, queries: int, pace: float) -> Preview:
    plan = calibrations.plan_calibration(study, queries)
    return Preview(
        number=queries,
        loads=[(name, plan.pairs, as_duration(plan.pairs * pace)) for name in plan.team],
        obstacle=calibrations.find_obstacle(plan),
        available=plan.available,
        queries=len(plan.queries),
        classes={name or _("without a class"): count for name, count in plan.classes.items()},
        rubric_number=plan.rubric_version.number if plan.rubric_version else None,
    )


def preview_main(study: Study, annotators: int | None) -> Preview:
    plan = mains.plan_main(study)
    return Preview(
        number=annotators or study.annotators_per_query,
        loads=[],
        obstacle=mains.find_obstacle(plan),
        queries=len(plan.queries),
        pairs=plan.pairs,
        rubric_number=plan.rubric_version.number if plan.rubric_version else None,
    )


def preview_relabel(study: Study, each: int, pace: float) -> Preview:
    plan = relabels.plan_relabel(study, each)
    return Preview(
        number=each,
        loads=[(name, count, as_duration(count * pace)) for name, count in plan.loads.items()],
        obstacle=relabels.find_obstacle(plan),
        rubric_number=plan.rubric_version.number if plan.rubric_version else None,
    )

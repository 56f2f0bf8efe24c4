"""What the page shows of a stored account: its payload as small objects, ready for a template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from results.dropped import MEASURES, read_bounds
from results.figure_parts import Bounds
from results.heat import HeatCell, HeatRow, tint
from results.revision_wording import name_side, say_errors, say_other_warnings
from results.wording import as_count, as_ratio, as_share, as_words

Account = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class MeasureRow:
    """A measure on both sides, as texts; `moved` says that it moved further than it may."""

    label: str
    before: str
    after: str
    hint: str = ""
    moved: bool = False


@dataclass(frozen=True, slots=True)
class SplitCount:
    pairs: int
    splits: int
    rate: float | None


@dataclass(frozen=True, slots=True)
class ClassRow:
    """A class on both sides, each with the rest of the study beside it; None where a side has
    none."""

    name: str
    before: SplitCount | None
    before_rest: SplitCount | None
    after: SplitCount | None
    after_rest: SplitCount | None


@dataclass(frozen=True, slots=True)
class Moves:
    """A matrix of grades: `rows` before, `columns` (value, name) after; `changed` counts what
    stands beside the diagonal."""

    columns: Sequence[tuple[int, str]]
    rows: Sequence[tuple[str, HeatRow]]
    total: int
    changed: int


@dataclass(frozen=True, slots=True)
class LostRow:
    label: str
    pairs: int


@dataclass(frozen=True, slots=True)
class Move:
    """A measure of a run before and after, each with its bounds where pairs were dropped."""

    before: float | None
    after: float | None
    bounds_before: Bounds
    bounds_after: Bounds

    @property
    def has_bounds(self) -> bool:
        return bool(self.bounds_before or self.bounds_after)


@dataclass(frozen=True, slots=True)
class RunRow:
    """A run's measures, and whether its lost hits keep to their bound."""

    name: str
    measures: Sequence[Move]
    lost: int
    won: int
    bound: int
    is_beyond: bool


@dataclass(frozen=True, slots=True)
class DroppedRow:
    """Pairs dropped on a side, and their share of those decided."""

    side: str
    pairs: int
    share: float | None


@dataclass(frozen=True, slots=True)
class AccountFigures:
    before: str
    after: str
    is_of_rounds: bool
    errors: Sequence[str]
    warnings: Sequence[str]
    pairs: int
    only_before: int
    only_after: int
    carried: int
    measures: Sequence[MeasureRow]
    classes: Sequence[ClassRow]
    moves: Moves
    label_moves: Moves
    lost: int
    lost_to: Sequence[LostRow]
    k: int
    bound_checked: bool
    queries_scored: int
    queries_bounded: int
    queries_only_before: int
    queries_only_after: int
    dropped: Sequence[DroppedRow]
    runs: Sequence[RunRow]

    @property
    def has_bounds(self) -> bool:
        return any(move.has_bounds for run in self.runs for move in run.measures)


def read_account(account: Account) -> AccountFigures:
    return AccountFigures(
        before=name_side(account["before"]),
        after=name_side(account["after"]),
        is_of_rounds=account["compares"] == "rounds",
        errors=say_errors(account),
        warnings=say_other_warnings(account),
        pairs=account["pairs_compared"],
        only_before=account["pairs_only_before"],
        only_after=account["pairs_only_after"],
        carried=account["after"]["carried"],
        measures=list_measures(account),
        classes=list_classes(account),
        moves=lay_out_moves(account, "transitions"),
        label_moves=lay_out_moves(account, "label_transitions"),
        lost=account["lost_relevant"]["pairs"],
        lost_to=list_lost(account),
        k=account["k"],
        bound_checked=account["bound_checked"],
        queries_scored=account["queries_scored"],
        queries_bounded=account["queries_bounded"],
        queries_only_before=account["queries_only_before"],
        queries_only_after=account["queries_only_after"],
        dropped=[
            DroppedRow(name_side(side), side["dropped"], side["dropped_share"])
            for side in (account["before"], account["after"])
        ],
        runs=list_runs(account),
    )


def list_measures(account: Account) -> list[MeasureRow]:
    """Agreement before and after, each with its n; what is undefined is told with its reason."""
    before, after = account["before"], account["after"]
    reasons = {
        as_words(side[f"{name}_reason"])
        for side in (before, after)
        for name in ("observed", "expected", "kappa")
        if f"{name}_reason" in side
    }
    moved = account["expected_moved"]
    return [
        MeasureRow(
            _("pairs"), *each(as_count, "pairs", before, after), _("labelled twice or more")
        ),
        MeasureRow(_("comparisons"), *each(as_count, "comparisons", before, after)),
        MeasureRow(_("raw agreement"), *each(as_ratio, "observed", before, after)),
        MeasureRow("κ", *each(as_ratio, "kappa", before, after), "; ".join(sorted(reasons))),
        MeasureRow(
            _("implied chance agreement"),
            *each(as_ratio, "expected", before, after),
            _("moved by more than 0.05: the label mix shifted") if moved else "",
            moved=moved,
        ),
        MeasureRow(_("splits"), *each(as_count, "splits", before, after)),
        MeasureRow(_("split rate"), *each(as_share, "rate", before, after)),
    ]


def each(write: Any, name: str, before: Account, after: Account) -> tuple[str, str]:
    return write(before[name]), write(after[name])


def list_classes(account: Account) -> list[ClassRow]:
    before, after = (
        {row["class"]: row for row in account[side]["classes"]} for side in ("before", "after")
    )
    return [
        ClassRow(
            _("without a class") if name is None else name,
            *count_splits(before.get(name)),
            *count_splits(after.get(name)),
        )
        for name in dict.fromkeys([*before, *after])
    ]


def count_splits(row: Account | None) -> tuple[SplitCount | None, SplitCount | None]:
    if row is None:
        return None, None
    return (
        SplitCount(row["pairs"], row["splits"], row["rate"]),
        SplitCount(row["rest_pairs"], row["rest_splits"], row["rest_rate"]),
    )


def lay_out_moves(account: Account, kind: str) -> Moves:
    counts = {(before, after): count for before, after, count in account[kind]}
    rows = name_grades(account["before"], {before for before, _after in counts})
    columns = name_grades(account["after"], {after for _before, after in counts})
    most = max(counts.values(), default=0)
    return Moves(
        columns=list(columns.items()),
        rows=[
            (
                name,
                HeatRow(
                    str(before),
                    [
                        HeatCell(count, tint(count, most), agrees=before == after)
                        for after in columns
                        for count in [counts.get((before, after), 0)]
                    ],
                ),
            )
            for before, name in rows.items()
        ],
        total=sum(counts.values()),
        changed=sum(count for (before, after), count in counts.items() if before != after),
    )


def name_grades(side: Account, used: set[int]) -> dict[int, str]:
    """The names of the side's grades by value, with those used that its version lacks."""
    names = dict.fromkeys(used, "") | {one["value"]: one["name"] for one in side["grades"]}
    return dict(sorted(names.items()))


def list_lost(account: Account) -> list[LostRow]:
    """What became of pairs that were relevant and no longer are."""
    names = {one["value"]: one["name"] for one in account["after"]["grades"]}
    lost = account["lost_relevant"]
    graded = [
        LostRow(f"{grade} {names.get(grade, '')}".strip(), count) for grade, count in lost["to"]
    ]
    return graded + [
        LostRow(as_words(reason), count) for reason, count in lost["without_label"].items()
    ]


def list_runs(account: Account) -> list[RunRow]:
    sides = account["before"]["runs"], account["after"]["runs"]
    return [
        read_run(run, before, after, bound_checked=account["bound_checked"])
        for run, before, after in zip(account["runs"], *sides, strict=True)
    ]


def read_run(run: Account, before: Account, after: Account, *, bound_checked: bool) -> RunRow:
    return RunRow(
        name=run["run"],
        measures=[
            Move(
                run[name]["before"],
                run[name]["after"],
                read_bounds(before, name),
                read_bounds(after, name),
            )
            for name in MEASURES
        ],
        lost=run["queries_lost"],
        won=run["queries_won"],
        bound=run["bound"],
        is_beyond=bound_checked and not run["within_bound"],
    )

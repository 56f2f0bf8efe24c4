"""Further figures of every two annotators: all of them as a matrix, the paradox of κ, and who is
higher."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.figure_parts import DirectionEntry, Figures, KappaEntry
from results.targets import Target, judge_targets

Payload = Mapping[str, Any]

# Where so many comparisons agree and kappa or alpha is still below the other value, the labels
# are so uneven that chance alone would agree nearly as often.
HIGH_AGREEMENT = 0.80
LOW_KAPPA = 0.60
# By so much AC1 has to exceed it, so that it is the uneven labels and not mere disagreement.
AC1_AHEAD = 0.15


@dataclass(frozen=True, slots=True)
class MatrixCell:
    """Two annotators; `entry` is None on the diagonal. `level` is the tint, 0 to 9."""

    entry: KappaEntry | None
    level: int


@dataclass(frozen=True, slots=True)
class MatrixRow:
    name: str
    cells: Sequence[MatrixCell]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All two annotators of three or more, who share pairs or not."""

    names: Sequence[str]
    rows: Sequence[MatrixRow]


@dataclass(frozen=True, slots=True)
class Paradox:
    """High agreement beside a low value of the measure that `name` names."""

    name: str
    value: float
    observed: float
    ac1: float


def make_matrix(figures: Figures) -> Matrix | None:
    """The matrix of kappa, None for fewer than three people."""
    names = list(dict.fromkeys(name for entry in figures.kappas for name in (entry.a, entry.b)))
    if len(names) < 3:
        return None
    found = {frozenset((entry.a, entry.b)): entry for entry in figures.kappas}
    return Matrix(
        names,
        [MatrixRow(a, [_make_cell(found.get(frozenset((a, b)))) for b in names]) for a in names],
    )


def find_paradox(figures: Figures) -> Paradox | None:
    """The first of alpha and the kappas that is low although nearly all comparisons agree."""
    if figures.ac1 is None or figures.raw_agreement is None:
        return None
    measured = [("α", figures.alpha.value, figures.raw_agreement)]
    measured += [("κ", entry.value, entry.observed or 0.0) for entry in figures.shared_kappas]
    for name, value, observed in measured:
        if (
            value is not None
            and observed >= HIGH_AGREEMENT
            and value < LOW_KAPPA
            and figures.ac1 - value >= AC1_AHEAD
        ):
            return Paradox(name, value, observed, figures.ac1)
    return None


def group_directions(figures: Figures) -> list[list[DirectionEntry]]:
    """Who is higher, by two annotators with a row for each class: first those of whom one is ahead
    the most in some class."""
    groups: dict[tuple[str, str], list[DirectionEntry]] = {}
    for row in figures.directions:
        groups.setdefault((row.a, row.b), []).append(row)
    return sorted(
        groups.values(), key=lambda rows: -max(abs(row.a_higher - row.b_higher) for row in rows)
    )


def judge_payload(payload: Payload, target: Target | None) -> Payload:
    """The report with its targets judged by the target of today."""
    return {**payload, "targets": judge_targets(payload["cohen_kappa"], target)}


def _make_cell(entry: KappaEntry | None) -> MatrixCell:
    value = entry.value if entry else None
    return MatrixCell(entry, 0 if value is None else min(max(round(9 * value), 0), 9))

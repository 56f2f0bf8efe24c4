"""A confusion matrix as a heat map: cells with their tints and what is asked for behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, sqrt

from results.asked_labels import AskedLabel, Link

HEAT_LEVELS = 9


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of a confusion matrix; `level` is its tint, 0 for none to 9."""

    count: int
    level: int
    agrees: bool
    link: Link = ()


@dataclass(frozen=True, slots=True)
class HeatRow:
    grade: str
    cells: Sequence[HeatCell]


def read_heat(
    confusion: Sequence[Sequence[int]], grades: Sequence[str], between: tuple[str, str]
) -> list[HeatRow]:
    """The confusion matrix of two, the grades of the first as rows."""
    most = max((count for row in confusion for count in row), default=0)
    return [
        HeatRow(
            grade=grade,
            cells=[
                HeatCell(
                    count,
                    tint(count, most),
                    agrees=column == place,
                    link=_ask_for(between, grades[place], grades[column]),
                )
                for column, count in enumerate(row)
            ],
        )
        for place, (grade, row) in enumerate(zip(grades, confusion, strict=True))
    ]


def _ask_for(between: tuple[str, str], first: str, second: str) -> Link:
    """The pairs of these two to which the first gave this grade and the second that, as an address
    asks for them."""
    gave = zip(between, (int(first), int(second)), strict=True)
    labels = tuple(("label", AskedLabel(name, grade).written) for name, grade in gave)
    asked = (*(("annotator", name) for name in between), *labels)
    return (*asked, ("alike", "1")) if first == second else asked


def tint(count: int, most: int) -> int:
    """By the root of the share, so that a few splits beside many agreements can still be seen."""
    return ceil(HEAT_LEVELS * sqrt(count / most)) if count else 0

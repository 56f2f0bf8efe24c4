"""Pictures of a stored report that stand alone, drawn for paper: black on white, with their n.

Each is a file of its own that needs no style sheet. What it shows is a table of the page.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _

from results import wording
from results.figure_parts import Bounds, KappaEntry
from results.figures import read_figures

Payload = Mapping[str, Any]
Address = Mapping[str, Any]

ROW, TOP, LEFT, PLOT = 34, 64, 250, 420
CELL = 64
# Tints of a heat map by level, agreement in blue and splits in red.
AGREE = "#1f5f8b"
SPLIT = "#9b2c24"


class UnknownPicture(Exception):
    """The report has nothing of what the address asks to be drawn."""


@dataclass(frozen=True, slots=True)
class DrawnBar:
    """An interval and its value, or a bar from 0, in units of the drawing."""

    x: float
    width: float
    value: float
    y: float
    colour: str
    has_interval: bool


@dataclass(frozen=True, slots=True)
class DrawnRow:
    label: str
    text: str
    y: float
    bars: Sequence[DrawnBar]


@dataclass(frozen=True, slots=True)
class RowsPicture:
    """Rows with values on one common axis."""

    title: str
    note: str
    end: str
    rows: Sequence[DrawnRow]
    template: str = "rows"
    left: int = LEFT
    plot: int = PLOT

    @property
    def height(self) -> int:
        return TOP + ROW * len(self.rows) + 30

    @property
    def bottom(self) -> int:
        return TOP + ROW * len(self.rows)


@dataclass(frozen=True, slots=True)
class DrawnCell:
    x: int
    y: int
    text: str
    colour: str
    opacity: str


@dataclass(frozen=True, slots=True)
class HeatPicture:
    title: str
    note: str
    grades: Sequence[tuple[str, int]]
    cells: Sequence[DrawnCell]
    size: int
    template: str = "heat"
    cell: int = field(default=CELL)


Picture = RowsPicture | HeatPicture
Draw = Callable[[Payload, Address], Picture]


@dataclass(frozen=True, slots=True)
class _Value:
    """A value with its interval, to be placed on an axis that ends at `axis`."""

    value: float | None
    interval: Bounds = None
    colour: str = AGREE


def draw_classes(payload: Payload, address: Address) -> Picture:
    figures = read_figures(payload)
    rows = [
        (
            row.name,
            _("%(splits)d of %(pairs)d") % {"splits": row.splits, "pairs": row.pairs},
            [
                _Value(row.rate, row.interval, SPLIT if row.verdict == "hole" else AGREE),
                _Value(row.rest_rate, row.rest_interval, "#6b6860"),
            ],
        )
        for row in figures.classes
    ]
    # xgettext:no-python-format
    note = _("splits of pairs labelled at least twice, 95% intervals; in grey the rest")
    return _draw_rows(_("Split rate of each class"), note, rows, figures.axis, is_share=True)


def draw_kappas(payload: Payload, address: Address) -> Picture:
    figures = read_figures(payload)
    rows = [
        (
            f"{entry.a} × {entry.b}",
            f"{wording.as_ratio(entry.value)} · n = {wording.as_count(entry.pairs)}",
            [_Value(entry.value, entry.interval)],
        )
        for entry in (*figures.shared_kappas, *figures.machine_kappas)
        if entry.pairs
    ]
    # xgettext:no-python-format
    note = _("Cohen’s κ, nominal, 95% intervals over queries")
    return _draw_rows(_("Two annotators"), note, rows, 1.0)


def draw_over_time(payload: Payload, address: Address) -> Picture:
    rows = [
        (
            f"{row['from'][:10]} – {row['to'][:10]}",
            _("%(splits)d of %(pairs)d") % {"splits": row["splits"], "pairs": row["pairs"]},
            [_Value(row["rate"], _bounds(row["interval95"]))],
        )
        for row in payload["over_time"]
    ]
    axis = max((row["interval95"][1] for row in payload["over_time"] if row["pairs"]), default=1.0)
    # xgettext:no-python-format
    note = _("splits of pairs, by the moment of their last label, 95% intervals")
    return _draw_rows(_("Splits over time"), note, rows, axis or 1.0, is_share=True)


def draw_labels(payload: Payload, address: Address) -> Picture:
    rows = [
        (
            f"{label.grade} {label.name}",
            f"{wording.as_share(label.share)} · n = {wording.as_count(label.count)}",
            [_Value(label.share)],
        )
        for label in read_figures(payload).labels
    ]
    return _draw_rows(_("Share of each label"), _("unsure aside"), rows, 1.0, is_share=True)


def draw_dimensions(payload: Payload, address: Address) -> Picture:
    rows = [
        (
            row.name,
            f"{wording.as_share(row.share_of_splits)} · n = {wording.as_count(row.splits)}",
            [_Value(row.share_of_splits)],
        )
        for row in read_figures(payload).dimensions
    ]
    note = _("share of the splits in which a label cites the dimension")
    return _draw_rows(_("What decided"), note, rows, 1.0, is_share=True)


def draw_confusion(payload: Payload, address: Address) -> Picture:
    """The matrix of the annotators `a` and `b` that the address names. Raises UnknownPicture."""
    figures = read_figures(payload)
    two = (address.get("a"), address.get("b"))
    for entry in (*figures.kappas, *figures.machine_kappas):
        if (entry.a, entry.b) == two:
            return _draw_heat(entry)
    raise UnknownPicture("Nobody of these names was compared.")


PICTURES: dict[str, Draw] = {
    "classes": draw_classes,
    "kappas": draw_kappas,
    "over-time": draw_over_time,
    "labels": draw_labels,
    "dimensions": draw_dimensions,
    "confusion": draw_confusion,
}


def _draw_rows(
    title: str,
    note: str,
    rows: Sequence[tuple[str, str, Sequence[_Value]]],
    axis: float,
    *,
    is_share: bool = False,
) -> RowsPicture:
    return RowsPicture(
        title=title,
        note=note,
        end=wording.as_share(axis) if is_share else wording.as_ratio(axis),
        rows=[
            DrawnRow(
                label,
                text,
                TOP + ROW * place + ROW / 2,
                [
                    _draw_bar(value, axis, TOP + ROW * place + (2 * below + 1) * ROW / 4)
                    if len(values) > 1
                    else _draw_bar(value, axis, TOP + ROW * place + ROW / 2)
                    for below, value in enumerate(values)
                    if value.value is not None
                ],
            )
            for place, (label, text, values) in enumerate(rows)
        ],
    )


def _draw_bar(value: _Value, axis: float, y: float) -> DrawnBar:
    low, high = value.interval or (0.0, value.value or 0.0)
    start, end, place = (
        LEFT + PLOT * min(max(number / axis, 0.0), 1.0)
        for number in (low, high, value.value or 0.0)
    )
    return DrawnBar(start, end - start, place, y, value.colour, value.interval is not None)


def _draw_heat(entry: KappaEntry) -> HeatPicture:
    left, top = 110, 110
    return HeatPicture(
        title=f"{entry.a} ↓ {entry.b} →",
        note=f"n = {wording.as_count(entry.pairs)}, κ {wording.as_ratio(entry.value)}",
        grades=[(grade, place * CELL) for place, grade in enumerate(entry.grades)],
        cells=[
            DrawnCell(
                left + CELL * column,
                top + CELL * line,
                wording.as_count(cell.count),
                AGREE if cell.agrees else SPLIT,
                f"{0.06 * cell.level:.2f}",
            )
            for line, row in enumerate(entry.heat)
            for column, cell in enumerate(row.cells)
        ],
        size=CELL * len(entry.grades),
    )


def _bounds(interval: Sequence[float] | None) -> Bounds:
    return None if interval is None else (interval[0], interval[1])

"""Every table of the results as data: what its page shows is what its CSV file holds.

A table has a name, which is that of its file, columns, and rows of plain values. Pages that draw
a table in a form of their own take their numbers from the same stored report.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.utils.translation import gettext_lazy as _

from results import wording
from results.asked_labels import Link
from results.figure_parts import Mark
from studies.formats.spreadsheets import neutralise
from studies.formats.tables import write_csv

FITTING = 4
"""As many columns stand beside each other on a phone."""

Payload = Mapping[str, Any]
Kind = Literal["id", "text", "count", "ratio", "share", "interval", "share_interval", "p", "time"]
Value = Any
Make = Callable[[Payload], "Table"]

SHOWN: dict[Kind, Callable[[Any], str]] = {
    "id": str,
    "text": str,
    "count": lambda value: wording.NOTHING if value is None else wording.as_count(value),
    "ratio": wording.as_ratio,
    "share": wording.as_share,
    "interval": wording.as_interval,
    "share_interval": wording.as_share_interval,
    "p": wording.as_p_value,
    "time": lambda value: wording.NOTHING if value is None else wording.as_duration(value),
}


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name in the file, its heading on the page, and what its values are.

    An `id` joins a file to others and is never changed; every other text that a spreadsheet would
    run as a formula is neutralised. An interval is a pair of bounds, and two columns of the file.
    """

    name: str
    label: Any
    kind: Kind = "count"

    @property
    def is_number(self) -> bool:
        return self.kind not in {"id", "text"}

    @property
    def headings(self) -> list[str]:
        is_interval = self.kind in {"interval", "share_interval"}
        name = neutralise(self.name)
        return [f"{name}_low", f"{name}_high"] if is_interval else [name]

    def write(self, value: Value) -> list[str]:
        """The value as cells of the file; what is undefined is empty."""
        if self.kind in {"interval", "share_interval"}:
            return ["", ""] if value is None else [str(bound) for bound in value]
        text = "" if value is None else str(value)
        return [neutralise(text) if self.kind == "text" else text]


@dataclass(frozen=True, slots=True)
class Cell:
    """`label` is the heading of its column, which a phone shows beside it; `link` what the address
    of the pairs behind it has to say."""

    text: str
    is_number: bool
    label: Any
    link: Link = ()


@dataclass(frozen=True, slots=True)
class Row:
    """A row as the page shows it; `query` is what the address of its pairs has to say."""

    head: Cell
    cells: Sequence[Cell]
    link: Link
    mark: Mark | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """`links` and `marks` go with `rows`, one for each, or are empty; `cell_links` has one for each
    column of each row, or is empty. Marks are drawn beside the
    rows on an axis from 0 to `axis`, a share."""

    name: str
    title: Any
    columns: Sequence[Column]
    rows: Sequence[Sequence[Value]]
    note: Any = ""
    links: Sequence[Link] = ()
    cell_links: Sequence[Sequence[Link]] = ()
    marks: Sequence[Mark | None] = ()
    axis: float = 1.0

    @property
    def is_wide(self) -> bool:
        """Whether a phone shows its rows as blocks, their cells one below the other."""
        return len(self.columns) > FITTING

    @property
    def shown(self) -> Iterator[Row]:
        links = self.links or [()] * len(self.rows)
        marks = self.marks or [None] * len(self.rows)
        cell_links = self.cell_links or [[()] * len(self.columns)] * len(self.rows)
        for row, link, behind, mark in zip(self.rows, links, cell_links, marks, strict=True):
            head, *cells = (
                Cell(
                    "" if value is None and not column.is_number else SHOWN[column.kind](value),
                    column.is_number,
                    column.label,
                    cell_link,
                )
                for column, value, cell_link in zip(self.columns, row, behind, strict=True)
            )
            yield Row(head, cells, link, mark)


TABLES: dict[str, Make] = {}


def make_table(name: str) -> Callable[[Make], Make]:
    """Register what makes the table of this name from a stored report."""

    def register(make: Make) -> Make:
        TABLES[name] = make
        return make

    return register


def write_table(table: Table) -> Iterator[str]:
    """The lines of its CSV file."""
    return write_rows(table.columns, table.rows)


def write_rows(columns: Sequence[Column], rows: Iterable[Sequence[Value]]) -> Iterator[str]:
    """The lines of a CSV file of these rows, which may come one by one."""
    header = [heading for column in columns for heading in column.headings]
    return write_csv(header, map(_write_row(columns), rows))


def _write_row(columns: Sequence[Column]) -> Callable[[Sequence[Value]], list[str]]:
    def write(row: Sequence[Value]) -> list[str]:
        values = zip(columns, row, strict=True)
        return [cell for column, value in values for cell in column.write(value)]

    return write


SLICE = ("pairs", "splits", "rate", "interval95", "comparisons", "observed", "alpha")
"""What a report tells of each slice of the pairs; `list_slice_columns` has their columns."""


def list_slice_columns() -> list[Column]:
    return [
        Column("pairs", _("pairs")),
        Column("splits", _("splits")),
        Column("rate", _("rate"), "share"),
        Column("interval95", _("interval"), "share_interval"),
        Column("comparisons", _("comparisons")),
        Column("observed", _("raw agreement"), "share"),
        Column("alpha", "α", "ratio"),
    ]


def name_two(row: Payload) -> Link:
    """The pairs of two annotators, as an address asks for them."""
    return (("annotator", row["a"]), ("annotator", row["b"]))


def beside(rows: Sequence[Payload], keys: Sequence[str]) -> list[tuple[Payload, list[Value]]]:
    """Each row with these of its values."""
    return list(zip(rows, pick(rows, *keys), strict=True))


def name_class(name: str | None) -> str:
    return str(_("without a class")) if name is None else name


def pick(rows: Sequence[Payload], *keys: str) -> list[list[Value]]:
    """These values of each row; what a row does not have is None."""
    return [[row.get(key) for key in keys] for row in rows]

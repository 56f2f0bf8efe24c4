"""CSV (RFC 4180) and TSV (no quoting at all) as numbered rows and as named cells."""

from __future__ import annotations

import csv
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, cast

from studies.formats.problems import Problems
from studies.formats.text import MAX_LINE_BYTES, content_lines, lines_with_ends, require_text

Row = tuple[int, list[str]]
"""The line a row begins in, and its cells."""

_CSV_REASONS = {
    "unexpected end of data": "a quoted cell that begins here is never closed",
    "field larger": "a quoted cell that begins here is too long, or never closed",
    "new-line character": "a carriage return stands inside an unquoted cell",
    "expected after": "text follows a closing quote; quotes inside a cell are doubled",
}
_CSV_ENDS = ("unexpected end of data", "field larger")


class _NumberedLines:
    """Feeds lines to `csv.reader` and remembers where the current row began."""

    def __init__(self, lines: Iterator[tuple[int, str]]) -> None:
        self._lines = lines
        self.row_start: int | None = None

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        number, text = next(self._lines)
        if self.row_start is None:
            self.row_start = number
        return text


def _csv_reason(error: csv.Error) -> str:
    message = str(error)
    return next((said for part, said in _CSV_REASONS.items() if part in message), message)


def csv_rows(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[Row]:
    """Rows of a CSV file; cells may hold line breaks, blank lines are passed over."""
    # The limit is one for the process and smaller than a document; it is only ever raised.
    csv.field_size_limit(max(csv.field_size_limit(), MAX_LINE_BYTES))
    source = _NumberedLines(lines_with_ends(stream, file=file, problems=problems))
    reader = csv.reader(source, strict=True)
    blank_line: int | None = None
    while True:
        source.row_start = None
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            problems.add(file, source.row_start, _csv_reason(error))
            if any(part in str(error) for part in _CSV_ENDS):
                return
            continue
        start = source.row_start or 1
        if not cells:
            blank_line = blank_line or start
            continue
        if blank_line is not None:
            problems.note(file, blank_line, "blank line passed over")
            blank_line = None
        yield start, cells


def tsv_rows(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[Row]:
    """Rows of a TSV file: split on tabs; a quote is a character like any other."""
    for number, text in content_lines(stream, file=file, problems=problems):
        yield number, text.split("\t")


@dataclass(frozen=True, slots=True)
class Header:
    """The columns of a table: `names` as written, in order."""

    names: list[str]
    line: int

    def cells(self, row: list[str]) -> dict[str, str]:
        """Cells by column name; a short row leaves its last columns out."""
        return dict(zip(self.names, row, strict=False))


def read_header(row: Row, *, file: str, problems: Problems) -> Header | None:
    """The header in `row`, or None when a name stands twice."""
    line, cells = row
    names = [cell.strip() for cell in cells]
    twice = sorted({name for name in names if name and names.count(name) > 1})
    if twice:
        problems.add(file, line, f"the header names {', '.join(twice)} twice")
        return None
    if "" in names:
        problems.note(file, line, "a column without a name is passed over")
    return Header(names, line)


def _wrong_width(row: list[str], header: Header, short_rows: bool) -> str | None:
    if len(row) == len(header.names) or (short_rows and len(row) < len(header.names)):
        return None
    return f"{len(row)} cells under a header of {len(header.names)}"


def rows_under(
    header: Header, rows: Iterable[Row], *, file: str, problems: Problems, short_rows: bool = False
) -> Iterator[tuple[int, dict[str, str]]]:
    """Cells by column name for each row; rows of another width are refused."""
    for line, row in rows:
        if reason := _wrong_width(row, header, short_rows):
            problems.add(file, line, reason)
        else:
            yield line, header.cells(row)


def named_rows(
    rows: Iterator[Row],
    *,
    file: str,
    problems: Problems,
    required: Sequence[str],
    optional: Collection[str] = (),
    short_rows: bool = False,
) -> Iterator[tuple[int, dict[str, str]]]:
    """Rows of a table whose first row must be a header with the `required` columns.

    Columns that are neither required nor optional are noted and left to the caller.
    """
    first = next(rows, None)
    if first is None:
        problems.add(file, None, f"the file is empty; its header is {','.join(required)}")
        return
    header = read_header(first, file=file, problems=problems)
    if header is None:
        return
    missing = [name for name in required if name not in header.names]
    if missing:
        problems.add(file, header.line, f"the header lacks the column {', '.join(missing)}")
        return
    for name in header.names:
        if name and name not in required and name not in optional:
            problems.note(file, header.line, f"the column {name} is passed over")
    yield from rows_under(header, rows, file=file, problems=problems, short_rows=short_rows)


class _Returned:
    """A file for `csv.writer`, whose `writerow` returns what `write` does: the line."""

    @staticmethod
    def write(line: str) -> str:
        return line


def write_csv(header: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Lines of an RFC 4180 file, CRLF at their ends.

    Raises ValueError for a cell that UTF-8 or the readers cannot carry.
    """
    write = csv.writer(_Returned()).writerow
    for row in chain([header], rows):
        yield require_text(cast(str, write(row)), "a cell")

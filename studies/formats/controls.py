"""`controls.csv`: pairs with an established grade and deciding dimension."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import BinaryIO

from studies.formats.fields import (
    free_text,
    grade_cell,
    id_cell,
    name_cell,
    optional_name,
    safe_cell,
    safe_label,
)
from studies.formats.problems import Problems, RecordError
from studies.formats.records import ControlRecord
from studies.formats.tables import csv_rows, named_rows, write_csv
from studies.formats.text import FirstSeen, require_id

REQUIRED = ("query_id", "doc_id", "grade", "decided_by")
HEADER = (*REQUIRED, "purpose")


def _grade(cell: str) -> int | str:
    value = free_text(cell).strip()
    if re.fullmatch(r"[+-]?[0-9]+", value):
        return grade_cell(value)
    name = name_cell(value, "grade")
    if name is None:
        raise RecordError("the grade is blank")
    return name


def _record(cells: Mapping[str, str], line: int) -> ControlRecord:
    decided_by = optional_name(cells, "decided_by")
    if decided_by is None:
        raise RecordError("decided_by is blank; it names the dimension that decides the pair")
    return ControlRecord(
        query_id=id_cell(cells["query_id"], "query id"),
        doc_id=id_cell(cells["doc_id"], "document id"),
        grade=_grade(cells["grade"]),
        decided_by=decided_by,
        purpose=free_text(cells.get("purpose", "")),
        line=line,
    )


def read_controls(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[ControlRecord]:
    """Read control pairs; a pair that stands twice is refused unless its lines are the same."""
    rows = named_rows(
        csv_rows(stream, file=file, problems=problems),
        file=file,
        problems=problems,
        required=REQUIRED,
        optional=HEADER,
    )
    seen = FirstSeen()
    for line, cells in rows:
        try:
            record = _record(cells, line)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        pair = (record.query_id, record.doc_id)
        label = f"the pair {pair[0]} {pair[1]}"
        if not seen.repeats(
            pair, repr(cells), label=label, file=file, line=line, problems=problems
        ):
            yield record


def write_controls(records: Iterable[ControlRecord]) -> Iterator[str]:
    """Lines of `controls.csv`. Raises ValueError for a refused id."""
    return write_csv(HEADER, (_row(record) for record in records))


def _row(record: ControlRecord) -> tuple[str, ...]:
    return (
        require_id(record.query_id, "query id"),
        require_id(record.doc_id, "document id"),
        safe_label(str(record.grade)),
        safe_cell(record.decided_by),
        safe_cell(record.purpose),
    )

"""`judgments.csv` and `final_labels.csv`, as people hand them in and as exports write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import BinaryIO, TypeVar

from studies.formats.fields import (
    free_text,
    id_cell,
    instant_cell,
    optional_name,
    plain_cell,
    safe_cell,
    safe_label,
    seconds_cell,
    version_cell,
)
from studies.formats.problems import Problems, RecordError
from studies.formats.records import FinalLabelRecord, JudgmentRecord
from studies.formats.tables import csv_rows, named_rows, write_csv
from studies.formats.text import FirstSeen, require_id

JUDGMENT_REQUIRED = ("query_id", "doc_id", "relevance")
JUDGMENT_HEADER = (
    "query_id", "doc_id", "class", "annotator", "round", "rubric_version", "relevance",
    "decided_by", "clause", "notes", "source", "active_seconds", "judged_at",
)  # fmt: skip
FINAL_LABEL_REQUIRED = (
    "query_id", "doc_id", "relevance", "decided_by", "cause", "reason", "rubric_version",
    "by", "decided_at",
)  # fmt: skip
FINAL_LABEL_HEADER = (*FINAL_LABEL_REQUIRED, "clause", "citation")

RecordT = TypeVar("RecordT")


def _read(
    stream: BinaryIO,
    file: str,
    problems: Problems,
    required: Sequence[str],
    known: Sequence[str],
    record: Callable[[Mapping[str, str], int], RecordT],
) -> Iterator[RecordT]:
    rows = named_rows(
        csv_rows(stream, file=file, problems=problems),
        file=file,
        problems=problems,
        required=required,
        optional=known,
    )
    for line, cells in rows:
        try:
            yield record(cells, line)
        except RecordError as error:
            problems.add(file, line, str(error))


def _judgment(cells: Mapping[str, str], line: int) -> JudgmentRecord:
    return JudgmentRecord(
        query_id=id_cell(cells["query_id"], "query id"),
        doc_id=id_cell(cells["doc_id"], "document id"),
        annotator=optional_name(cells, "annotator"),
        relevance=free_text(cells["relevance"]).strip(),
        decided_by=optional_name(cells, "decided_by"),
        clause=optional_name(cells, "clause"),
        notes=free_text(cells.get("notes", "")),
        line=line,
        round=optional_name(cells, "round"),
        rubric_version=version_cell(cells.get("rubric_version", "")),
        source=optional_name(cells, "source"),
        active_seconds=seconds_cell(cells.get("active_seconds", ""), "active_seconds"),
        judged_at=instant_cell(cells.get("judged_at", ""), "judged_at"),
        query_class=optional_name(cells, "class"),
    )


def read_judgments_csv(
    stream: BinaryIO, *, file: str, problems: Problems
) -> Iterator[JudgmentRecord]:
    """Read labels; the header needs `query_id`, `doc_id` and `relevance`.

    `relevance` comes without white space around it and is "" where the label is missing.
    Repeated pairs are yielded: whether they are conflicts depends on annotator and round,
    which may come from outside of the file.
    """
    return _read(stream, file, problems, JUDGMENT_REQUIRED, JUDGMENT_HEADER, _judgment)


def write_judgments_csv(rows: Iterable[JudgmentRecord]) -> Iterator[str]:
    """Lines of `judgments.csv`. Raises ValueError for a refused id or text."""
    return write_csv(JUDGMENT_HEADER, (_judgment_row(row) for row in rows))


# Few names stand in many rows, and rows of one pair follow each other.
_few = lru_cache(maxsize=4096)
_query_cell = _few(lambda value: require_id(value, "query id"))
_document_cell = _few(lambda value: require_id(value, "document id"))
_name_cell = _few(safe_cell)
_label_cell = _few(safe_label)


def _judgment_row(row: JudgmentRecord) -> tuple[str, ...]:
    return (
        _query_cell(row.query_id),
        _document_cell(row.doc_id),
        _name_cell(row.query_class),
        _name_cell(row.annotator),
        _name_cell(row.round),
        plain_cell(row.rubric_version),
        _label_cell(row.relevance),
        _name_cell(row.decided_by),
        _name_cell(row.clause),
        safe_cell(row.notes),
        _name_cell(row.source),
        plain_cell(row.active_seconds),
        plain_cell(row.judged_at),
    )


def _final_label(cells: Mapping[str, str], line: int) -> FinalLabelRecord:
    relevance = free_text(cells["relevance"]).strip()
    if not relevance:
        raise RecordError("the relevance is blank; a final label is a grade or `dropped`")
    return FinalLabelRecord(
        query_id=id_cell(cells["query_id"], "query id"),
        doc_id=id_cell(cells["doc_id"], "document id"),
        relevance=relevance,
        decided_by=optional_name(cells, "decided_by"),
        cause=optional_name(cells, "cause"),
        reason=free_text(cells["reason"]),
        rubric_version=version_cell(cells["rubric_version"]),
        by=optional_name(cells, "by"),
        decided_at=instant_cell(cells["decided_at"], "decided_at"),
        line=line,
        clause=optional_name(cells, "clause"),
        citation=optional_name(cells, "citation"),
    )


def read_final_labels_csv(
    stream: BinaryIO, *, file: str, problems: Problems
) -> Iterator[FinalLabelRecord]:
    """Read final labels, one for a pair: another one for it is refused.

    The columns `clause` and `citation` may be missing.
    """
    seen = FirstSeen()
    required, known = FINAL_LABEL_REQUIRED, FINAL_LABEL_HEADER
    for record in _read(stream, file, problems, required, known, _final_label):
        pair = (record.query_id, record.doc_id)
        label = f"the pair {pair[0]} {pair[1]}"
        content = replace(record, line=0)
        if not seen.repeats(
            pair, content, label=label, file=file, line=record.line, problems=problems
        ):
            yield record


def write_final_labels_csv(rows: Iterable[FinalLabelRecord]) -> Iterator[str]:
    """Lines of `final_labels.csv`. Raises ValueError for a refused id or text."""
    return write_csv(FINAL_LABEL_HEADER, (_final_label_row(row) for row in rows))


def _final_label_row(row: FinalLabelRecord) -> tuple[str, ...]:
    return (
        require_id(row.query_id, "query id"),
        require_id(row.doc_id, "document id"),
        safe_label(row.relevance),
        safe_cell(row.decided_by),
        safe_cell(row.cause),
        safe_cell(row.reason),
        plain_cell(row.rubric_version),
        safe_cell(row.by),
        plain_cell(row.decided_at),
        safe_cell(row.clause),
        safe_cell(row.citation),
    )

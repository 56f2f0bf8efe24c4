"""TREC qrels: `query iteration document grade`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import BinaryIO

from studies.formats.fields import grade_cell
from studies.formats.problems import Problems, RecordError
from studies.formats.records import QrelRecord
from studies.formats.text import check_id, content_lines, require_id

_HEADER_WORDS = {"relevance", "rel", "grade", "label", "score", "judgment", "judgement"}


def _record(text: str, line: int) -> QrelRecord:
    parts = text.split()
    if len(parts) != 4:
        hint = " (white space inside an id?)" if len(parts) > 4 else ""
        raise RecordError(f"{len(parts)} fields instead of 4 (query 0 document grade){hint}")
    query_id, iteration, doc_id, grade = parts
    if grade.lower() in _HEADER_WORDS:
        raise RecordError("a header row; qrels have none")
    if reason := check_id(query_id) or check_id(doc_id):
        raise RecordError(reason)
    return QrelRecord(query_id, iteration, doc_id, grade_cell(grade), line)


def read_qrels(
    stream: BinaryIO, *, file: str, problems: Problems, by_iteration: bool = False
) -> Iterator[QrelRecord]:
    """Read qrels with tabs or blanks between their four fields and integer grades.

    A pair that stands twice with one grade is noted and yielded once; with two grades it is
    refused. With `by_iteration` the second field is part of what must be unique, as where
    it names the annotator.
    """
    first: dict[tuple[str, str, str], QrelRecord] = {}
    for line, text in content_lines(stream, file=file, problems=problems):
        try:
            record = _record(text, line)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        iteration = record.iteration if by_iteration else ""
        before = first.setdefault((record.query_id, record.doc_id, iteration), record)
        if before is record:
            yield record
            continue
        pair = f"the pair {record.query_id} {record.doc_id} stands already in line {before.line}"
        if before.grade == record.grade:
            problems.note(file, line, pair)
        else:
            reason = f"{pair} with the grade {before.grade}, here with {record.grade}"
            problems.add(file, line, reason)


def write_qrels(rows: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Lines `query 0 document grade` for (query id, document id, grade), in the order given.

    Raises ValueError for an id that the format cannot carry.
    """
    for query_id, doc_id, grade in rows:
        query = require_id(query_id, "query id")
        yield f"{query} 0 {require_id(doc_id, 'document id')} {grade:d}\n"

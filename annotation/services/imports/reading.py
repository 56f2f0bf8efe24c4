"""Labels from a CSV file or TREC qrels, as rows for the staging table."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from annotation.models import Judgment
from studies.formats.judgments import read_judgments_csv
from studies.formats.problems import Problems, RecordError
from studies.formats.qrels import read_qrels
from studies.formats.records import UNSURE, JudgmentRecord
from studies.formats.text import check_name, open_source
from studies.services.imports.staging import EXTERNAL_ID

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")


@dataclass(frozen=True, kw_only=True)
class JudgmentOptions:
    """How a file of labels is to be understood.

    `annotator` is whose the labels are where the file names nobody, `round_name` their round
    (default: the newest main round that is open). With `keep_source` labels that the file says
    were given in the app stay such; only a study that moves as a whole asks for it.
    """

    annotator: str | None = None
    round_name: str | None = None
    machine: bool = False
    extend_pool: bool = False
    annotator_from_iteration: bool = False
    keep_source: bool = False


COLUMNS = {
    "line": "integer",
    "query_id": EXTERNAL_ID,
    "doc_id": EXTERNAL_ID,
    "annotator": 'text COLLATE "C"',
    "round": "text",
    "version": "integer",
    "relevance": "text",
    "decided_by": "text",
    "clause": "text",
    "note": "text",
    "source": "text",
    "active_seconds": "double precision",
    "judged_at": "timestamptz",
}


class Row(NamedTuple):
    """One label on its way in; the fields are the columns of the staging table."""

    line: int
    query_id: str
    doc_id: str
    annotator: str
    round: str
    version: int | None
    relevance: str
    decided_by: str | None
    clause: str | None
    note: str
    source: str
    active_seconds: float | None
    judged_at: object


def is_csv(path: Path) -> bool:
    """Whether a file of labels is CSV, by its name; any other is TREC qrels."""
    return path.name.lower().removesuffix(".gz").endswith(".csv")


@dataclass
class LabelFile:
    """A file of labels, read once; afterwards `blank` counts its rows without a label and
    `annotators` holds whom it names."""

    path: Path
    options: JudgmentOptions
    round_name: str
    problems: Problems
    blank: int = 0
    annotators: set[str] = field(default_factory=set)

    def rows(self) -> Iterator[Row]:
        """The labels; rows that cannot be one are added to the problems."""
        for record in self._records():
            if not record.relevance:
                self.blank += 1
                continue
            try:
                row = self._row(record)
            except RecordError as error:
                self.problems.add(self.path.name, record.line, str(error))
                continue
            self.annotators.add(row.annotator)
            yield row

    def _records(self) -> Iterator[JudgmentRecord]:
        name = self.path.name
        with open_source(self.path) as stream:
            if is_csv(self.path):
                yield from read_judgments_csv(stream, file=name, problems=self.problems)
                return
            by_iteration = self.options.annotator_from_iteration
            for line in read_qrels(
                stream, file=name, problems=self.problems, by_iteration=by_iteration
            ):
                yield JudgmentRecord(
                    query_id=line.query_id,
                    doc_id=line.doc_id,
                    annotator=line.iteration if by_iteration else None,
                    relevance=str(line.grade),
                    decided_by=None,
                    clause=None,
                    notes="",
                    line=line.line,
                )

    def _row(self, record: JudgmentRecord) -> Row:
        if record.clause and not record.decided_by:
            raise RecordError(f"the clause {record.clause} needs its dimension in decided_by")
        return Row(
            record.line,
            record.query_id,
            record.doc_id,
            self._annotator(record),
            self._round(record),
            record.rubric_version,
            _relevance(record.relevance),
            record.decided_by,
            record.clause,
            record.notes,
            self._source(record),
            record.active_seconds,
            record.judged_at,
        )

    def _annotator(self, record: JudgmentRecord) -> str:
        given = self.options.annotator
        name = record.annotator or given
        if name is None:
            raise RecordError("no annotator is named: add a column annotator, or --annotator NAME")
        if given is not None and name != given:
            raise RecordError(f"the row names the annotator {name}, --annotator says {given}")
        if reason := check_name(name):
            raise RecordError(f"annotator: {reason}")
        return name

    def _round(self, record: JudgmentRecord) -> str:
        if self.options.round_name and record.round not in (None, self.options.round_name):
            raise RecordError(
                f"the row is of the round {record.round}, --round says {self.options.round_name}"
            )
        return record.round or self.round_name

    def _source(self, record: JudgmentRecord) -> str:
        if not self.options.keep_source or record.source != Judgment.Source.APP:
            return Judgment.Source.IMPORT
        if record.decided_by is None:
            raise RecordError("a label given in the app names what decided it")
        return Judgment.Source.APP


def _relevance(text: str) -> str:
    """One spelling for a number and for unsure; names of grades stay as they are."""
    if _INTEGER.fullmatch(text):
        return str(int(text))
    return UNSURE if text.lower() == UNSURE else text

"""What an import found and did: read, new, same, conflicting and refused, kind by kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field

from studies.formats.problems import Note, Problem, Problems

Progress = Callable[[int, int, str], None]
"""Called with rows done, rows in all, and what is being done."""

KEPT_PROBLEMS = 100_000
"""Refusals listed one by one; further ones are only counted."""

REOPENED = "Queries that gained pairs are open again for those who had finished them."

COLUMNS = ("read", "new", "same", "conflicting", "refused")


def no_progress(done: int, total: int, message: str) -> None:
    """Watch nothing."""


@dataclass
class Tally:
    """Counts of one kind of thing. `refused` counts what no reader could take."""

    read: int = 0
    new: int = 0
    same: int = 0
    conflicting: int = 0
    refused: int = 0


@dataclass
class ImportReport:
    """The account of one import into `study`.

    `problems` holds every refusal and conflict with its file and line, and the notes.
    `grown` are the keys of queries that gained pooled pairs. `has_reopened`: some of them had been
    finished by somebody, who is to judge on.
    """

    study: str
    dry_run: bool = False
    tallies: dict[str, Tally] = field(default_factory=dict)
    problems: Problems = field(default_factory=lambda: Problems(kept=KEPT_PROBLEMS))
    grown: set[int] = field(default_factory=set)
    has_reopened: bool = False

    def tally(self, kind: str) -> Tally:
        """The counts of a kind, begun at zero."""
        return self.tallies.setdefault(kind, Tally())

    def count(self, kind: str, *, read: int, new: int, odd: int = 0) -> None:
        """Count rows of which `new` were added and the others known already, but for `odd` ones:
        those that conflict or were refused, some of them perhaps twice."""
        tally = self.tally(kind)
        tally.read += read
        tally.new += new
        tally.same += max(read - new - odd, 0)

    def conflict(
        self, kind: str, file: str, line: int | None, reason: str, *, rows: int = 1
    ) -> None:
        """Refuse what says otherwise than the study, for one reason in so many rows."""
        self.tally(kind).conflicting += rows
        self.problems.add(file, line, reason)

    def refuse(self, kind: str, file: str, line: int | None, reason: str, *, rows: int = 1) -> None:
        """Refuse what cannot stand in the study, for one reason in so many rows."""
        self.tally(kind).refused += rows
        self.problems.add(file, line, reason)

    def note(self, file: str, text: str) -> None:
        """Tell what was done all the same."""
        self.problems.note(file, None, text)

    @property
    def new(self) -> int:
        """How many things were added; 0 when the import changed nothing."""
        return sum(tally.new for tally in self.tallies.values())

    @property
    def refusals(self) -> list[Problem]:
        return self.problems.items

    @property
    def notes(self) -> list[Note]:
        return self.problems.notes

    def raise_if_refused(self) -> None:
        """Raise `ImportRefused` when anything was refused or conflicts."""
        if self.problems:
            raise ImportRefused(self)

    def counts(self) -> dict[str, dict[str, int]]:
        """The tallies as plain data, for the log."""
        return {kind: asdict(tally) for kind, tally in self.tallies.items()}

    def lines(self) -> Iterator[str]:
        """The report for a terminal: the table, the notes, the refusals, the outcome."""
        yield from self._table()
        yield from _section("Notes:", self.notes, self.problems.note_count)
        yield from _section("Refused:", self.refusals, self.problems.count)
        yield self.outcome

    def _table(self) -> Iterator[str]:
        if not self.tallies:
            return
        width = max(map(len, self.tallies))
        yield " " * width + "".join(f"{column:>13}" for column in COLUMNS)
        for kind, tally in self.tallies.items():
            cells = "".join(f"{getattr(tally, column):>13,}" for column in COLUMNS)
            yield f"{kind:<{width}}{cells}"

    @property
    def outcome(self) -> str:
        """One sentence: what happened, and what to do."""
        if self.problems:
            problems = _number(self.problems.count, "problem")
            return (
                f"Nothing was imported into {self.study}, because of {problems}. Correct the "
                "files and import again."
            )
        if not self.new:
            return f"Nothing is new: {self.study} is unchanged."
        rows = _number(self.new, "row")
        if self.dry_run:
            return f"{rows} would be added to {self.study}; nothing was written."
        outcome = f"Added to {self.study}: {rows}."
        return f"{outcome} {REOPENED}" if self.has_reopened else outcome


def _number(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _section(title: str, items: list[Note] | list[Problem], count: int) -> Iterator[str]:
    if not items:
        return
    yield title
    for item in items:
        yield f"  {item}"
    if count > len(items):
        yield f"  and {count - len(items):,} more"


class ImportRefused(Exception):
    """Nothing was written; `report` lists what is wrong and where."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        super().__init__(report.outcome)

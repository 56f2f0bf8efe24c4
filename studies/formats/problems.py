"""What is wrong with a file, and what is merely worth telling, collected line by line."""

from __future__ import annotations

from dataclasses import dataclass, field

KEPT_ITEMS = 1000
"""How many refusals and how many notes are kept; further ones are only counted."""

SHOWN_ITEMS = 20


def _located(file: str, line: int | None, text: str) -> str:
    return f"{file}: {text}" if line is None else f"{file}:{line}: {text}"


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is refused. `line` is 1-based, or None where the file has no lines."""

    file: str
    line: int | None
    reason: str

    def __str__(self) -> str:
        return _located(self.file, self.line, self.reason)


@dataclass(frozen=True, slots=True)
class Note:
    """One thing that was read, but that the reader should know of."""

    file: str
    line: int | None
    text: str

    def __str__(self) -> str:
        return _located(self.file, self.line, self.text)


@dataclass
class Problems:
    """Collects refusals and notes over any number of files.

    `items` and `notes` keep the first `kept` each (None keeps all), so that a file that is
    wrong in every line costs no memory; `count` and `note_count` are exact. An instance is
    true when anything was refused.
    """

    kept: int | None = KEPT_ITEMS
    items: list[Problem] = field(default_factory=list)
    count: int = 0
    notes: list[Note] = field(default_factory=list)
    note_count: int = 0

    def add(self, file: str, line: int | None, reason: str) -> None:
        """Refuse what stands at `line` of `file`."""
        self.count += 1
        if self.kept is None or len(self.items) < self.kept:
            self.items.append(Problem(file, line, reason))

    def note(self, file: str, line: int | None, text: str) -> None:
        """Report what was read all the same."""
        self.note_count += 1
        if self.kept is None or len(self.notes) < self.kept:
            self.notes.append(Note(file, line, text))

    @property
    def refuse(self) -> list[Problem]:
        """The refusals kept for display; the same list as `items`."""
        return self.items

    def __bool__(self) -> bool:
        return self.count > 0

    def raise_if_any(self) -> None:
        """Raise `FormatError` when anything was refused."""
        if self:
            raise FormatError(self)


class FormatError(ValueError):
    """Files were refused; `problems` holds every reason."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems
        super().__init__(problems)

    def __str__(self) -> str:
        shown = [str(problem) for problem in self.problems.items[:SHOWN_ITEMS]]
        rest = self.problems.count - len(shown)
        return "\n".join([*shown, f"and {rest} more"] if rest else shown)


class RecordError(ValueError):
    """Why one record is refused; readers turn it into a `Problem` with file and line."""

    def __init__(self, reason: str, line: int | None = None) -> None:
        super().__init__(reason)
        self.line = line

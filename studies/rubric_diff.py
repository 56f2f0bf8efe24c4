"""What changed between two versions of a rubric, and which labels the change can concern.

Pure: it compares the records that rubric files are read into, part by part and word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, TypeVar

from studies.formats.records import ClauseSpec, EdgeCaseSpec, ExampleSpec, GradeSpec, RubricFile

Kind = Literal["added", "removed", "changed"]
Edit = Literal["kept", "removed", "added"]
Key = TypeVar("Key")
Spec = TypeVar("Spec")

# A word, white space, or one other sign; scripts written without blanks go sign by sign.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORDLESS = re.compile(r"[\W_]*")
_TOKENS = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of words that both texts have, or only the earlier, or only the later one."""

    edit: Edit
    text: str


@dataclass(frozen=True, slots=True)
class NamedGap:
    """Where adjudication found the rubric silent or ambiguous on a pair.

    `dimensions` are those it decided by, or asked a clause of; None among them says that it named
    none. `clauses` are those it asked for, each by the names of its dimension and its own.
    """

    dimensions: frozenset[str | None] = frozenset()
    clauses: frozenset[tuple[str, str]] = frozenset()


NO_GAP = NamedGap()


@dataclass(frozen=True, slots=True)
class LabelFacts:
    """What has to be known of a label to tell whether a change can concern it.

    `grade` is None for unsure, `dimension` where it is unknown what decided, `query_class` for
    an unclassified query. `gap` is what the pair's adjudication named.
    """

    grade: int | None
    dimension: str | None
    clause: str | None = None
    query_class: str | None = None
    gap: NamedGap = NO_GAP


@dataclass(frozen=True, slots=True)
class GradeChange:
    """A grade added, retired, or with another name, definition, examples or relevance.

    `beside` are the grades next to it on the earlier scale: where its meaning moves, theirs ends
    elsewhere.
    """

    value: int
    before: GradeSpec | None
    after: GradeSpec | None
    beside: frozenset[int]

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    @property
    def is_reworded(self) -> bool:
        """Whether more changed than what counts as relevant."""
        return _meaning(self.before) != _meaning(self.after)

    @property
    def new_examples(self) -> Sequence[ExampleSpec]:
        return _only_in(self.after, self.before)

    @property
    def gone_examples(self) -> Sequence[ExampleSpec]:
        return _only_in(self.before, self.after)

    def concerns(self, label: LabelFacts) -> bool:
        """Labels that gave the grade, or were unsure; unless it only left, also those beside."""
        if not self.is_reworded:
            return False
        if label.grade is None or label.grade == self.value:
            return True
        return self.after is not None and label.grade in self.beside


@dataclass(frozen=True, slots=True)
class DimensionChange:
    """A dimension added, removed, or with another test."""

    name: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    def concerns(self, label: LabelFacts) -> bool:
        """Labels it decided, or may have decided, and those of pairs on which it was found silent;
        a new dimension may decide any pair."""
        if self.before is None:
            return True
        return not {None, self.name}.isdisjoint({label.dimension, *label.gap.dimensions})


@dataclass(frozen=True, slots=True)
class ClauseChange:
    """A clause added, removed, or with another text, prescribed grade or other classes."""

    dimension: str
    name: str
    before: ClauseSpec | None
    after: ClauseSpec | None

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    @property
    def is_reworded(self) -> bool:
        """Whether more changed than the classes it is for."""
        if self.before is None or self.after is None:
            return True
        return (self.before.text, self.before.grade_when_failed) != (
            self.after.text,
            self.after.grade_when_failed,
        )

    def concerns(self, label: LabelFacts) -> bool:
        """Labels of the classes it is or was for, and those that cite it. Where only its
        classes changed: labels of the classes it came to or left. In either case those of pairs
        whose adjudication asked for it, or found its dimension silent."""
        if self._answers(label.gap):
            return True
        was_for = applies_to(self.before, label.query_class)
        is_for = applies_to(self.after, label.query_class)
        if not self.is_reworded:
            return was_for != is_for
        return was_for or is_for or self._is_cited(label)

    def _answers(self, gap: NamedGap) -> bool:
        return self.dimension in gap.dimensions or (self.dimension, self.name) in gap.clauses

    def _is_cited(self, label: LabelFacts) -> bool:
        return label.clause == self.name and label.dimension == self.dimension


@dataclass(frozen=True, slots=True)
class EdgeCaseChange:
    """A ruling added, removed or changed. It is bound to no class: any pair may be such a case."""

    case: str
    before: str | None
    after: str | None

    @property
    def kind(self) -> Kind:
        return _kind(self.before, self.after)

    def concerns(self, label: LabelFacts) -> bool:
        return True


Change = GradeChange | DimensionChange | ClauseChange | EdgeCaseChange


@dataclass(frozen=True, slots=True)
class RubricDiff:
    """All that differs between two versions, in the order in which a rubric is read."""

    grades: tuple[GradeChange, ...] = ()
    dimensions: tuple[DimensionChange, ...] = ()
    clauses: tuple[ClauseChange, ...] = ()
    edge_cases: tuple[EdgeCaseChange, ...] = ()

    @property
    def changes(self) -> tuple[Change, ...]:
        return (*self.grades, *self.dimensions, *self.clauses, *self.edge_cases)

    def concerns(self, label: LabelFacts) -> bool:
        """Whether any of the changes can concern a label given under the earlier version."""
        return any(change.concerns(label) for change in self.changes)


def compare_rubrics(before: RubricFile, after: RubricFile) -> RubricDiff:
    """What differs between two complete rubrics. Order and notes are no difference."""
    return RubricDiff(
        grades=_compare_grades(before, after),
        dimensions=_compare_dimensions(before, after),
        clauses=_compare_clauses(before, after),
        edge_cases=_compare_edge_cases(before, after),
    )


def compare_words(before: str, after: str) -> tuple[Piece, ...]:
    """Two texts as one: kept and removed pieces make the earlier, kept and added the later.

    A blank or a comma that alone is the same between two changes is part of them: sentences that
    were written anew are read one after the other, not word upon word.
    """
    old, new = _TOKENS.findall(before), _TOKENS.findall(after)
    pieces: list[Piece] = []
    removed = added = ""
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    steps = matcher.get_opcodes()
    for place, (tag, old_start, old_end, new_start, new_end) in enumerate(steps, start=1):
        was, now = "".join(old[old_start:old_end]), "".join(new[new_start:new_end])
        is_between_changes = bool(removed or added) and place < len(steps)
        if tag == "equal" and not (is_between_changes and _WORDLESS.fullmatch(was)):
            pieces += [*_changed(removed, added), Piece("kept", was)]
            removed = added = ""
        else:
            removed, added = removed + was, added + now
    return (*pieces, *_changed(removed, added))


def _changed(removed: str, added: str) -> list[Piece]:
    both: list[tuple[Edit, str]] = [("removed", removed), ("added", added)]
    return [Piece(edit, text) for edit, text in both if text]


def applies_to(clause: ClauseSpec | None, query_class: str | None) -> bool:
    """Whether a clause is for queries of this class; one that names no class is for all."""
    return clause is not None and (not clause.classes or query_class in clause.classes)


def _compare_grades(before: RubricFile, after: RubricFile) -> tuple[GradeChange, ...]:
    old = {grade.value: grade for grade in before.grades or []}
    new = {grade.value: grade for grade in after.grades or []}
    return tuple(
        GradeChange(value, old.get(value), new.get(value), _neighbours(value, old))
        for value in sorted(old.keys() | new.keys())
        if old.get(value) != new.get(value)
    )


def _neighbours(value: int, scale: Iterable[int]) -> frozenset[int]:
    lower = max((other for other in scale if other < value), default=None)
    higher = min((other for other in scale if other > value), default=None)
    return frozenset(other for other in (lower, higher) if other is not None)


def _compare_dimensions(before: RubricFile, after: RubricFile) -> tuple[DimensionChange, ...]:
    old = {dimension.name: dimension.test for dimension in before.dimensions}
    new = {dimension.name: dimension.test for dimension in after.dimensions}
    return tuple(DimensionChange(name, *pair) for name, pair in _differing(old, new))


def _compare_clauses(before: RubricFile, after: RubricFile) -> tuple[ClauseChange, ...]:
    old, new = _clauses(before), _clauses(after)
    return tuple(
        ClauseChange(dimension, name, *pair) for (dimension, name), pair in _differing(old, new)
    )


def _clauses(rubric: RubricFile) -> dict[tuple[str, str], ClauseSpec]:
    return {
        (dimension.name, clause.name): ClauseSpec(
            clause.name, sorted(clause.classes), clause.text, clause.grade_when_failed
        )
        for dimension in rubric.dimensions
        for clause in dimension.clauses
    }


def _compare_edge_cases(before: RubricFile, after: RubricFile) -> tuple[EdgeCaseChange, ...]:
    old, new = _rulings(before.edge_cases), _rulings(after.edge_cases)
    return tuple(EdgeCaseChange(case, *pair) for case, pair in _differing(old, new))


def _rulings(edge_cases: Iterable[EdgeCaseSpec]) -> dict[str, str]:
    """The ruling of each case; a case that stands twice has both."""
    rulings: dict[str, list[str]] = {}
    for edge in edge_cases:
        rulings.setdefault(edge.case, []).append(edge.ruling)
    return {case: "\n".join(found) for case, found in rulings.items()}


def _differing(
    old: Mapping[Key, Spec], new: Mapping[Key, Spec]
) -> list[tuple[Key, tuple[Spec | None, Spec | None]]]:
    """What differs, in the order of the later version; what it no longer has comes last."""
    keys = dict.fromkeys([*new, *old])
    pairs = ((key, (old.get(key), new.get(key))) for key in keys)
    return [(key, (one, other)) for key, (one, other) in pairs if one != other]


def _kind(before: object | None, after: object | None) -> Kind:
    if before is None:
        return "added"
    return "removed" if after is None else "changed"


def _meaning(grade: GradeSpec | None) -> tuple[object, ...] | None:
    return None if grade is None else (grade.name, grade.definition, grade.examples)


def _only_in(grade: GradeSpec | None, other: GradeSpec | None) -> list[ExampleSpec]:
    others = other.examples if other else []
    return [example for example in (grade.examples if grade else []) if example not in others]

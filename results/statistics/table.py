"""The label table: the one input of every statistic."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.integer[Any]]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

NONE = -1
"""Code for an unknown dimension, no clause, or no class."""

_COLUMNS = ("query", "pair", "annotator", "grade", "dimension", "clause")


@dataclass(frozen=True, eq=False)
class LabelTable:
    """One row for each label, sorted by pair and annotator; unsure judgments are not rows.

    The six columns are integer arrays of equal length n, read-only and of 32 bits:

    - `query`: query code, an index into `query_class`; `pair`: any non-negative code;
    - `annotator`: index into `annotators`; `grade`: position on `scale`, 0 to k-1;
    - `dimension`: code of the deciding dimension, -1 unknown; `clause`: -1 none.

    `scale` holds the k grade values of the rubric's whole scale in ascending order, used or not.
    `query_class` holds for each query code an index into `classes`, or -1 for unclassified.

    Raises `ValueError` for columns of unequal length, codes out of range, values that are no
    integers, a pair under two queries, and two labels of one annotator on one pair.
    """

    query: IntArray
    pair: IntArray
    annotator: IntArray
    grade: IntArray
    dimension: IntArray
    clause: IntArray
    scale: tuple[int, ...]
    annotators: tuple[str, ...]
    query_class: IntArray
    classes: tuple[str, ...]

    def __post_init__(self) -> None:
        for name in (*_COLUMNS, "query_class"):
            self._set(name, _integers(name, getattr(self, name)))
        for name in ("scale", "annotators", "classes"):
            self._set(name, tuple(getattr(self, name)))
        self._check_names()
        self._check_ranges()
        self._sort()
        for name in (*_COLUMNS, "query_class"):
            getattr(self, name).setflags(write=False)

    @classmethod
    def from_columns(
        cls,
        *,
        query: npt.ArrayLike,
        pair: npt.ArrayLike,
        annotator: npt.ArrayLike,
        grade: npt.ArrayLike,
        scale: Sequence[int],
        annotators: Sequence[str],
        dimension: npt.ArrayLike | None = None,
        clause: npt.ArrayLike | None = None,
        query_class: npt.ArrayLike | None = None,
        classes: Sequence[str] = (),
    ) -> "LabelTable":
        """Build a table from anything array-like; what is left out is unknown or unclassified."""
        queries = _integers("query", query)
        unknown = np.full(len(queries), NONE)
        if query_class is None:
            query_class = np.full(int(queries.max(initial=NONE)) + 1, NONE)
        return cls(
            query=queries,
            pair=np.asarray(pair),
            annotator=np.asarray(annotator),
            grade=np.asarray(grade),
            dimension=unknown if dimension is None else np.asarray(dimension),
            clause=unknown if clause is None else np.asarray(clause),
            scale=tuple(scale),
            annotators=tuple(annotators),
            query_class=np.asarray(query_class),
            classes=tuple(classes),
        )

    def __len__(self) -> int:
        return len(self.pair)

    @property
    def n_grades(self) -> int:
        """k, the number of grades on the whole scale."""
        return len(self.scale)

    @cached_property
    def pair_starts(self) -> IntArray:
        """Row at which each pair begins, one entry for each pair that has a label."""
        if not len(self):
            return np.zeros(0, dtype=np.intp)
        return np.flatnonzero(np.diff(self.pair, prepend=self.pair[0] - 1))

    @cached_property
    def pair_sizes(self) -> IntArray:
        """Number of labels of each pair that has a label, in the order of `pair_starts`."""
        return np.diff(self.pair_starts, append=len(self))

    def select(self, rows: BoolArray) -> "LabelTable":
        """The table of the rows where `rows` (length n) is true; all codes keep their meaning."""
        changed = {name: getattr(self, name)[rows] for name in _COLUMNS}
        kept = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in changed}
        return LabelTable(**changed, **kept)

    def without(self, annotators: Collection[int]) -> "LabelTable":
        """The table without the labels of these annotators (codes)."""
        if not annotators:
            return self
        return self.select(~np.isin(self.annotator, list(annotators)))

    def of_class(self, code: int) -> "LabelTable":
        """The table of the queries of one class (code), or of the unclassified ones (-1)."""
        return self.select(self.query_class[self.query] == code)

    def class_name(self, code: int) -> str | None:
        """Name of a class code, `None` for the unclassified (-1)."""
        return None if code == NONE else self.classes[code]

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_names(self) -> None:
        if not self.scale:
            raise ValueError("scale is empty: give the rubric's grade values")
        if any(low >= high for low, high in pairwise(self.scale)):
            raise ValueError(f"scale must ascend without repeats, not {self.scale}")
        for name in ("annotators", "classes"):
            values = getattr(self, name)
            if len(set(values)) != len(values):
                raise ValueError(f"{name} holds a name twice: {values}")

    def _check_ranges(self) -> None:
        lengths = {name: len(getattr(self, name)) for name in _COLUMNS}
        if len(set(lengths.values())) > 1:
            raise ValueError(f"columns differ in length: {lengths}")
        _check_range("query", self.query, 0, len(self.query_class))
        _check_range("pair", self.pair, 0, None)
        _check_range("annotator", self.annotator, 0, len(self.annotators))
        _check_range("grade", self.grade, 0, len(self.scale))
        _check_range("dimension", self.dimension, NONE, None)
        _check_range("clause", self.clause, NONE, None)
        _check_range("query_class", self.query_class, NONE, len(self.classes))

    def _sort(self) -> None:
        key = self.pair.astype(np.int64) * len(self.annotators) + self.annotator
        if np.any(np.diff(key) < 0):
            order = np.argsort(key, kind="stable")
            key = key[order]
            for name in _COLUMNS:
                self._set(name, getattr(self, name)[order])
        self._check_rows(key)

    def _check_rows(self, key: IntArray) -> None:
        repeated = np.flatnonzero(np.diff(key) == 0)
        if len(repeated):
            row = repeated[0]
            name = self.annotators[self.annotator[row]]
            raise ValueError(f"annotator {name!r} has two labels on pair {self.pair[row]}")
        moved = np.flatnonzero((np.diff(self.pair) == 0) & (np.diff(self.query) != 0))
        if len(moved):
            raise ValueError(f"pair {self.pair[moved[0]]} stands under two queries")


def _integers(name: str, values: npt.ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one dimension, not {array.ndim}")
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must hold integers, not {array.dtype}")
    if array.size and array.max() > np.iinfo(np.int32).max:
        raise ValueError(f"{name} holds a code above 32 bits: {array.max()}")
    return array.astype(np.int32)


def _check_range(name: str, values: IntArray, low: int, end: int | None) -> None:
    if not values.size:
        return
    if values.min() < low:
        raise ValueError(f"{name} holds {values.min()}; the lowest code is {low}")
    if end is not None and values.max() >= end:
        raise ValueError(f"{name} holds {values.max()}; the highest code is {end - 1}")

"""Where labels split: by class, deciding dimension, grades, and direction.

A split is a pair labelled at least twice whose labels are not all the same.
"""

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from results.statistics.agreement import Measure
from results.statistics.counts import Comparisons, compare_labels
from results.statistics.exact import fisher_exact_p
from results.statistics.intervals import Interval, wilson_interval
from results.statistics.table import NONE, BoolArray, IntArray, LabelTable

SplitKind = Literal["same_reading", "different_dimensions", "different_clauses", "unknown_citation"]
SPLIT_KINDS: tuple[SplitKind, ...] = get_args(SplitKind)


@dataclass(frozen=True)
class SplitRate:
    """Splits among the pairs labelled at least twice."""

    pairs: int
    splits: int

    @property
    def value(self) -> float | None:
        """Splits per pair, `None` where no pair was labelled twice."""
        return self.splits / self.pairs if self.pairs else None

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95% interval of the rate; it takes the pairs as independent."""
        return wilson_interval(self.splits, self.pairs)


@dataclass(frozen=True)
class ClassSplits:
    """One class against all other queries; code -1 and name `None` are the unclassified."""

    code: int
    name: str | None
    inside: SplitRate
    rest: SplitRate

    @cached_property
    def fisher_p(self) -> Measure:
        """Two-sided p of Fisher's exact test on the 2 x 2 table of splits (Fisher 1922).

        It treats pairs as independent, which pairs of one query are not: read it beside the
        table, and leave the verdict to the diagnosis.
        """
        if not self.inside.pairs:
            return Measure.undefined("no pair of this class was labelled at least twice")
        if not self.rest.pairs:
            return Measure.undefined("no pair outside of this class was labelled at least twice")
        table = [[rate.splits, rate.pairs - rate.splits] for rate in (self.inside, self.rest)]
        return Measure.of(fisher_exact_p(table), self.inside.pairs + self.rest.pairs)


@dataclass(frozen=True)
class DimensionSplits:
    """Labels that cite a dimension (code), and splits in which at least one label cites it."""

    dimension: int
    citations: int
    splits: int


@dataclass(frozen=True)
class Direction:
    """Who of two annotators grades higher, how often, over their comparisons in one class.

    `class_code` is -1 for unclassified queries; `a` and `b` are annotator codes, a < b.
    """

    a: int
    b: int
    class_code: int
    pairs: int
    a_higher: int
    b_higher: int


@dataclass(frozen=True, eq=False)
class PairSpread:
    """The pairs labelled at least twice (length P): query code, lowest and highest position."""

    query: IntArray
    lowest: IntArray
    highest: IntArray

    @property
    def split(self) -> BoolArray:
        """Which of the pairs are splits (length P)."""
        split: BoolArray = self.lowest != self.highest
        return split


def find_spread(table: LabelTable) -> PairSpread:
    """Lowest and highest grade of every pair labelled at least twice."""
    twice = table.pair_sizes >= 2
    return PairSpread(
        query=table.query[table.pair_starts[twice]],
        lowest=_by_pair(np.minimum, table.grade, table)[twice],
        highest=_by_pair(np.maximum, table.grade, table)[twice],
    )


def split_rate(table: LabelTable) -> SplitRate:
    """Splits of the whole table."""
    split = find_spread(table).split
    return SplitRate(pairs=len(split), splits=int(split.sum()))


def splits_by_class(table: LabelTable) -> list[ClassSplits]:
    """Every class against the rest, in the order of `table.classes`, zeros included.

    Unclassified queries are part of the rest of every named class. Where some of their pairs
    were labelled twice, they stand last as an entry of their own.
    """
    spread = find_spread(table)
    # Shifted by one, so that the unclassified (-1) come first.
    group = table.query_class[spread.query] + 1
    size = len(table.classes) + 1
    pairs = np.bincount(group, minlength=size)
    splits = np.bincount(group[spread.split], minlength=size)
    whole = SplitRate(int(pairs.sum()), int(splits.sum()))
    rows = []
    for code in (*range(len(table.classes)), NONE):
        inside = SplitRate(int(pairs[code + 1]), int(splits[code + 1]))
        rest = SplitRate(whole.pairs - inside.pairs, whole.splits - inside.splits)
        rows.append(ClassSplits(code, table.class_name(code), inside, rest))
    return rows if rows[-1].inside.pairs else rows[:-1]


def split_kinds(table: LabelTable) -> dict[SplitKind, int]:
    """Splits by what their labels cite; the kinds exclude each other and add up to all splits.

    - `different_dimensions`: two labels cite different dimensions, whatever the others cite;
    - `unknown_citation`: otherwise, at least one label cites no dimension;
    - `different_clauses`: one dimension, but different clauses, or a clause and none;
    - `same_reading`: one dimension and one reading: what a slip looks like.
    """
    split = _by_pair(np.minimum, table.grade, table) != _by_pair(np.maximum, table.grade, table)
    unknown = _by_pair(np.minimum, table.dimension, table) == NONE
    highest = _by_pair(np.maximum, table.dimension, table)
    known = np.where(table.dimension == NONE, np.iinfo(np.int32).max, table.dimension)
    lowest = _by_pair(np.minimum, known, table)
    dimensions = split & (highest != NONE) & (lowest != highest)
    clauses = _by_pair(np.minimum, table.clause, table) != _by_pair(np.maximum, table.clause, table)
    rest = split & ~dimensions
    return {
        "same_reading": int((rest & ~unknown & ~clauses).sum()),
        "different_dimensions": int(dimensions.sum()),
        "different_clauses": int((rest & ~unknown & clauses).sum()),
        "unknown_citation": int((rest & unknown).sum()),
    }


def splits_by_grades(table: LabelTable) -> dict[tuple[int, int], int]:
    """Splits by their lowest and highest grade (values of the scale), those that occur."""
    spread = find_spread(table)
    between = zip(
        spread.lowest[spread.split].tolist(), spread.highest[spread.split].tolist(), strict=True
    )
    counted = sorted(Counter(between).items())
    return {(table.scale[low], table.scale[high]): count for (low, high), count in counted}


def splits_by_dimension(table: LabelTable) -> list[DimensionSplits]:
    """Citations and splits of every dimension code up to the highest cited, zeros included."""
    cited = table.dimension != NONE
    size = int(table.dimension.max(initial=NONE)) + 1
    citations = np.bincount(table.dimension[cited], minlength=size)
    split = _by_pair(np.minimum, table.grade, table) != _by_pair(np.maximum, table.grade, table)
    in_split = np.repeat(split, table.pair_sizes) & cited
    rows = np.unique(np.column_stack([table.pair[in_split], table.dimension[in_split]]), axis=0)
    splits = np.bincount(rows[:, 1], minlength=size)
    return [DimensionSplits(code, int(citations[code]), int(splits[code])) for code in range(size)]


def directions(table: LabelTable) -> list[Direction]:
    """Who is higher how often, for each two annotators who share a pair, in each class."""
    return [
        _direction(both, code, rows)
        for both, rows in compare_labels(table).by_annotators()
        for code, rows in _by_class(rows, table)
    ]


def _by_class(rows: Comparisons, table: LabelTable) -> list[tuple[int, Comparisons]]:
    group = table.query_class[rows.query]
    return [(int(code), rows.take(np.flatnonzero(group == code))) for code in np.unique(group)]


def _direction(both: tuple[int, int], code: int, rows: Comparisons) -> Direction:
    return Direction(
        *both,
        class_code=code,
        pairs=len(rows),
        a_higher=int((rows.first_grade > rows.second_grade).sum()),
        b_higher=int((rows.first_grade < rows.second_grade).sum()),
    )


def _by_pair(reduce: np.ufunc, column: IntArray, table: LabelTable) -> IntArray:
    """The least or greatest value of a column for each pair, in the order of `pair_starts`."""
    if not len(table):
        return column
    result: IntArray = reduce.reduceat(column, table.pair_starts)
    return result

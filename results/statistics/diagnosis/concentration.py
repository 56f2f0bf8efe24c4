"""Does a class split more than the rest? Whole queries compared, at equal numbers of labels."""

from dataclasses import dataclass
from math import comb, prod

import numpy as np

from results.statistics.diagnosis.resampling import (
    TOLERANCE,
    Draws,
    deal_class,
    standardise_difference,
)
from results.statistics.splits import find_spread
from results.statistics.table import FloatArray, IntArray, LabelTable


@dataclass(frozen=True, eq=False)
class QuerySplits:
    """The queries with a pair labelled at least twice (length U) and their splits.

    `pairs` and `splits` (U x M) go by number of labels, one column for each of `sizes`;
    `query_class` is -1 for the unclassified.
    """

    query: IntArray
    query_class: IntArray
    sizes: IntArray
    pairs: IntArray
    splits: IntArray

    @property
    def n_pairs(self) -> IntArray:
        result: IntArray = self.pairs.sum(axis=1)
        return result

    @property
    def stratum(self) -> IntArray:
        """Labels per pair of each query, rounded: classes are dealt out among equals."""
        return np.rint(self.pairs @ self.sizes / self.n_pairs).astype(np.int64)

    @property
    def excess(self) -> FloatArray:
        """Splits of each query above what its pairs show in the whole study (length U)."""
        seen = self.pairs.sum(axis=0)
        rate = self.splits.sum(axis=0) / np.maximum(seen, 1)
        result: FloatArray = self.splits.sum(axis=1) - self.pairs @ rate
        return result


@dataclass(frozen=True)
class Concentration:
    """How much more a class splits than the rest, with the queries of either.

    `ratio` is its splits over those it would have at the rest's rates for the same numbers of
    labels, `None` where the rest has no split there or no such pair. `p_value` is one-sided and
    `None` where no other class has queries with as many labels. `least_p` is the smallest p that
    the numbers of queries allow, 1 at most.
    """

    queries: int
    rest_queries: int
    ratio: float | None
    p_value: float | None
    least_p: float


def count_query_splits(table: LabelTable) -> QuerySplits:
    """Pairs and splits of every query that has a pair labelled at least twice."""
    spread = find_spread(table)
    labels = table.pair_sizes[table.pair_sizes >= 2]
    query, row = np.unique(spread.query, return_inverse=True)
    sizes, column = np.unique(labels, return_inverse=True)
    shape = (len(query), len(sizes))
    cell = row * len(sizes) + column
    return QuerySplits(
        query=query,
        query_class=table.query_class[query],
        sizes=sizes,
        pairs=np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape),
        splits=np.bincount(cell[spread.split], minlength=shape[0] * shape[1]).reshape(shape),
    )


def measure_concentration(counts: QuerySplits, classes: int, draws: Draws) -> list[Concentration]:
    """The concentration of every class code below `classes`.

    Statistic: mean excess per pair of the class less that of the rest, over its standard error
    with queries as the units.
    """
    strata, stratum = np.unique(counts.stratum, return_inverse=True)
    rows, kind, kinds = np.unique(
        np.column_stack([stratum, counts.pairs, counts.splits]),
        axis=0,
        return_inverse=True,
        return_counts=True,
    )
    first = np.unique(kind, return_index=True)[1]
    terms = np.column_stack([counts.excess, counts.excess**2, counts.n_pairs])[first]
    total: FloatArray = np.matmul(kinds, terms)
    found = []
    for code in range(classes):
        inside = counts.query_class == code
        taken = np.bincount(stratum[inside], minlength=len(strata))
        own: FloatArray = np.matmul(np.bincount(kind[inside], minlength=len(kinds)), terms)
        observed = standardise_difference(own, total)
        reached, drawn = 0, 0
        for dealt in deal_class(kinds, rows[:, 0], taken, draws, stream=code):
            sums: FloatArray = np.matmul(dealt, terms)
            statistics = standardise_difference(sums, total)
            reached += int((statistics >= observed - TOLERANCE).sum())
            drawn += len(dealt)
        found.append(_describe(counts, code, p_value=(1 + reached) / (1 + drawn)))
    return found


def _describe(counts: QuerySplits, code: int, *, p_value: float) -> Concentration:
    inside = counts.query_class == code
    strata = np.unique(counts.stratum)
    arrangements = prod(
        comb(int(here.sum()), int((here & inside).sum()))
        for here in (counts.stratum == stratum for stratum in strata)
    )
    return Concentration(
        queries=int(inside.sum()),
        rest_queries=int((~inside).sum()),
        ratio=_find_ratio(counts, code),
        p_value=p_value if arrangements > 1 else None,
        least_p=1 / arrangements,
    )


def _find_ratio(counts: QuerySplits, code: int) -> float | None:
    inside = counts.query_class == code
    pairs, rest_pairs = counts.pairs[inside].sum(axis=0), counts.pairs[~inside].sum(axis=0)
    shared = rest_pairs > 0
    rest_rate = counts.splits[~inside].sum(axis=0)[shared] / rest_pairs[shared]
    expected = float(pairs[shared] @ rest_rate)
    return float(counts.splits[inside].sum(axis=0)[shared].sum()) / expected if expected else None

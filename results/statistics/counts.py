"""Small counts made from a label table in one pass; every measure is arithmetic on these.

k is the number of grades on the scale, in the order of the scale.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from results.statistics.table import BoolArray, FloatArray, IntArray, LabelTable


@dataclass(frozen=True, eq=False)
class GradeCounts:
    """How often each grade was given to each pair.

    `query` (length P) is the query code of each pair, `counts` (P x k) the number of labels.
    """

    query: IntArray
    counts: IntArray

    @cached_property
    def labels(self) -> IntArray:
        """Number of labels of each pair (length P)."""
        labels: IntArray = self.counts.sum(axis=1)
        return labels

    def where(self, pairs: BoolArray) -> "GradeCounts":
        """The pairs where `pairs` is true; the same counts where that is all of them."""
        if pairs.all():
            return self
        rows = np.flatnonzero(pairs)
        return GradeCounts(self.query[rows], self.counts[rows])

    def labelled_twice(self) -> "GradeCounts":
        """The pairs with at least two labels: those that can agree or disagree."""
        return self.where(self.labels >= 2)


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Every two labels of one pair, set side by side: one row for two annotators on one pair.

    Equal-length integer columns; `first` and `second` are annotator codes with first < second,
    `first_grade` and `second_grade` positions on the scale.
    """

    query: IntArray
    first: IntArray
    second: IntArray
    first_grade: IntArray
    second_grade: IntArray

    def __len__(self) -> int:
        return len(self.query)

    def by_annotators(self) -> Iterator[tuple[tuple[int, int], "Comparisons"]]:
        """The comparisons of each two annotators who share a pair, in the order of codes."""
        width = int(self.second.max(initial=0)) + 1
        both = self.first.astype(np.int64) * width + self.second
        order = np.argsort(both, kind="stable")
        borders = np.append(np.flatnonzero(np.diff(both[order], prepend=-1)), len(order))
        for start, end in pairwise(borders):
            rows = order[start:end]
            yield (int(self.first[rows[0]]), int(self.second[rows[0]])), self.take(rows)

    def take(self, rows: IntArray) -> "Comparisons":
        return Comparisons(
            self.query[rows],
            self.first[rows],
            self.second[rows],
            self.first_grade[rows],
            self.second_grade[rows],
        )


def count_grades(table: LabelTable) -> GradeCounts:
    """Grades of every pair that has at least one label."""
    pair_number = np.repeat(np.arange(len(table.pair_starts)), table.pair_sizes)
    cells = pair_number * table.n_grades + table.grade
    counts = np.bincount(cells, minlength=len(table.pair_starts) * table.n_grades)
    return GradeCounts(
        table.query[table.pair_starts], counts.reshape(len(table.pair_starts), table.n_grades)
    )


def count_labels(table: LabelTable) -> IntArray:
    """Labels of each annotator at each grade: annotators x k."""
    cells = table.annotator.astype(np.int64) * table.n_grades + table.grade
    shape = (len(table.annotators), table.n_grades)
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def query_coincidences(grades: GradeCounts) -> FloatArray:
    """Krippendorff's coincidence matrix of each query with a pair labelled twice: Q x k x k.

    A pair with n labels of which v_c have grade c adds v_c v_d / (n - 1) to cell (c, d), and
    v_c (v_c - 1) / (n - 1) to cell (c, c). The matrices are symmetric and their sum over the
    queries is the coincidence matrix of the whole table (Krippendorff 2011, step 2).
    """
    twice = grades.labelled_twice()
    queries, query_number = np.unique(twice.query, return_inverse=True)
    k = twice.counts.shape[1]
    share = 1.0 / (twice.labels - 1)
    columns = np.ascontiguousarray(twice.counts.T)
    result = np.zeros((len(queries), k, k))
    for c in range(k):
        for d in range(c, k):
            others = columns[d] - (c == d)
            weights = columns[c] * others * share
            cell = np.bincount(query_number, weights=weights, minlength=len(queries))
            result[:, c, d] = result[:, d, c] = cell
    return result


def query_agreements(grades: GradeCounts) -> FloatArray:
    """What each query with a pair labelled twice adds to Gwet's AC1 (Q x k+2).

    The columns are sums over its pairs labelled twice: the share of agreeing comparisons, 1, and
    the share of each grade (Gwet 2008).
    """
    twice = grades.labelled_twice()
    queries, query_number = np.unique(twice.query, return_inverse=True)
    agreeing = (twice.counts * (twice.counts - 1)).sum(axis=1)
    terms = [
        agreeing / (twice.labels * (twice.labels - 1)),
        np.ones(len(twice.query)),
        *(twice.counts / twice.labels[:, None]).T,
    ]
    return np.column_stack(
        [np.bincount(query_number, weights=term, minlength=len(queries)) for term in terms]
    )


def compare_labels(table: LabelTable) -> Comparisons:
    """Set every two labels of one pair side by side."""
    firsts, seconds = [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    # Rows of a pair are adjacent, so labels that lie `lag` rows apart meet in one step.
    for lag in range(1, int(table.pair_sizes.max(initial=0))):
        same = np.flatnonzero(table.pair[lag:] == table.pair[:-lag])
        firsts.append(same)
        seconds.append(same + lag)
    first, second = np.concatenate(firsts), np.concatenate(seconds)
    return Comparisons(
        query=table.query[first],
        first=table.annotator[first],
        second=table.annotator[second],
        first_grade=table.grade[first],
        second_grade=table.grade[second],
    )


def query_confusions(comparisons: Comparisons, k: int) -> FloatArray:
    """Confusion matrix of each query (Q x k x k; rows the first annotator, columns the second)."""
    queries, query_number = np.unique(comparisons.query, return_inverse=True)
    cells = (query_number * k + comparisons.first_grade) * k + comparisons.second_grade
    counts = np.bincount(cells, minlength=len(queries) * k * k)
    return counts.reshape(len(queries), k, k).astype(np.float64)

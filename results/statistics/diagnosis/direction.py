"""Do a class's splits run one way, more than the same annotators show elsewhere?"""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from results.statistics.counts import Comparisons
from results.statistics.diagnosis.shares import Answers, ShareTest
from results.statistics.diagnosis.thresholds import LEVEL, MINIMUM_REFERENCE
from results.statistics.table import IntArray


@dataclass(frozen=True)
class Contrast:
    """Two annotators (codes, a < b), or one against all others (`b` is `None`)."""

    a: int
    b: int | None


@dataclass(frozen=True, eq=False)
class DirectedSplits:
    """Who is higher how often, for each query and contrast.

    The rows of `answers` are the queries with a comparison that differs, its columns belong to
    `contrasts`; yes is "a is higher", and even odds are expected.
    """

    contrasts: tuple[Contrast, ...]
    answers: Answers


@dataclass(frozen=True)
class Direction:
    """One contrast in one class: counts, and the p value adjusted over all contrasts.

    `compared_with_rest` is false where the rest has fewer than ten directed splits, so that even
    odds are all there is to compare with; `rest_*` are the counts of the reference all the same.
    """

    a: int
    b: int | None
    a_higher: int
    b_higher: int
    rest_a_higher: int
    rest_b_higher: int
    compared_with_rest: bool
    excess: float
    p_value: float


@dataclass(frozen=True)
class Leniency:
    """Two annotators over all queries that belong to no hole.

    `lenient` is the code of the one who is higher everywhere, `None` where neither is.
    """

    a: int
    b: int
    a_higher: int
    b_higher: int
    p_value: float
    lenient: int | None


def count_directed(comparisons: Comparisons, group: IntArray, groups: int) -> DirectedSplits:
    """Count the comparisons that differ, by query and contrast.

    `group` holds for every query code its group, from 0 to `groups` - 1.
    """
    rows = comparisons.take(np.flatnonzero(comparisons.first_grade != comparisons.second_grade))
    first_higher = rows.first_grade > rows.second_grade
    between = np.unique(np.column_stack([rows.first, rows.second]), axis=0)
    width = int(rows.second.max(initial=0)) + 1
    codes = between[:, 0].astype(np.int64) * width + between[:, 1]
    column = np.searchsorted(codes, rows.first.astype(np.int64) * width + rows.second)
    contrasts = [Contrast(int(a), int(b)) for a, b in between]
    columns, yes = [column], [first_higher]
    people = np.unique(between)
    if len(people) > 2:
        contrasts += [Contrast(int(code), None) for code in people]
        columns += [
            len(codes) + np.searchsorted(people, side) for side in (rows.first, rows.second)
        ]
        yes += [first_higher, ~first_higher]
    answers = Answers.collect(
        query=np.tile(rows.query, len(columns)),
        question=np.concatenate(columns),
        yes=np.concatenate(yes).astype(np.float64),
        expected=np.full(len(columns) * len(rows), 0.5),
        questions=len(contrasts),
        group=group,
        groups=groups,
    )
    return DirectedSplits(tuple(contrasts), answers)


def describe_directions(directed: DirectedSplits, test: ShareTest) -> list[Direction]:
    """The contrasts that have a directed split in the class."""
    asked = [(place, contrast) for place, contrast in enumerate(directed.contrasts)]
    return [
        Direction(
            a=contrast.a,
            b=contrast.b,
            a_higher=int(test.yes[place]),
            b_higher=int(test.asked[place] - test.yes[place]),
            rest_a_higher=int(test.reference_yes[place]),
            rest_b_higher=int(test.reference_asked[place] - test.reference_yes[place]),
            compared_with_rest=bool(test.compared[place]),
            excess=float(test.excess[place]),
            p_value=float(test.p_value[place]),
        )
        for place, contrast in asked
        if test.asked[place]
    ]


def describe_leniency(
    directed: DirectedSplits, test: ShareTest, holes: Collection[int]
) -> list[Leniency]:
    """Leniency of every two annotators; `test` is that of all groups but the `holes`.

    It needs p at most 0.05, and the same one on top in every group with ten directed splits.
    """
    yes, asked = (
        directed.answers.sum_groups(matrix)
        for matrix in (directed.answers.yes, directed.answers.asked)
    )
    lean = np.where(asked >= MINIMUM_REFERENCE, np.sign(2 * yes - asked), 0)
    lean[list(holes)] = 0
    found = []
    for place, contrast in enumerate(directed.contrasts):
        if contrast.b is None or not test.asked[place]:
            continue
        side = test.side[place]
        uniform = test.p_value[place] <= LEVEL and bool(np.all(lean[:, place] * side >= 0))
        found.append(
            Leniency(
                a=contrast.a,
                b=contrast.b,
                a_higher=int(test.yes[place]),
                b_higher=int(test.asked[place] - test.yes[place]),
                p_value=float(test.p_value[place]),
                lenient=(contrast.a if side > 0 else contrast.b) if uniform else None,
            )
        )
    return found

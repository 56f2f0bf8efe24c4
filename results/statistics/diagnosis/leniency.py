"""Is one of two annotators higher everywhere? That is a habit of theirs, and no hole.

Asked of all queries outside of holes, and again without each further class: what one class does is
no habit, be it a hole that was not found.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from results.statistics.diagnosis.direction import DirectedSplits
from results.statistics.diagnosis.resampling import (
    TOLERANCE,
    Draws,
    enumerate_signs,
    flip_signs,
)
from results.statistics.diagnosis.shares import Answers, adjust_by_greatest
from results.statistics.diagnosis.thresholds import LEVEL, MINIMUM_REFERENCE
from results.statistics.exact import binomial_p
from results.statistics.table import FloatArray


@dataclass(frozen=True)
class Leniency:
    """Two annotators over all queries that belong to no hole.

    `lenient` is the code of the one who is higher everywhere, `None` where neither is.
    """

    a: int
    b: int
    a_higher: int
    b_higher: int
    queries: int
    p_value: float
    lenient: int | None


@dataclass(frozen=True, eq=False)
class AsideTest:
    """Each of K questions against its expectation with some groups put aside (arrays of length K).

    `queries` have an answer. `side` is 1 where there are more yes than expected, -1 where fewer;
    the p value is two-sided and adjusted over all questions.
    """

    yes: FloatArray
    asked: FloatArray
    queries: FloatArray
    side: FloatArray
    p_value: FloatArray


def find_leniency(
    directed: DirectedSplits, holes: Collection[int], others: Collection[int], draws: Draws
) -> list[Leniency]:
    """Leniency of every two annotators outside of the `holes`, whichever of the `others` (groups
    too) is left out besides."""
    aside = [[*holes], *([*holes, code] for code in others)]
    test, *left_out = put_aside(directed.answers, aside, draws)
    return describe_leniency(directed, test, holes, left_out=left_out)


def put_aside(answers: Answers, aside: Sequence[Collection[int]], draws: Draws) -> list[AsideTest]:
    """The test without each of these sets of groups. All share their signs (`shares` tells of
    flipping them), so that many tests cost little more than one."""
    queries = len(answers.group)
    is_small = draws.can_enumerate(queries)
    chunks = [enumerate_signs(queries)] if is_small else flip_signs(queries, draws)
    deviation = answers.yes - answers.expected
    matrix = answers.spread_out(deviation)
    shape = (answers.groups, answers.questions)
    drawn = np.concatenate(
        [(matrix @ signs).reshape(*shape, signs.shape[1]) for signs in chunks], axis=2
    )
    whole = drawn.sum(axis=0)
    counts = [
        answers.sum_groups(values)
        for values in (
            answers.yes,
            answers.asked,
            np.ones(len(deviation)),
            deviation,
            deviation**2,
        )
    ]
    return [_test_aside(counts, whole, drawn, sorted(groups)) for groups in aside]


def _test_aside(
    counts: Sequence[FloatArray], whole: FloatArray, drawn: FloatArray, groups: list[int]
) -> AsideTest:
    """`counts` (yes, asked, queries, deviation, squared) are groups x K, `drawn` groups x K x
    draws, and `whole` its sum over the groups."""
    yes, asked, queries, deviation, squares = (
        sums.sum(axis=0) - sums[groups].sum(axis=0) for sums in counts
    )
    some = squares > TOLERANCE
    scale = np.where(some, 1 / np.sqrt(np.where(some, squares, 1.0)), 0.0)
    flipped = (whole - drawn[groups].sum(axis=0)).T * scale
    return AsideTest(
        yes=yes,
        asked=asked,
        queries=queries,
        side=np.sign(deviation),
        p_value=adjust_by_greatest(np.abs(deviation) * scale, flipped, two_sided=True),
    )


def describe_leniency(
    directed: DirectedSplits,
    test: AsideTest,
    holes: Collection[int],
    *,
    left_out: Sequence[AsideTest] = (),
) -> list[Leniency]:
    """Leniency of every two annotators; `test` is that of all groups but the `holes`.

    It needs p at most 0.05, also in each test of `left_out`, which lack one group more (one-sided:
    the side is known), and no group in which the other one is higher beyond chance.
    """
    yes, asked = (
        directed.answers.sum_groups(values).astype(int)
        for values in (directed.answers.yes, directed.answers.asked)
    )
    sound = [group for group in range(len(asked)) if group not in holes]
    found = []
    for place, contrast in enumerate(directed.contrasts):
        if contrast.b is None or not test.asked[place]:
            continue
        side = test.side[place]
        uniform = (
            test.p_value[place] <= LEVEL
            and all(
                rest.p_value[place] <= 2 * LEVEL and rest.side[place] == side for rest in left_out
            )
            and not any(
                _is_opposed(yes[group, place], asked[group, place], side) for group in sound
            )
        )
        found.append(
            Leniency(
                a=contrast.a,
                b=contrast.b,
                a_higher=int(test.yes[place]),
                b_higher=int(test.asked[place] - test.yes[place]),
                queries=int(test.queries[place]),
                p_value=float(test.p_value[place]),
                lenient=(contrast.a if side > 0 else contrast.b) if uniform else None,
            )
        )
    return found


def _is_opposed(yes: int, asked: int, side: float) -> bool:
    """Whether this group leans to the other side beyond chance (binomial test, exact)."""
    if asked < MINIMUM_REFERENCE or np.sign(2 * yes - asked) * side >= 0:
        return False
    return binomial_p(yes, asked) <= LEVEL

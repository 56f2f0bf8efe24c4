"""The parts of the diagnosis against exact results, and what each must not be moved by."""

from itertools import combinations, product
from math import sqrt
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, multivariate_hypergeom

from results.statistics.diagnosis.concentration import (
    Concentration,
    count_query_splits,
    measure_concentration,
)
from results.statistics.diagnosis.direction import Contrast, count_directed
from results.statistics.diagnosis.resampling import (
    Draws,
    deal_class,
    enumerate_signs,
    flip_signs,
    holm,
)
from results.statistics.diagnosis.shares import Answers, Side, compare_shares
from results.statistics.diagnosis.verdict import (
    Need,
    find_need,
    find_need_to_be_sure,
    weigh_apart,
)
from results.statistics.splits import SplitRate
from results.statistics.table import LabelTable
from tests.pure.statistics.tables import grid_table, grids

DRAWS = Draws(seed=1, permutations=3_999)


def split_table(
    splits: list[int], *, per_query: int, query_class: list[int], labels: int = 2
) -> LabelTable:
    """Queries of `per_query` pairs, of which so many split."""
    grid = [
        [1, *[0] * (labels - 1)] if number < count else [0] * labels
        for count in splits
        for number in range(per_query)
    ]
    names = [str(code) for code in range(max(query_class) + 1)]
    return grid_table(
        grid, scale=(0, 1), per_query=per_query, query_class=query_class, classes=names
    )


def ask(
    yes: list[int], asked: list[int], group: list[int], *, reference: tuple[int, ...] = ()
) -> Any:
    """Test group 0 by one question at even odds, with these counts for each query."""
    queries = len(yes)
    answers = Answers(
        query=np.arange(queries),
        question=np.zeros(queries, dtype=np.int64),
        yes=np.array(yes, dtype=float),
        asked=np.array(asked, dtype=float),
        expected=np.array(asked) / 2,
        questions=1,
        group=np.array(group),
        groups=max(group) + 1,
    )
    (test,) = compare_shares(answers, [Side(0, reference)], two_sided=True, draws=DRAWS)
    return test


def test_concentration_comes_near_the_p_of_all_arrangements() -> None:
    """At equal sizes the statistic grows with the splits, so arrangements can be counted."""
    splits, query_class = [4, 3, 1, 2, 0, 1, 0, 2, 1, 0], [0] * 4 + [1] * 6
    table = split_table(splits, per_query=5, query_class=query_class)
    (found, _) = measure_concentration(count_query_splits(table), 2, DRAWS)
    sums = [sum(chosen) for chosen in combinations(splits, 4)]
    exact = np.mean([total >= 10 for total in sums])
    assert found.p_value == pytest.approx(exact, abs=0.01)
    assert found.least_p == 1 / 210
    assert found.ratio == (10 / 20) / (4 / 30)


def test_splits_of_one_query_count_as_one_finding() -> None:
    lumpy = split_table([10, 0, 0, 0, 0, 0, 0, 0], per_query=10, query_class=[0] * 4 + [1] * 4)
    even = split_table([3, 3, 2, 2, 0, 0, 0, 0], per_query=10, query_class=[0] * 4 + [1] * 4)
    p = [
        measure_concentration(count_query_splits(table), 2, DRAWS)[0].p_value
        for table in (lumpy, even)
    ]
    assert p[0] is not None
    assert p[1] is not None
    assert p[0] > 0.3 > 0.05 > p[1]


def test_more_labels_for_each_pair_are_no_concentration() -> None:
    """Pairs with three labels split more often in both classes, and one class has more of them."""
    twos, threes = [[1, 0, None]] + [[0, 0, None]] * 9, [[1, 0, 0]] * 5 + [[0, 0, 0]] * 5
    grid = [*threes * 6, *twos * 2, *threes * 2, *twos * 6]
    table = grid_table(
        grid, scale=(0, 1), per_query=10, query_class=[0] * 8 + [1] * 8, classes=["a", "b"]
    )
    counts = count_query_splits(table)
    found = measure_concentration(counts, 2, DRAWS)[0]
    assert counts.sizes.tolist() == [2, 3]
    assert found.ratio == 1.0
    assert found.p_value is not None
    assert found.p_value > 0.4


def test_dealing_kinds_is_dealing_queries() -> None:
    kinds, stratum, taken = np.array([3, 2, 4, 1]), np.array([0, 0, 1, 1]), np.array([2, 3])
    dealt = np.concatenate(list(deal_class(kinds, stratum, taken, DRAWS, stream=0)))
    assert len(dealt) == 3_999
    assert np.all(dealt[:, :2].sum(axis=1) == 2)
    assert np.all(dealt[:, 2:].sum(axis=1) == 3)
    share = np.mean((dealt[:, 0] == 1) & (dealt[:, 1] == 1))
    assert share == pytest.approx(multivariate_hypergeom.pmf([1, 1], [3, 2], 2), abs=0.03)


def test_both_ways_of_drawing_deal_alike() -> None:
    """Few kinds of many queries are drawn one after another, many kinds of few are shuffled."""
    few = np.concatenate(
        list(deal_class(np.array([300, 100]), np.zeros(2), np.array([40]), DRAWS, stream=0))
    )
    many = np.concatenate(
        list(deal_class(np.ones(40, int), np.zeros(40), np.array([4]), DRAWS, stream=0))
    )
    assert few[:, 0].mean() == pytest.approx(30, abs=0.3)
    assert many.mean(axis=0) == pytest.approx(np.full(40, 0.1), abs=0.03)


@given(flips=st.lists(st.integers(0, 1), min_size=1, max_size=11))
def test_one_answer_for_each_query_gives_the_binomial_test(flips: list[int]) -> None:
    test = ask(flips, [1] * len(flips), [0] * len(flips))
    assert test.p_value[0] == pytest.approx(binomtest(sum(flips), len(flips)).pvalue)


def test_random_signs_come_near_the_binomial_test() -> None:
    test = ask([1] * 15 + [0] * 5, [1] * 20, [0] * 20)
    assert test.p_value[0] == pytest.approx(binomtest(15, 20).pvalue, abs=0.01)


def test_answers_of_one_query_hang_together() -> None:
    assert ask([12, 12], [12, 12], [0, 0]).p_value[0] == 0.5
    assert ask([1] * 24, [1] * 24, [0] * 24).p_value[0] < 0.001


def test_the_signs_are_all_patterns_but_the_first_or_random_and_even() -> None:
    patterns = enumerate_signs(3).T.tolist()
    assert sorted(map(tuple, patterns)) == sorted(
        pattern for pattern in product((-1.0, 1.0), repeat=3) if pattern != (1.0, 1.0, 1.0)
    )
    signs = np.concatenate(list(flip_signs(40, DRAWS)), axis=1)
    assert signs.shape == (40, 3_999)
    assert set(np.unique(signs)) == {-1.0, 1.0}
    assert abs(signs.mean()) < 0.01


def test_a_reference_below_ten_answers_is_not_compared_with() -> None:
    near = ask([1] * 8 + [9], [1] * 8 + [9], [0] * 8 + [1], reference=(1,))
    enough = ask([1] * 8 + [10], [1] * 8 + [10], [0] * 8 + [1], reference=(1,))
    assert (near.compared[0], near.p_value[0]) == (False, 2 / 2**8)
    assert (enough.compared[0], enough.p_value[0]) == (True, 1.0)
    assert enough.excess[0] == 0.0


def test_a_class_must_differ_from_even_odds_and_from_the_reference() -> None:
    even_here = ask([1, 0] * 15, [1] * 30, [0] * 30)
    assert even_here.p_value[0] == 1.0
    # The rest leans heavily, the class stands even: less direction is no direction of its own.
    balanced = ask([1, 0] * 15 + [0] * 30, [1] * 60, [0] * 30 + [1] * 30, reference=(1,))
    assert balanced.p_value[0] == 1.0
    opposed = ask([1] * 20 + [0] * 20, [1] * 40, [0] * 20 + [1] * 20, reference=(1,))
    assert opposed.p_value[0] < 0.001


def test_a_direction_among_many_questions_weighs_less() -> None:
    def p_of_first(annotators: int) -> float:
        grid: list[list[int | None]] = [[1, 0, *[None] * (annotators - 2)]] * 9
        for a, b in combinations(range(annotators), 2):
            for number in range(20 if a or b > 1 else 0):
                row: list[int | None] = [None] * annotators
                row[a], row[b] = number % 2, 1 - number % 2
                grid.append(row)
        table = grid_table(grid, scale=(0, 1), query_class=[0] * len(grid), classes=["a"])
        directed = count_directed(table, table.query_class, 1)
        (test,) = compare_shares(directed.answers, [Side(0, ())], two_sided=True, draws=DRAWS)
        return float(test.p_value[0])

    assert p_of_first(2) == 2 / 2**9
    assert p_of_first(2) < p_of_first(3) < p_of_first(6)


@given(grid=grids(annotators=4, minimum_pairs=1))
def test_against_the_others_a_pair_counts_once(grid: list[list[int | None]]) -> None:
    table = grid_table(grid, scale=range(4), query_class=[0] * len(grid), classes=["a"])
    directed = count_directed(table, table.query_class, 1)
    yes, asked = (
        directed.answers.sum_groups(values)[0]
        for values in (directed.answers.yes, directed.answers.asked)
    )
    for place in directed.against_others:
        code = directed.contrasts[place].a
        leads = [
            sum(np.sign(row[code] - other) for other in row if other is not None)
            for row in grid
            if row[code] is not None
        ]
        assert yes[place] == sum(lead > 0 for lead in leads)
        assert asked[place] == sum(lead != 0 for lead in leads)


def test_two_annotators_are_compared_once_and_three_with_the_others_too() -> None:
    def contrasts(grid: list[list[int | None]]) -> tuple[Contrast, ...]:
        table = grid_table(grid, query_class=[0] * len(grid), classes=["a"])
        return count_directed(table, table.query_class, 1).contrasts

    assert contrasts([[0, 1]]) == (Contrast(0, 1),)
    assert contrasts([[0, 1, 0], [0, 0, 1]]) == (
        *(Contrast(0, 1), Contrast(0, 2), Contrast(1, 2)),
        *(Contrast(0, None), Contrast(1, None), Contrast(2, None)),
    )


def test_holm_adjusts_step_by_step_and_skips_what_is_undefined() -> None:
    adjusted = holm([0.01, None, 0.04, 0.03, 0.005])
    assert adjusted[1] is None
    assert [p for p in adjusted if p is not None] == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=8))
def test_holm_never_lowers_a_p_and_keeps_the_order(p_values: list[float]) -> None:
    adjusted = [p for p in holm(p_values) if p is not None]
    assert all(raw <= after <= 1 for raw, after in zip(p_values, adjusted, strict=True))
    order = np.argsort(p_values, kind="stable")
    assert np.all(np.diff(np.array(adjusted)[order]) >= 0)


def test_direction_and_citation_share_the_level_whatever_is_known() -> None:
    assert weigh_apart(0.032, 1.0) == weigh_apart(0.032, None) == pytest.approx(0.04)
    assert weigh_apart(1.0, 0.008) == weigh_apart(None, 0.008) == pytest.approx(0.04)
    assert weigh_apart(None, None) == weigh_apart(0.9, 0.9) == 1.0


@given(
    pairs=st.integers(1, 60), queries=st.integers(1, 12), rest=st.integers(0, 80), data=st.data()
)
def test_what_is_needed_is_enough(pairs: int, queries: int, rest: int, data: Any) -> None:
    """With the pairs that were asked for, at the same rates, nothing more is asked for."""
    queries = min(queries, pairs)
    inside = SplitRate(pairs, 0)
    outside = SplitRate(rest, data.draw(st.integers(0, rest // 3)))
    need = find_need(
        Concentration(queries, 40, None, 1.0, 0.001), inside, outside, tests=3, spread=1.2
    )
    # The prior counts ten pairs, so the rate of the rest moves a little when it grows.
    grown = SplitRate(rest + need.rest_pairs, outside.splits)
    again = find_need(
        Concentration(queries + need.queries, 40, None, 1.0, 0.001),
        SplitRate(pairs + need.pairs, 0),
        grown,
        tests=3,
        spread=1.2,
    )
    assert not again.rest_pairs
    assert again.pairs <= max(3, need.pairs // 3)


@given(
    pairs=st.integers(0, 60),
    more=st.integers(0, 60),
    tens=st.integers(0, 12),
    more_tens=st.integers(0, 12),
    queries=st.integers(0, 8),
    more_queries=st.integers(0, 4),
)
def test_labels_that_come_in_at_the_same_rates_ask_for_no_more(
    pairs: int, more: int, tens: int, more_tens: int, queries: int, more_queries: int
) -> None:
    """One pair in ten of the rest splits, as is assumed beforehand."""

    def ask(pairs: int, tens: int, queries: int) -> Need:
        found = Concentration(queries, 40, None, 1.0, 0.001)
        rest = SplitRate(10 * tens, tens)
        return find_need(found, SplitRate(pairs, 0), rest, tests=3, spread=1.2)

    before = ask(pairs, tens, queries)
    after = ask(pairs + more, tens + more_tens, queries + more_queries)
    assert after.pairs <= max(before.pairs, after.queries)
    assert after.queries <= before.queries
    assert after.rest_pairs <= before.rest_pairs


@given(pairs=st.integers(10, 200), more=st.integers(1, 200), effect=st.floats(0.08, 0.2))
def test_what_makes_it_sure_is_less_once_more_is_labelled(
    pairs: int, more: int, effect: float
) -> None:
    """The normal deviate grows with the root of the pairs."""

    def ask(pairs: int) -> int:
        p = 2 * NormalDist().cdf(-effect * sqrt(pairs))
        return find_need_to_be_sure(pairs, p, None, tests=2)

    missing = ask(pairs)
    if missing < 9 * pairs:
        assert ask(pairs + more) <= max(missing - more + 1, 1)

"""Intervals: what is drawn, what is left out, and when there is none."""

import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.metrics import cohen_kappa_score

from results.statistics.agreement import compare_labels, krippendorff_alpha
from results.statistics.counts import count_grades, query_coincidences, query_confusions
from results.statistics.intervals import (
    SEED,
    Interval,
    alpha_intervals,
    kappa_intervals,
    percentile_interval,
    resample_sums,
    wilson_interval,
)
from tests.pure.statistics.tables import PUBLISHED, confusion_grid, grid_table

QUERIES, PAIRS = 12, 3


def noisy_grid(queries: int = QUERIES) -> list[list[int]]:
    """Two annotators, three pairs a query, a split in about every third pair."""
    generator = np.random.default_rng(7)
    grid = generator.integers(0, 3, size=(queries * PAIRS, 1)).repeat(2, axis=1)
    moved = generator.random(queries * PAIRS) < 0.3
    grid[moved, 1] = (grid[moved, 1] + 1) % 3
    return grid.tolist()


def confusions_by_query(grid: list[list[int]], per_query: int = PAIRS) -> np.ndarray:
    table = grid_table(grid, scale=range(3), per_query=per_query)
    return query_confusions(compare_labels(table), 3)


def test_the_bootstrap_equals_one_that_draws_the_rows_of_whole_queries() -> None:
    grid = np.array(noisy_grid())
    drawn = np.random.default_rng(SEED).integers(0, QUERIES, size=(200, QUERIES))
    rows = (drawn[:, :, None] * PAIRS + np.arange(PAIRS)).reshape(200, -1)
    kappas = [cohen_kappa_score(grid[row, 0], grid[row, 1], labels=range(3)) for row in rows]
    outcome = kappa_intervals({"ab": confusions_by_query(grid.tolist())}, resamples=200)["ab"][
        "nominal"
    ]
    assert outcome.interval is not None
    assert (outcome.interval.low, outcome.interval.high) == pytest.approx(
        np.percentile(kappas, (2.5, 97.5))
    )


def test_intervals_of_alpha_are_those_of_resampled_labels() -> None:
    grid = noisy_grid()
    coincidences = query_coincidences(count_grades(grid_table(grid, per_query=PAIRS)))
    drawn = np.random.default_rng(SEED).integers(0, QUERIES, size=(50, QUERIES))
    for level, outcome in alpha_intervals(coincidences, (0, 1, 2), resamples=50).items():
        alphas = [
            krippendorff_alpha(
                grid_table([row for q in queries for row in grid[q * PAIRS : (q + 1) * PAIRS]]),
                level,
            ).value
            for queries in drawn
        ]
        assert outcome.interval is not None
        assert (outcome.interval.low, outcome.interval.high) == pytest.approx(
            np.percentile(np.array(alphas, dtype=float), (2.5, 97.5))
        )


@pytest.mark.parametrize(
    "example",
    [e for e in PUBLISHED["kappa"] if sum(map(sum, e["table"])) >= 90],
    ids=lambda e: e["name"],
)
def test_with_one_pair_a_query_the_interval_is_near_the_asymptotic_one(example: dict) -> None:
    """Compared with the large-sample interval of statsmodels (Fleiss, Cohen, Everitt 1969)."""
    grid = confusion_grid(example["table"])
    table = grid_table(grid)
    tables = query_confusions(compare_labels(table), len(example["table"]))
    outcome = kappa_intervals({"ab": tables})["ab"]["nominal"]
    assert outcome.interval is not None
    assert (outcome.interval.low, outcome.interval.high) == pytest.approx(
        example["recomputed"]["statsmodels_ci95"], abs=0.03
    )


def test_queries_that_agree_within_themselves_widen_the_interval() -> None:
    """Thirty pairs in ten queries of three identical pairs tell as much as ten pairs."""
    grid = [row for row in noisy_grid(10)[::PAIRS] for _ in range(PAIRS)]
    by_query = kappa_intervals({0: confusions_by_query(grid)})[0]["nominal"].interval
    by_pair = kappa_intervals({0: confusions_by_query(grid, per_query=1)})[0]["nominal"].interval
    assert by_query is not None
    assert by_pair is not None
    assert by_query.high - by_query.low > 1.4 * (by_pair.high - by_pair.low)


def test_the_same_labels_give_the_same_interval_whoever_else_is_asked() -> None:
    one, other = confusions_by_query(noisy_grid()), confusions_by_query(noisy_grid(15))
    alone = kappa_intervals({"one": one})
    together = kappa_intervals({"other": other, "again": one, "one": one})
    assert alone["one"] == together["one"] == together["again"]


def test_resamples_in_several_steps_are_those_of_one_step(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tables = [confusions_by_query(noisy_grid())]
    whole = resample_sums(tables, resamples=40)[0]
    monkeypatch.setattr("results.statistics.intervals._CELLS_AT_ONCE", 7 * QUERIES)
    assert np.array_equal(resample_sums(tables, resamples=40)[0], whole)
    assert whole.sum(axis=(1, 2)).tolist() == [QUERIES * PAIRS] * 40


def test_below_ten_queries_there_is_no_interval() -> None:
    few = kappa_intervals({0: confusions_by_query(noisy_grid(9))})[0]["nominal"]
    assert (few.interval, few.queries, few.undefined) == (None, 9, None)
    assert "fewer than 10 queries" in (few.reason or "")
    assert (
        kappa_intervals({0: confusions_by_query(noisy_grid(10))})[0]["nominal"].interval is not None
    )


def test_alpha_below_ten_queries_has_no_interval() -> None:
    outcomes = alpha_intervals(np.zeros((0, 3, 3)), (0, 1, 2))
    assert {outcome.interval for outcome in outcomes.values()} == {None}


def test_undefined_resamples_are_left_out_up_to_five_in_a_hundred() -> None:
    values = np.linspace(0, 1, 100)
    values[:5] = np.nan
    allowed = percentile_interval(values, queries=20)
    assert allowed.undefined == 0.05
    assert allowed.interval == Interval(*np.percentile(values[5:], (2.5, 97.5)))
    values[5] = np.nan
    refused = percentile_interval(values, queries=20)
    assert (refused.interval, refused.undefined) == (None, 0.06)
    assert "undefined in 6.0% of the resamples" in (refused.reason or "")


def test_a_rare_label_leaves_too_many_resamples_undefined() -> None:
    """One query of ten holds the only other label: it is missed in about 0.9 ** 10 of draws."""
    grid = [[0, 0]] * 27 + [[1, 1]] * 3
    outcome = kappa_intervals({0: confusions_by_query(grid)})[0]["nominal"]
    assert outcome.interval is None
    assert outcome.undefined == pytest.approx(0.9**10, abs=0.05)


def test_tables_of_unequal_length_are_refused() -> None:
    with pytest.raises(ValueError, match="same number of queries"):
        resample_sums([np.zeros((3, 2, 2)), np.zeros((4, 2, 2))])


@pytest.mark.parametrize(("splits", "pairs"), [(27, 76), (4, 124), (0, 5), (5, 5), (1, 1000)])
def test_wilson_intervals_equal_scipy(splits: int, pairs: int) -> None:
    interval = wilson_interval(splits, pairs)
    expected = binomtest(splits, pairs).proportion_ci(method="wilson")
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_a_published_wilson_interval_is_reproduced() -> None:
    """81 of 263: 0.2553 to 0.3662 (Newcombe 1998, Statistics in Medicine 17, Table I)."""
    interval = wilson_interval(81, 263)
    assert interval is not None
    assert (round(interval.low, 4), round(interval.high, 4)) == (0.2553, 0.3662)


def test_no_trials_no_interval() -> None:
    assert wilson_interval(0, 0) is None

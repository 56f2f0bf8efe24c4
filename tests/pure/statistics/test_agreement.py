"""What holds for every measure of agreement, whatever the labels."""

import math
from collections import Counter
from typing import Any

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from results.statistics.agreement import (
    LEVELS,
    WEIGHTS,
    Measure,
    alpha_band,
    cohen_kappa,
    confusion,
    confusions,
    expected_agreement,
    gwet_ac1,
    kappa_band,
    krippendorff_alpha,
    observed_agreement,
    raw_agreement,
)
from results.statistics.counts import count_grades
from tests.pure.statistics.tables import confusion_table, grid_table, grids

each_weights = pytest.mark.parametrize("weights", WEIGHTS)
each_level = pytest.mark.parametrize("level", LEVELS)

SKLEARN_WEIGHTS = {"nominal": None, "linear": "linear", "quadratic": "quadratic"}


def shared(grid: list[list[int | None]]) -> list[list[int]]:
    return [[a, b] for a, b, *_ in grid if a is not None and b is not None]


def all_measures(grid: list[list[int | None]]) -> dict[str, Measure]:
    table = grid_table(grid, scale=range(4))
    matrix = confusion(table, 0, 1)
    return {
        "raw": raw_agreement(table),
        "observed": observed_agreement(matrix),
        "expected": expected_agreement(matrix),
        **{f"kappa {weights}": cohen_kappa(matrix, weights) for weights in WEIGHTS},
        **{f"alpha {level}": krippendorff_alpha(table, level) for level in LEVELS},
        "ac1": gwet_ac1(table),
    }


# Against the libraries


@each_weights
@given(grid=grids(annotators=2))
def test_kappa_equals_scikit_learn(weights: Any, grid: list[list[int | None]]) -> None:
    both = shared(grid)
    assume(len({grade for row in both for grade in row}) > 1)
    first, second = zip(*both, strict=True)
    expected = cohen_kappa_score(first, second, labels=range(4), weights=SKLEARN_WEIGHTS[weights])
    matrix = confusion(grid_table(grid, scale=range(4)), 0, 1)
    assert cohen_kappa(matrix, weights).value == pytest.approx(expected, abs=1e-12)


@each_level
@given(grid=grids(annotators=4), scale=st.sampled_from([(0, 1, 2, 3), (-1, 0, 2, 10)]))
def test_alpha_equals_krippendorffs_package(
    level: Any, grid: list[list[int | None]], scale: tuple[int, ...]
) -> None:
    values = [[None if grade is None else scale[grade] for grade in row] for row in grid]
    table = grid_table(values, scale=scale)
    twice = count_grades(table).labelled_twice().counts
    assume(np.count_nonzero(twice.sum(axis=0)) > 1)
    expected = krippendorff.alpha(
        value_counts=twice, value_domain=list(scale), level_of_measurement=level
    )
    assert krippendorff_alpha(table, level).value == pytest.approx(expected, abs=1e-12)


@given(grid=grids(annotators=4))
def test_ac1_equals_its_definition(grid: list[list[int | None]]) -> None:
    units = [[grade for grade in row if grade is not None] for row in grid]
    units = [unit for unit in units if len(unit) >= 2]
    assume(len({grade for unit in units for grade in unit}) > 1)
    observed = math.fsum(
        math.fsum(n * (n - 1) for n in Counter(unit).values()) / (len(unit) * (len(unit) - 1))
        for unit in units
    ) / len(units)
    shares = [math.fsum(u.count(g) / len(u) for u in units) / len(units) for g in range(4)]
    chance = math.fsum(p * (1 - p) for p in shares) / 3
    measure = gwet_ac1(grid_table(grid, scale=range(4)))
    assert measure.value == pytest.approx((observed - chance) / (1 - chance), abs=1e-12)
    assert measure.n == len(units)


# Symmetry and order


@each_weights
@given(grid=grids())
def test_kappa_of_a_and_b_is_kappa_of_b_and_a(weights: Any, grid: list[list[int | None]]) -> None:
    table = grid_table(grid, scale=range(4))
    assume(len(table.annotators) > 1)
    one, other = confusion(table, 0, 1), confusion(table, 1, 0)
    assert one.tolist() == other.T.tolist()
    assert cohen_kappa(one, weights) == cohen_kappa(other, weights)


@given(grid=grids(minimum_pairs=1), seed=st.randoms(use_true_random=False))
def test_neither_order_of_pairs_nor_of_annotators_matters(
    grid: list[list[int | None]], seed: Any
) -> None:
    columns = [0, 1, 2]
    seed.shuffle(columns)
    shuffled = [[row[column] for column in columns] for row in grid]
    seed.shuffle(shuffled)
    one, other = grid_table(grid, scale=range(4)), grid_table(shuffled, scale=range(4))
    assert raw_agreement(one) == raw_agreement(other)
    for level in LEVELS:
        alpha, again = krippendorff_alpha(one, level), krippendorff_alpha(other, level)
        assert (alpha.reason, alpha.n) == (again.reason, again.n)
        assert alpha.value == pytest.approx(again.value, abs=1e-12)


@given(grid=grids(annotators=4))
def test_one_pass_gives_the_matrix_of_every_two_annotators(grid: list[list[int | None]]) -> None:
    table = grid_table(grid, scale=range(4))
    for (a, b), matrix in confusions(table).items():
        expected = np.zeros((4, 4), dtype=int)
        for row in grid:
            if row[a] is not None and row[b] is not None:
                expected[row[a], row[b]] += 1
        assert matrix.tolist() == expected.tolist()
    assert len(confusions(table)) == math.comb(len(table.annotators), 2)


def test_a_confusion_needs_two_known_annotators() -> None:
    table = grid_table([[0, 1]])
    for both in ((0, 0), (0, 2), (-1, 0)):
        with pytest.raises(ValueError, match="two different annotator codes"):
            confusion(table, *both)


# What moves the numbers, and what must not


def test_one_injected_split_moves_every_number() -> None:
    grid: list[list[int | None]] = [[0, 0], [1, 1], [2, 2], [3, 3], [0, 1], [2, 2], [2, 2], [1, 3]]
    before = all_measures(grid)
    grid[5] = [2, 0]
    after = all_measures(grid)
    for name in before:
        assert before[name].value != after[name].value, name
        if name != "expected":
            assert after[name].value < before[name].value, name


def test_perfect_agreement_is_one_in_every_measure() -> None:
    measures = all_measures([[grade, grade] for grade in (0, 1, 2, 3, 1)])
    assert {measures[name].value for name in measures if name != "expected"} == {1.0}


@given(grid=grids(annotators=2, missing=False), extra=grids(annotators=2))
def test_labels_of_one_annotator_alone_change_nothing(
    grid: list[list[int | None]], extra: list[list[int | None]]
) -> None:
    """One co-judged set feeds observed and expected agreement alike."""
    alone = [[a, None] if a is not None else [None, b] for a, b in extra]
    assume(grid)
    assert all_measures(grid + alone) == all_measures(grid)


def test_expected_agreement_comes_from_co_judged_pairs_only() -> None:
    """Annotator a gave 0 to ten pairs that b never saw; chance must not know of them."""
    co_judged: list[list[int | None]] = [[0, 0], [1, 1], [1, 0], [0, 0]]
    table = grid_table([*co_judged, *[[0, None]] * 10])
    matrix = confusion(table, 0, 1)
    assert matrix.sum() == 4
    assert observed_agreement(matrix).value == 0.75
    assert expected_agreement(matrix).value == 0.5 * 0.75 + 0.5 * 0.25
    assert cohen_kappa(matrix).value == 0.5


def test_grades_that_nobody_used_keep_their_place_on_the_scale() -> None:
    """Weights go by position on the rubric's whole scale, so 0 and 2 of four lie two apart."""
    wide = confusion(grid_table([[0, 2], [2, 2], [0, 0], [3, 3]], scale=range(4)), 0, 1)
    narrow = confusion(grid_table([[0, 2], [2, 2], [0, 0], [3, 3]]), 0, 1)
    assert wide.shape == (4, 4)
    assert cohen_kappa(wide).value == cohen_kappa(narrow).value
    assert cohen_kappa(wide, "linear").value != cohen_kappa(narrow, "linear").value


def test_weights_go_by_position_and_interval_alpha_by_value() -> None:
    grid = [[0, 1], [1, 1], [2, 2], [0, 0], [2, 1]]
    far = [[{2: 10}.get(grade, grade) for grade in row] for row in grid]
    near_table, far_table = grid_table(grid), grid_table(far)
    for weights in WEIGHTS:
        assert cohen_kappa(confusion(near_table, 0, 1), weights) == cohen_kappa(
            confusion(far_table, 0, 1), weights
        )
    assert krippendorff_alpha(near_table, "ordinal") == krippendorff_alpha(far_table, "ordinal")
    assert krippendorff_alpha(near_table, "interval") != krippendorff_alpha(far_table, "interval")


# Undefined outcomes


@each_weights
def test_kappa_with_nothing_shared_is_undefined(weights: Any) -> None:
    measure = cohen_kappa(confusion(grid_table([[0, None], [None, 1]]), 0, 1), weights)
    assert measure.value is None
    assert "nothing shared" in (measure.reason or "")


@each_weights
def test_kappa_with_one_label_used_is_undefined(weights: Any) -> None:
    measure = cohen_kappa([[0, 0, 0], [0, 7, 0], [0, 0, 0]], weights)
    assert (measure.value, measure.n) == (None, 7)
    assert "one label used" in (measure.reason or "")


def test_kappa_of_two_annotators_who_each_stick_to_another_label_is_zero() -> None:
    assert cohen_kappa([[0, 9], [0, 0]]).value == 0.0


@each_level
@pytest.mark.parametrize(
    ("grid", "reason", "pairs"),
    [
        ([], "nothing shared", 0),
        ([[0, None], [None, 1]], "nothing shared", 0),
        ([[1, 1], [1, 1], [0, None]], "one label used", 2),
    ],
)
def test_alpha_says_why_it_is_undefined(
    level: Any, grid: list[list[int | None]], reason: str, pairs: int
) -> None:
    measure = krippendorff_alpha(grid_table(grid, scale=(0, 1)), level)
    assert (measure.value, measure.n) == (None, pairs)
    assert reason in (measure.reason or "")


def test_ac1_and_raw_agreement_say_why_they_are_undefined() -> None:
    nothing = grid_table([[0, None], [None, 1]])
    assert "nothing shared" in (gwet_ac1(nothing).reason or "")
    assert "nothing shared" in (raw_agreement(nothing).reason or "")
    one_label = grid_table([[1, 1], [1, 1]], scale=(0, 1))
    assert "one label used" in (gwet_ac1(one_label).reason or "")
    assert raw_agreement(one_label).value == 1.0


def test_a_scale_of_one_grade_is_no_crash() -> None:
    table = grid_table([[0, 0], [0, 0]])
    assert not gwet_ac1(table).is_defined
    assert not krippendorff_alpha(table, "ordinal").is_defined


@pytest.mark.parametrize(
    ("value", "reason"), [(None, None), (0.5, "both"), (math.nan, None), (math.inf, None)]
)
def test_a_measure_is_a_finite_value_or_a_reason(value: float | None, reason: str | None) -> None:
    with pytest.raises(ValueError, match="a measure"):
        Measure(value, reason)


def test_an_unknown_weighting_or_level_is_refused() -> None:
    with pytest.raises(ValueError, match="unknown weights 'cubic'"):
        cohen_kappa([[1, 0], [0, 1]], "cubic")  # type: ignore[arg-type]  # no such weights or level
    with pytest.raises(ValueError, match="unknown level 'ratio'"):
        # No such weights or level.
        krippendorff_alpha(grid_table([[0, 1]]), "ratio")  # type: ignore[arg-type]


# Bands


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (-1.0, "poor"),
        (-1e-9, "poor"),
        (0.0, "slight"),
        (0.20, "slight"),
        (0.2000001, "fair"),
        (0.40, "fair"),
        (0.4000001, "moderate"),
        (0.60, "moderate"),
        (0.604, "substantial"),
        (0.80, "substantial"),
        (0.8000001, "almost perfect"),
        (1.0, "almost perfect"),
    ],
)
def test_kappa_bands_have_no_gaps(value: float, band: str) -> None:
    assert kappa_band(value) == band


@pytest.mark.parametrize(
    ("value", "band"),
    [
        (1.0, "reliable"),
        (0.80, "reliable"),
        (0.7999999, "tentative conclusions only"),
        (0.667, "tentative conclusions only"),
        (0.6669999, "unreliable"),
        (-0.5, "unreliable"),
    ],
)
def test_alpha_bands_have_no_gaps(value: float, band: str) -> None:
    assert alpha_band(value) == band


def test_a_kappa_on_a_border_is_not_moved_off_it_by_arithmetic() -> None:
    """Observed disagreement 0.4 of 0.5 expected: 1 - 0.4 / 0.5 would be 0.19999999999999996."""
    for agreeing, splits, kappa in ((3, 2, 0.2), (7, 3, 0.4), (8, 2, 0.6), (9, 1, 0.8)):
        assert cohen_kappa([[agreeing, splits], [splits, agreeing]]).value == kappa


@given(table=st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3))
def test_kappa_lies_between_minus_one_and_one(table: list[list[int]]) -> None:
    value = cohen_kappa(table).value
    assert value is None or -1 <= value <= 1
    assert confusion(confusion_table(table), 0, 1).tolist() == table

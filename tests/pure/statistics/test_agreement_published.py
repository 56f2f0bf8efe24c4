"""Every measure against worked examples that others published; each names its source."""

from pathlib import Path
from typing import Any

import pytest

from results.statistics.agreement import (
    LEVELS,
    WEIGHTS,
    cohen_kappa,
    confusion,
    expected_agreement,
    gwet_ac1,
    krippendorff_alpha,
    observed_agreement,
    raw_agreement,
)
from results.statistics.splits import split_rate, splits_by_class
from tests.pure.statistics.tables import (
    PUBLISHED,
    confusion_table,
    grid_table,
    kozynear_table,
)

SIX_DIGITS = 5.1e-7
FIVE_DIGITS = 5.1e-6

each_kappa = pytest.mark.parametrize("example", PUBLISHED["kappa"], ids=lambda e: e["name"])
each_alpha = pytest.mark.parametrize("example", PUBLISHED["alpha"], ids=lambda e: e["name"])

PRINTED_KAPPAS = [
    (example, weights, example["published"][key])
    for example in PUBLISHED["kappa"]
    for weights, key in (("nominal", "cohen_kappa"), ("linear", "cohen_kappa_linear"))
    if key in example["published"]
]
PRINTED_ALPHAS = [
    (example, level, example["published"][f"alpha_{level}"])
    for example in PUBLISHED["alpha"]
    for level in LEVELS
    if f"alpha_{level}" in example["published"]
]


def as_printed(value: float | None, printed: float) -> bool:
    digits = len(str(printed).partition(".")[2])
    return value is not None and round(value, digits) == printed


@pytest.mark.parametrize(
    ("example", "weights", "printed"),
    PRINTED_KAPPAS,
    ids=[f"{example['name']}-{weights}" for example, weights, _ in PRINTED_KAPPAS],
)
def test_kappa_is_as_printed(example: dict[str, Any], weights: Any, printed: float) -> None:
    assert as_printed(cohen_kappa(example["table"], weights).value, printed)


@each_kappa
def test_kappa_equals_the_recomputed_figures(example: dict[str, Any]) -> None:
    for weights in WEIGHTS:
        expected = example["recomputed"][weights]
        assert cohen_kappa(example["table"], weights).value == pytest.approx(
            expected, abs=SIX_DIGITS
        )


@each_kappa
def test_tables_of_two_annotators_give_the_other_measures_too(example: dict[str, Any]) -> None:
    table, figures = confusion_table(example["table"]), example["recomputed"]
    assert confusion(table, 0, 1).tolist() == example["table"]
    assert raw_agreement(table).value == pytest.approx(
        figures["observed_agreement"], abs=SIX_DIGITS
    )
    assert gwet_ac1(table).value == pytest.approx(figures["gwet_ac1"], abs=FIVE_DIGITS)
    for level in ("nominal", "ordinal"):
        alpha = krippendorff_alpha(table, level)
        assert alpha.value == pytest.approx(figures[f"alpha_{level}"], abs=SIX_DIGITS)


@pytest.mark.parametrize(
    ("example", "level", "printed"),
    PRINTED_ALPHAS,
    ids=[f"{example['name']}-{level}" for example, level, _ in PRINTED_ALPHAS],
)
def test_alpha_is_as_printed(example: dict[str, Any], level: Any, printed: float) -> None:
    assert as_printed(krippendorff_alpha(grid_table(example["units"]), level).value, printed)


@each_alpha
def test_alpha_equals_the_recomputed_figures(example: dict[str, Any]) -> None:
    table = grid_table(example["units"])
    for level in LEVELS:
        assert krippendorff_alpha(table, level).value == pytest.approx(
            example["recomputed"][f"alpha_{level}"], abs=SIX_DIGITS
        )


@each_alpha
def test_ac1_equals_the_recomputed_figures(example: dict[str, Any]) -> None:
    """irrCAC follows Gwet's handbook and counts pairs with a single label in the shares."""
    measure = gwet_ac1(grid_table(example["units"]), include_single=True)
    assert measure.value == pytest.approx(example["recomputed"]["gwet_ac1"], abs=FIVE_DIGITS)


@pytest.mark.parametrize(
    "example",
    [example for example in PUBLISHED["alpha"] if "fleiss_kappa" in example["published"]],
    ids=lambda e: e["name"],
)
def test_alpha_agrees_with_the_printed_fleiss_kappa(example: dict[str, Any]) -> None:
    """Without gaps 1 - alpha is (1 - kappa) (n - 1) / n, where n counts the labels."""
    table = grid_table(example["units"])
    alpha = krippendorff_alpha(table, "nominal").value
    assert alpha is not None
    kappa = 1 - (1 - alpha) * len(table) / (len(table) - 1)
    assert as_printed(kappa, example["published"]["fleiss_kappa"])


def test_agreement_of_each_subject_is_as_printed() -> None:
    example = next(e for e in PUBLISHED["alpha"] if e["name"] == "wikipedia-fleiss-10x14")
    for unit, printed in zip(example["units"], example["published"]["P_i"], strict=True):
        assert as_printed(raw_agreement(grid_table([unit], scale=range(1, 6))).value, printed)


def test_every_oracle_is_among_the_examples(shared_data: Path) -> None:
    tested = {example["oracle"] for kind in ("kappa", "alpha") for example in PUBLISHED[kind]}
    assert {path.stem for path in (shared_data / "oracles").glob("*.json")} == tested


def test_kozynear_is_reproduced(shared_data: Path, kozynear: dict[str, Any]) -> None:
    table = kozynear_table(shared_data / "kozynear")
    stats = kozynear["stats"]
    for row in stats["pairwise"]:
        both = table.annotators.index(row["a"]), table.annotators.index(row["b"])
        matrix = confusion(table, *both)
        assert matrix.tolist() == row["confusion_rows_a_cols_b"]
        assert observed_agreement(matrix).value == pytest.approx(row["agreement"], abs=1e-6)
        for weights, key in zip(WEIGHTS, ("kappa", "kappa_linear", "kappa_quadratic"), strict=True):
            assert cohen_kappa(matrix, weights).value == pytest.approx(row[key], abs=1e-6)
        name = f"{row['a']}×{row['b']}"
        printed = kozynear["published"]
        assert as_printed(cohen_kappa(matrix).value, printed["kappa"][name])
        assert as_printed(cohen_kappa(matrix, "linear").value, printed["kappa_linear"][name])
    for level in LEVELS:
        alpha = krippendorff_alpha(table, level)
        assert alpha.value == pytest.approx(stats["alpha"][level], abs=1e-6)
        assert alpha.n == stats["n_pairs_with_2plus"]
    raw = raw_agreement(table)
    assert raw.value == pytest.approx(stats["raw_agreement_pairwise_pooled"], abs=1e-6)
    assert raw.n == 3 * stats["n_pairs_labelled"]
    rate = split_rate(table).value
    assert 1 - (rate or 0) == pytest.approx(stats["raw_agreement_all_equal"], abs=1e-6)


def test_kozynear_is_reproduced_by_class(shared_data: Path, kozynear: dict[str, Any]) -> None:
    table = kozynear_table(shared_data / "kozynear")
    rows = splits_by_class(table)
    assert [row.name for row in rows] == sorted(kozynear["stats"]["per_class"])
    for row in rows:
        expected = kozynear["stats"]["per_class"][row.name]
        assert (row.inside.pairs, row.inside.splits) == (expected["n_pairs"], expected["n_split"])
        assert row.inside.value == pytest.approx(expected["split_rate"], abs=1e-6)
        assert (row.rest.pairs, row.rest.splits) == (
            900 - row.inside.pairs,
            228 - row.inside.splits,
        )
        part = table.of_class(row.code)
        assert raw_agreement(part).value == pytest.approx(expected["pairwise_agreement"], abs=1e-6)
        for level in ("nominal", "ordinal"):
            assert krippendorff_alpha(part, level).value == pytest.approx(
                expected[f"alpha_{level}"], abs=1e-6
            )


@pytest.mark.parametrize(
    ("table", "observed", "kappa"),
    [
        ([[138, 4, 1], [16, 24, 2], [4, 4, 7]], 0.845, 0.61),
        ([[154, 2, 0], [2, 20, 1], [1, 2, 18]], 0.960, 0.89),
    ],
    ids=["before", "after"],
)
def test_agreement_and_kappa_pin_a_chance_near_six_in_ten(
    table: list[list[int]], observed: float, kappa: float
) -> None:
    """A pool of 200 pairs, most of them irrelevant, before and after its rubric was mended."""
    implied = (observed - kappa) / (1 - kappa)
    assert implied == pytest.approx(0.60, abs=0.04)
    assert observed_agreement(table).value == observed
    assert as_printed(cohen_kappa(table).value, kappa)
    assert expected_agreement(table).value == pytest.approx(implied, abs=0.005)

"""The report as JSON: its keys, its numbers, and what stays outside."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from results.statistics.report import describe_agreement, describe_splits
from results.statistics.table import LabelTable
from tests.pure.statistics.tables import grid_table, kozynear_table

TOP_KEYS = [
    "pairs_labelled_twice",
    "judgments",
    "unsure",
    "not_blind",
    "labels",
    "raw_agreement",
    "splits",
    "splits_interval95",
    "cohen_kappa",
    "krippendorff_alpha",
    "gwet_ac1",
    "classes",
    "annotators",
    "machine_kappa",
]
KAPPA_KEYS = {
    "a",
    "b",
    "pairs",
    "observed",
    "expected",
    "nominal",
    "linear",
    "quadratic",
    "interval95",
    "band",
    "confusion",
    "classes",
}
CLASS_KEYS = {"class", "pairs", "splits", "rate", "rest_pairs", "rest_splits", "rest_rate"}


def describe(table: LabelTable, **options: Any) -> dict[str, Any]:
    return describe_agreement(table, **{"unsure": {}, "active_seconds": {}, "timed": {}, **options})


def mixed_table() -> LabelTable:
    """Twelve queries of two pairs; annotators 0 and 1 label all, 2 a third of the pairs."""
    generator = np.random.default_rng(3)
    grid: list[list[int | None]] = []
    for number in range(24):
        grade = int(generator.integers(0, 3))
        other = grade if number % 4 else (grade + 1) % 3
        grid.append([grade, other, grade if number % 3 == 0 else None])
    return grid_table(
        grid, scale=range(4), per_query=2, query_class=[0] * 6 + [1] * 6, classes=["how", "what"]
    )


def test_the_report_has_the_documented_keys() -> None:
    report = describe(mixed_table())
    assert list(report) == TOP_KEYS
    assert all(row.keys() >= KAPPA_KEYS for row in report["cohen_kappa"])
    assert all(row.keys() >= CLASS_KEYS for row in report["classes"])
    assert list(report["krippendorff_alpha"]) == ["nominal", "ordinal", "interval"]


def test_the_documentation_names_every_key() -> None:
    page = (Path(__file__).parents[3] / "docs" / "statistics.md").read_text(encoding="utf-8")
    table = mixed_table()
    keys: set[str] = set()

    def collect(value: Any) -> None:
        if isinstance(value, dict):
            keys.update(key for key in value if not key.isdigit())
            value = list(value.values())
        if isinstance(value, list):
            for item in value:
                collect(item)

    collect(describe(table, machine=frozenset({2})))
    collect(describe(grid_table([], scale=(0, 1), classes=["a"])))
    collect(describe_splits(table, dimensions=["recency"]))
    assert {key for key in keys if f"`{key}`" not in page} == set()


@pytest.mark.parametrize(
    "table",
    [mixed_table(), grid_table([], scale=(0, 1)), grid_table([[1, 1], [1, 1]], scale=(0, 1))],
    ids=["mixed", "empty", "one-label"],
)
def test_the_report_is_json_without_nan(table: LabelTable) -> None:
    for report in (describe(table), describe_splits(table)):
        assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_numbers_are_counted_for_people_and_grades_listed_with_zeros() -> None:
    report = describe(
        mixed_table(),
        unsure={0: 2, 2: 1},
        active_seconds={0: 90.0, 1: 30.5},
        timed={0: 20, 1: 10},
        resamples=20,
    )
    assert (report["judgments"], report["unsure"]) == (56 + 3, 3)
    assert report["labels"].keys() == {"0", "1", "2", "3"}
    assert report["labels"]["3"] == 0
    assert sum(report["labels"].values()) == 56
    assert (report["pairs_labelled_twice"], report["splits"]) == (24, 6)
    first, _, third = report["annotators"]
    assert (first["judgments"], first["unsure"], first["active_seconds"]) == (26, 2, 90.0)
    assert (third["judgments"], third["active_seconds"], third["machine"]) == (9, None, False)
    assert [row["timed"] for row in report["annotators"]] == [20, 10, 0]
    assert sum(first["labels"].values()) == 24


def test_grade_keys_are_values_not_positions() -> None:
    report = describe(grid_table([[-1, 10], [10, 10]], scale=(-1, 0, 10)))
    assert report["labels"] == {"-1": 1, "0": 0, "10": 3}


def test_a_machine_moves_no_number_of_the_people() -> None:
    with_machine = mixed_table()
    people = with_machine.without({2})
    report = describe(with_machine, machine=frozenset({2}), unsure={2: 5}, resamples=50)
    alone = describe(people, resamples=50)
    kept = [key for key in TOP_KEYS if key not in ("annotators", "machine_kappa", "cohen_kappa")]
    assert {key: report[key] for key in kept} == {key: alone[key] for key in kept}
    assert report["cohen_kappa"] == alone["cohen_kappa"][:1]
    assert [(row["a"], row["b"]) for row in report["machine_kappa"]] == [
        ("annotator 0", "annotator 2"),
        ("annotator 1", "annotator 2"),
    ]
    assert all(row.keys() >= KAPPA_KEYS for row in report["machine_kappa"])
    assert report["machine_kappa"][0]["pairs"] == 8
    assert [row["machine"] for row in report["annotators"]] == [False, False, True]


def test_kappa_of_two_annotators_is_told_by_class_too() -> None:
    table = mixed_table()
    report = describe(table, machine=frozenset({2}))
    for row in (report["cohen_kappa"][0], report["machine_kappa"][0]):
        assert [part["class"] for part in row["classes"]] == ["how", "what"]
        assert sum(part["pairs"] for part in row["classes"]) == row["pairs"]
    how = describe(table.of_class(0).without({2}))["cohen_kappa"][0]
    part = report["cohen_kappa"][0]["classes"][0]
    assert (part["observed"], part["nominal"]) == (how["observed"], how["nominal"])


def test_undefined_measures_are_null_with_a_reason() -> None:
    report = describe(grid_table([[0, None, 1], [None, 1, 1]], scale=(0, 1)))
    first = report["cohen_kappa"][0]
    assert (first["pairs"], first["nominal"], first["linear"], first["band"]) == (
        0,
        None,
        None,
        None,
    )
    assert first["observed"] is first["expected"] is first["interval95"] is None
    assert "nothing shared" in first["reason"]
    assert first["confusion"] == [[0, 0], [0, 0]]
    assert "fewer than 10 queries" in first["interval95_reason"]
    assert "splits_interval95_reason" not in report
    alone = describe(grid_table([[0, None], [None, 1]], scale=(0, 1)))
    assert alone["splits_interval95"] is None
    assert "nothing shared" in alone["splits_interval95_reason"]


def test_one_label_used_hides_kappa_and_shows_raw_agreement() -> None:
    report = describe(grid_table([[1, 1]] * 12, scale=(0, 1)))
    kappa = report["cohen_kappa"][0]
    assert (kappa["observed"], kappa["expected"], kappa["nominal"]) == (1.0, 1.0, None)
    assert "one label used" in kappa["reason"]
    assert kappa["interval95_undefined"] == 1.0
    assert report["raw_agreement"] == {"value": 1.0, "comparisons": 12}
    alpha = report["krippendorff_alpha"]["ordinal"]
    assert (alpha["value"], alpha["band"], alpha["pairs"]) == (None, None, 12)
    assert "one label used" in alpha["reason"]
    assert "one label used" in report["gwet_ac1"]["reason"]


def test_values_are_not_rounded() -> None:
    report = describe(grid_table([[0, 0], [1, 1], [0, 1]]))
    assert report["raw_agreement"]["value"] == 2 / 3


def test_the_report_on_kozynear_equals_its_published_figures(
    shared_data: Path, kozynear: dict[str, Any]
) -> None:
    report = describe(kozynear_table(shared_data / "kozynear"))
    stats = kozynear["stats"]
    assert report["judgments"] == stats["n_labels"]
    assert report["labels"] == stats["label_distribution_overall"]
    for row, expected in zip(report["cohen_kappa"], stats["pairwise"], strict=True):
        assert (row["a"], row["b"], row["pairs"]) == (expected["a"], expected["b"], 900)
        assert row["confusion"] == expected["confusion_rows_a_cols_b"]
        assert row["nominal"] == pytest.approx(expected["kappa"], abs=1e-6)
        assert row["interval95"][0] < row["nominal"] < row["interval95"][1]
    for level, alpha in report["krippendorff_alpha"].items():
        assert alpha["value"] == pytest.approx(stats["alpha"][level], abs=1e-6)
        assert alpha["interval95"][0] < alpha["value"] < alpha["interval95"][1]
    assert [row["band"] for row in report["cohen_kappa"]] == [
        "substantial",
        "almost perfect",
        "substantial",
    ]
    for row in report["annotators"]:
        assert row["labels"] == stats["label_distribution_per_annotator"][row["name"]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"machine": frozenset({3})}, "no annotator has the code 3"),
        ({"unsure": {-1: 1}}, "no annotator has the code -1"),
        ({"unsure": {0: -1}}, "unsure cannot be negative"),
        ({"active_seconds": {0: float("nan")}}, "active_seconds cannot be negative"),
    ],
)
def test_impossible_counts_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        describe(mixed_table(), **options)


def test_splits_are_described_by_name() -> None:
    table = LabelTable.from_columns(
        query=[0, 0, 1, 1],
        pair=[0, 0, 1, 1],
        annotator=[0, 1, 0, 1],
        grade=[0, 2, 1, 1],
        dimension=[1, 1, 0, 1],
        clause=[-1, 0, -1, -1],
        scale=(0, 1, 2),
        annotators=("ann", "bob"),
        query_class=[0, -1],
        classes=("procedural",),
    )
    assert describe_splits(table, dimensions=["recency", "answerability", "authority"]) == {
        "split_kinds": {
            "same_reading": 0,
            "different_dimensions": 0,
            "different_clauses": 1,
            "unknown_citation": 0,
        },
        "split_grades": [{"low": 0, "high": 2, "splits": 1}],
        "dimensions": [
            {"dimension": "recency", "citations": 1, "splits": 0},
            {"dimension": "answerability", "citations": 3, "splits": 1},
            {"dimension": "authority", "citations": 0, "splits": 0},
        ],
        "directions": [
            {"a": "ann", "b": "bob", "class": None, "pairs": 1, "a_higher": 0, "b_higher": 0},
            {
                "a": "ann",
                "b": "bob",
                "class": "procedural",
                "pairs": 1,
                "a_higher": 0,
                "b_higher": 1,
            },
        ],
    }
    with pytest.raises(ValueError, match="cites dimension 1, but only 1 are named"):
        describe_splits(table, dimensions=["recency"])

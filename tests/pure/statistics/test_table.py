"""The label table refuses what would make a number wrong."""

import numpy as np
import pytest

from results.statistics.table import LabelTable
from tests.pure.statistics.tables import grid_table

GOOD = {
    "query": [0, 0, 1],
    "pair": [0, 0, 1],
    "annotator": [0, 1, 0],
    "grade": [2, 0, 1],
    "scale": (0, 1, 2),
    "annotators": ("ann", "bob"),
    "query_class": [0, -1],
    "classes": ("factual",),
}


def test_rows_are_sorted_by_pair_and_annotator() -> None:
    table = LabelTable.from_columns(
        **GOOD | {"query": [1, 0, 0], "pair": [1, 0, 0], "annotator": [0, 1, 0]}
    )
    assert table.pair.tolist() == [0, 0, 1]
    assert table.annotator.tolist() == [0, 1, 0]
    assert table.grade.tolist() == [1, 0, 2]


def test_two_labels_of_one_annotator_on_one_pair_are_refused() -> None:
    with pytest.raises(ValueError, match="'ann' has two labels on pair 0"):
        LabelTable.from_columns(**GOOD | {"annotator": [0, 0, 0]})


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"grade": [2, 0]}, "columns differ in length"),
        ({"grade": [3, 0, 1]}, "grade holds 3"),
        ({"grade": [-1, 0, 1]}, "grade holds -1"),
        ({"grade": [2.0, 0.0, 1.5]}, "grade must hold integers"),
        ({"grade": [True, False, True]}, "grade must hold integers"),
        ({"grade": [[2, 0, 1]]}, "grade must have one dimension"),
        ({"annotator": [0, 2, 0]}, "annotator holds 2"),
        ({"query": [0, 0, 2]}, "query holds 2"),
        ({"query": [0, 1, 1]}, "pair 0 stands under two queries"),
        ({"pair": [0, 0, 2**31]}, "above 32 bits"),
        ({"dimension": [0, 0, -2]}, "dimension holds -2"),
        ({"query_class": [0, 1]}, "query_class holds 1"),
        ({"scale": (0, 2, 1)}, "scale must ascend"),
        ({"scale": (0, 1, 1)}, "scale must ascend"),
        ({"scale": ()}, "scale is empty"),
        ({"annotators": ("ann", "ann")}, "annotators holds a name twice"),
    ],
)
def test_impossible_columns_are_refused_by_name(changed: dict, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LabelTable.from_columns(**GOOD | changed)


def test_columns_cannot_be_changed_later() -> None:
    table = LabelTable.from_columns(**GOOD)
    with pytest.raises(ValueError, match="read-only"):
        table.grade[0] = 0


def test_the_callers_arrays_stay_the_callers() -> None:
    grade = np.array([2, 0, 1], dtype=np.int32)
    table = LabelTable.from_columns(**GOOD | {"grade": grade})
    grade[0] = 1
    assert table.grade.tolist() == [2, 0, 1]


def test_a_table_without_labels_is_a_table() -> None:
    table = LabelTable.from_columns(
        query=[], pair=[], annotator=[], grade=[], scale=(0, 1), annotators=()
    )
    assert len(table) == 0
    assert table.pair_sizes.tolist() == []


def test_selections_keep_the_meaning_of_codes() -> None:
    table = grid_table([[0, 1, 2], [2, None, 1]], query_class=[0, -1], classes=["factual"])
    assert table.without({1}).annotator.tolist() == [0, 2, 0, 2]
    assert table.without({1}).annotators == table.annotators
    assert table.of_class(0).pair.tolist() == [0, 0, 0]
    assert table.of_class(-1).pair.tolist() == [1, 1]

"""Where labels split."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import fisher_exact

from results.statistics.splits import (
    SPLIT_KINDS,
    DimensionSplits,
    Direction,
    SplitRate,
    directions,
    split_kinds,
    split_rate,
    splits_by_class,
    splits_by_dimension,
    splits_by_grades,
)
from results.statistics.table import LabelTable
from tests.pure.statistics.tables import grid_table, grids


def cited_table(*labels: tuple[int, int, int], pair_of: list[int] | None = None) -> LabelTable:
    """Labels (grade, dimension, clause) of one pair, or of the pairs in `pair_of`."""
    pair = pair_of or [0] * len(labels)
    grade, dimension, clause = zip(*labels, strict=True)
    return LabelTable.from_columns(
        query=pair,
        pair=pair,
        annotator=range(len(labels)),
        grade=grade,
        dimension=dimension,
        clause=clause,
        scale=(0, 1, 2),
        annotators=[str(number) for number in range(len(labels))],
    )


def kind_of(*labels: tuple[int, int, int]) -> str:
    counted = [kind for kind, count in split_kinds(cited_table(*labels)).items() if count]
    assert len(counted) == 1
    return counted[0]


def procedural_table() -> LabelTable:
    """Of 76 procedural pairs 27 split, of the other 124 pairs 4."""
    grid = [[0, 1]] * 27 + [[0, 0]] * 49 + [[0, 1]] * 4 + [[1, 1]] * 120
    return grid_table(
        grid, query_class=[0] * 76 + [1] * 100 + [-1] * 24, classes=["procedural", "factual"]
    )


def test_a_pair_with_one_label_cannot_split() -> None:
    table = grid_table([[0, 1, None], [2, 2, 2], [1, 1, 0], [None, 0, None]])
    assert split_rate(table) == SplitRate(pairs=3, splits=2)


def test_each_class_is_set_against_the_rest() -> None:
    procedural, factual, unclassified = splits_by_class(procedural_table())
    assert (procedural.inside, procedural.rest) == (SplitRate(76, 27), SplitRate(124, 4))
    assert procedural.inside.value == 27 / 76
    expected = fisher_exact([[27, 49], [4, 120]]).pvalue
    assert procedural.fisher_p.value == pytest.approx(expected)
    assert (factual.inside, factual.rest) == (SplitRate(100, 4), SplitRate(100, 27))
    assert (unclassified.name, unclassified.inside) == (None, SplitRate(24, 0))


def test_fishers_p_of_the_lady_tasting_tea_is_as_published() -> None:
    """Fisher (1935) The Design of Experiments: three of four right, one-sided p 17/70."""
    grid = [[0, 1]] * 3 + [[0, 0]] * 1 + [[0, 1]] * 1 + [[0, 0]] * 3
    table = grid_table(grid, query_class=[0] * 4 + [1] * 4, classes=["milk", "tea"])
    assert splits_by_class(table)[0].fisher_p.value == pytest.approx(2 * 17 / 70)


def test_the_unclassified_stand_last_only_where_there_are_some() -> None:
    table = grid_table([[0, 1], [0, 0]], query_class=[1, 1], classes=["a", "b"])
    first, second = splits_by_class(table)
    assert (first.name, first.inside, first.inside.value) == ("a", SplitRate(0, 0), None)
    assert "no pair of this class" in (first.fisher_p.reason or "")
    assert "no pair outside of this class" in (second.fisher_p.reason or "")


@given(grid=grids(annotators=3, grades=3), data=st.data())
def test_a_class_and_its_rest_are_always_the_whole(grid: list[list[int | None]], data: Any) -> None:
    code = st.integers(-1, 2)
    query_class = data.draw(st.lists(code, min_size=len(grid), max_size=len(grid)))
    table = grid_table(grid, scale=range(3), query_class=query_class, classes=["a", "b", "c"])
    whole, rows = split_rate(table), splits_by_class(table)
    for row in rows:
        assert row.inside.pairs + row.rest.pairs == whole.pairs
        assert row.inside.splits + row.rest.splits == whole.splits
    assert sum(row.inside.splits for row in rows) == whole.splits


def test_kinds_tell_slips_from_other_readings() -> None:
    assert kind_of((0, 1, -1), (2, 1, -1)) == "same_reading"
    assert kind_of((0, 1, 4), (2, 1, 4)) == "same_reading"
    assert kind_of((0, 1, -1), (2, 2, -1)) == "different_dimensions"
    assert kind_of((0, 1, 3), (2, 1, 4)) == "different_clauses"
    assert kind_of((0, 1, 3), (2, 1, -1)) == "different_clauses"


def test_a_missing_citation_is_unknown_unless_the_known_ones_differ() -> None:
    assert kind_of((0, -1, -1), (2, 1, -1)) == "unknown_citation"
    assert kind_of((0, -1, -1), (2, -1, -1)) == "unknown_citation"
    assert kind_of((0, 1, -1), (2, -1, -1), (2, 1, -1)) == "unknown_citation"
    assert kind_of((0, 1, -1), (2, -1, -1), (2, 2, -1)) == "different_dimensions"


def test_agreement_on_other_grounds_is_no_split() -> None:
    assert set(split_kinds(cited_table((1, 0, -1), (1, 2, -1))).values()) == {0}


@given(
    labels=st.lists(
        st.tuples(st.integers(0, 2), st.integers(-1, 2), st.integers(-1, 1)), max_size=12
    ),
    data=st.data(),
)
def test_the_kinds_add_up_to_the_splits(labels: list[tuple[int, int, int]], data: Any) -> None:
    if not labels:
        return
    pair = st.integers(0, 4)
    pairs = data.draw(st.lists(pair, min_size=len(labels), max_size=len(labels)))
    table = cited_table(*labels, pair_of=pairs)
    kinds = split_kinds(table)
    assert tuple(kinds) == SPLIT_KINDS
    assert sum(kinds.values()) == split_rate(table).splits
    assert sum(splits_by_grades(table).values()) == split_rate(table).splits


def test_splits_are_counted_by_their_lowest_and_highest_grade() -> None:
    table = grid_table([[0, 5, 9], [9, 0, None], [5, 9, 9], [5, 5, 5]], scale=(0, 5, 9))
    assert splits_by_grades(table) == {(0, 9): 2, (5, 9): 1}


def test_a_dimension_counts_its_citations_and_its_splits_once() -> None:
    labels = [(0, 1, -1), (2, 1, -1), (1, 1, -1), (1, 3, -1), (0, -1, -1), (1, 3, -1)]
    table = cited_table(*labels, pair_of=[0, 0, 1, 1, 2, 2])
    assert splits_by_dimension(table) == [
        DimensionSplits(0, citations=0, splits=0),
        DimensionSplits(1, citations=3, splits=1),
        DimensionSplits(2, citations=0, splits=0),
        DimensionSplits(3, citations=2, splits=1),
    ]


def test_directions_tell_who_is_higher_in_which_class() -> None:
    grid = [[0, 2, None], [1, 2, 1], [2, 0, None], [1, 1, None]]
    table = grid_table(grid, query_class=[0, 0, 0, -1], classes=["procedural"])
    assert directions(table) == [
        Direction(a=0, b=1, class_code=-1, pairs=1, a_higher=0, b_higher=0),
        Direction(a=0, b=1, class_code=0, pairs=3, a_higher=1, b_higher=2),
        Direction(a=0, b=2, class_code=0, pairs=1, a_higher=0, b_higher=0),
        Direction(a=1, b=2, class_code=0, pairs=1, a_higher=1, b_higher=0),
    ]


def test_an_empty_table_has_no_splits_anywhere() -> None:
    table = grid_table([], scale=(0, 1), classes=["a"])
    assert split_rate(table) == SplitRate(0, 0)
    assert [row.inside for row in splits_by_class(table)] == [SplitRate(0, 0)]
    assert set(split_kinds(table).values()) == {0}
    assert splits_by_grades(table) == {}
    assert splits_by_dimension(table) == directions(table) == []


def test_more_splits_at_equal_numbers_make_fishers_p_smaller() -> None:
    grids = ([[0, 1]] * n + [[0, 0]] * (40 - n) + [[0, 1]] * 3 + [[0, 0]] * 57 for n in (3, 9, 20))
    tables = [grid_table(g, query_class=[0] * 40 + [1] * 60, classes=["a", "b"]) for g in grids]
    p = [splits_by_class(table)[0].fisher_p.value for table in tables]
    assert all(low > high for low, high in pairwise(p))

"""Agreement slice by slice: each slice has its own n, and the slices add up."""

import numpy as np
import pytest

from results.statistics.agreement import gwet_ac1_of
from results.statistics.breakdowns import (
    Context,
    describe_by_dimension,
    describe_by_rubric,
    describe_citations,
    describe_over_time,
    describe_slice,
    describe_time,
    rank_queries,
)
from results.statistics.counts import count_grades, query_agreements
from results.statistics.intervals import ac1_interval
from results.statistics.table import LabelTable


def make_table(grades: list[tuple[int, int]], *, per_query: int = 2) -> LabelTable:
    """Two annotators on every pair, so many pairs for each query; dimension 1 decides pair 0."""
    pairs = np.arange(len(grades))
    return LabelTable.from_columns(
        query=np.repeat(pairs // per_query, 2),
        pair=np.repeat(pairs, 2),
        annotator=np.tile([0, 1], len(grades)),
        grade=np.array(grades).ravel(),
        dimension=np.where(np.repeat(pairs, 2) == 0, 1, 0),
        scale=(0, 1, 2, 3),
        annotators=("a", "b"),
    )


TABLE = make_table([(0, 3), (1, 1), (0, 1), (2, 2), (1, 1), (0, 0)])


def test_slice_tells_splits_with_n_and_interval() -> None:
    told = describe_slice(count_grades(TABLE), TABLE.scale)
    assert (told["pairs"], told["splits"], told["comparisons"]) == (6, 2, 6)
    assert told["observed"] == pytest.approx(4 / 6)
    assert told["interval95"][0] < told["rate"] < told["interval95"][1]


def test_slice_of_nothing_is_undefined_with_its_reason() -> None:
    empty = count_grades(TABLE).where(np.zeros(6, dtype=bool))
    told = describe_slice(empty, TABLE.scale)
    assert (told["rate"], told["alpha"], told["observed"], told["interval95"]) == (None,) * 4
    assert told["reason"].startswith("nothing shared")


def test_dimension_tells_of_the_pairs_that_cite_it() -> None:
    first, second = describe_by_dimension(TABLE, ["answerability", "recency"])
    assert (first["dimension"], first["pairs"], first["splits"]) == ("answerability", 5, 1)
    assert (second["dimension"], second["pairs"], second["splits"]) == ("recency", 1, 1)


def test_labels_of_two_versions_are_not_compared() -> None:
    rubric = np.where(np.arange(12) == 0, 1, 2)
    first, second = describe_by_rubric(TABLE, Context(rubric, np.zeros(12, dtype=np.int64)))
    assert (first["rubric_version"], first["judgments"], first["pairs"]) == (1, 1, 0)
    assert (second["rubric_version"], second["judgments"], second["pairs"]) == (2, 11, 5)


def test_parts_of_time_are_in_order_and_add_up() -> None:
    moment = np.repeat(np.arange(6)[::-1] * 3600, 2)
    parts = describe_over_time(TABLE, Context(np.ones(12, dtype=np.int64), moment))
    assert [part["from"] for part in parts] == sorted(part["from"] for part in parts)
    assert sum(part["pairs"] for part in parts) == 6
    assert (parts[-1]["pairs"], parts[-1]["splits"]) == (1, 1)


def test_many_moments_make_eight_parts_and_many_queries_a_list_of_two_hundred() -> None:
    table = make_table([(0, 1)] * 201, per_query=1)
    moment = np.repeat(np.arange(201), 2)
    parts = describe_over_time(table, Context(np.ones(402, dtype=np.int64), moment))
    assert [part["pairs"] for part in parts] == [26, 25, 25, 25, 25, 25, 25, 25]
    assert [row["query"] for row in rank_queries(table)] == list(range(200))


def test_what_arrived_at_once_is_one_part() -> None:
    context = Context(np.ones(12, dtype=np.int64), np.full(12, 86400))
    (part,) = describe_over_time(TABLE, context)
    assert (part["from"], part["pairs"]) == ("1970-01-02T00:00:00+00:00", 6)


def test_queries_come_by_the_share_that_splits_and_tell_the_distance() -> None:
    table = make_table([(0, 1), (1, 1), (1, 3), (2, 2), (1, 1), (0, 0)])
    rows = rank_queries(table)
    assert [(row["query"], row["splits"], row["far_apart"], row["widest"]) for row in rows] == [
        (1, 1, 1, 2),
        (0, 1, 0, 1),
    ]


def test_use_of_dimensions_adds_up_to_the_labels() -> None:
    told = describe_citations(TABLE, ["answerability", "recency"])
    counts = [row["counts"] for row in told["decided_by_annotator"]]
    assert counts == [[5, 1, 0], [5, 1, 0]]
    assert told["decided_by_class"] == [{"class": None, "counts": [10, 2, 0]}]


def test_time_is_told_by_label_by_pair_and_by_annotator() -> None:
    told = describe_time(
        np.array([2.0, 4.0, 6.0]), np.array([0, 0, 3]), np.array([0, 1, 0]), ["a", "b", "c"]
    )
    assert (told["median"], told["pairs"], told["median_of_pairs"]) == (4.0, 2, 6.0)
    assert [row["median"] for row in told["annotators"]] == [4.0, 4.0, None]


def test_interval_of_ac1_holds_its_value_and_is_the_same_every_time() -> None:
    draws = np.random.default_rng(4).integers(0, 3, size=(60, 2)).tolist()
    grades = count_grades(make_table(draws))
    outcome = ac1_interval(query_agreements(grades), resamples=300)
    value = gwet_ac1_of(grades).value
    assert outcome.interval is not None
    assert value is not None
    assert outcome.interval.low < value < outcome.interval.high
    assert outcome == ac1_interval(query_agreements(grades), resamples=300)


def test_ac1_of_a_single_label_has_no_interval() -> None:
    grades = count_grades(make_table([(1, 1)] * 40))
    outcome = ac1_interval(query_agreements(grades), resamples=50)
    assert outcome.interval is None
    assert outcome.undefined == 1.0

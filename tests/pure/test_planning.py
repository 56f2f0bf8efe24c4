"""The plan of a round: which queries are shared, and how the others are split."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.planning import apportion, choose_shared, split_fairly

CLASSES = {f"q{number}": "rare" if number % 10 == 0 else "common" for number in range(100)}


def choose(count: int, seed: str = "s" * 32) -> frozenset[str]:
    return choose_shared(CLASSES, count, seed=seed, round_id="1")


def test_shared_queries_take_each_class_by_its_size() -> None:
    assert Counter(CLASSES[item] for item in choose(30)) == {"common": 27, "rare": 3}


def test_shared_queries_are_the_same_each_time_and_others_with_another_seed() -> None:
    assert choose(30) == choose(30)
    assert choose(30) != choose(30, seed="t" * 32)


def test_more_shared_queries_than_there_are_is_all_of_them() -> None:
    assert choose(500) == frozenset(CLASSES)


def test_seats_go_by_the_largest_remainder() -> None:
    """Hamilton's apportionment of 10 seats: quotients 4.16, 3.38, 2.46."""
    assert apportion({"a": 416, "b": 338, "c": 246}, 10) == {"a": 4, "b": 3, "c": 3}


@given(
    st.dictionaries(st.text("abc", max_size=3), st.integers(0, 500), max_size=8),
    st.integers(0, 1000),
)
def test_seats_given_out_are_those_there_were(sizes: dict[str, int], seats: int) -> None:
    seats = min(seats, sum(sizes.values()))
    given_out = apportion(sizes, seats)
    assert sum(given_out.values()) == seats
    assert all(given_out[name] <= size for name, size in sizes.items())


def test_split_is_even_and_rounded_up() -> None:
    split = split_fairly(dict.fromkeys("abc"), queries=10, per_query=1)
    assert split.shares == {"a": 4, "b": 4, "c": 4}
    assert split.unfilled == 0


def test_limit_of_one_person_is_made_up_by_the_others() -> None:
    split = split_fairly({"a": 2, "b": None, "c": None}, queries=10, per_query=1)
    assert split.shares == {"a": 2, "b": 4, "c": 4}


@pytest.mark.parametrize(
    ("people", "unfilled"), [({"a": 2, "b": 3}, 5), ({"a": 20, "b": 0}, 0), ({}, 10)]
)
def test_places_that_the_limits_leave_over_are_told(
    people: dict[str, int | None], unfilled: int
) -> None:
    assert split_fairly(people, queries=10, per_query=1).unfilled == unfilled


@given(
    st.dictionaries(st.integers(), st.none() | st.integers(0, 60), max_size=9),
    st.integers(0, 50),
    st.integers(1, 4),
)
def test_nobody_gets_more_than_the_queries_and_places_are_covered_or_told(
    people: dict[int, int | None], queries: int, per_query: int
) -> None:
    split = split_fairly(people, queries=queries, per_query=per_query)
    assert all(0 <= share <= queries for share in split.shares.values())
    assert sum(split.shares.values()) + split.unfilled >= queries * per_query

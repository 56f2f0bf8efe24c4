"""The keyed order: repeatable, different for each annotator, overlap early and even."""

import itertools

from hypothesis import given
from hypothesis import strategies as st

from annotation.shuffle import Shuffler, spread

items = st.lists(st.text(min_size=1), unique=True, max_size=60)


@given(items)
def test_order_is_repeatable_and_complete(names: list[str]) -> None:
    shuffler = Shuffler("seed", "1", "2")
    assert shuffler.shuffle(names) == shuffler.shuffle(reversed(names))
    assert sorted(shuffler.shuffle(names)) == sorted(names)


def test_order_differs_by_seed_round_and_annotator() -> None:
    names = [f"q{number}" for number in range(40)]
    orders = {
        tuple(Shuffler(seed, round, annotator).shuffle(names))
        for seed in "ab"
        for round in "12"
        for annotator in "xy"
    }
    assert len(orders) == 8


def test_parts_of_the_key_do_not_run_together() -> None:
    assert Shuffler("s", "1", "12").weigh("3") != Shuffler("s", "11", "2").weigh("3")


def test_order_carries_no_trace_of_the_incoming_order() -> None:
    """The first of the input is as often late as early over many annotators."""
    names = [f"q{number:02}" for number in range(20)]
    places = [
        Shuffler("seed", "1", str(annotator)).shuffle(names).index("q00")
        for annotator in range(400)
    ]
    assert 7.5 < sum(places) / len(places) < 11.5


@given(
    st.lists(st.integers(), unique=True, min_size=1, max_size=30),
    st.integers(min_value=0, max_value=60),
)
def test_overlap_comes_first_and_is_spread_evenly(shared: list[int], rest: int) -> None:
    own = [f"own{number}" for number in range(rest)]
    merged = spread([f"s{number}" for number in shared], own)
    places = [place for place, item in enumerate(merged) if item.startswith("s")]
    assert places[0] == 0
    gaps = [after - before for before, after in itertools.pairwise(places)]
    assert all(abs(gap - len(merged) / len(shared)) <= 1.5 for gap in gaps)


@given(items, st.sets(st.text(min_size=1), max_size=10))
def test_overlap_never_loses_or_doubles_a_query(names: list[str], overlap: set[str]) -> None:
    ordered = Shuffler("seed", "1", "2").order_queries(names, frozenset(overlap))
    assert sorted(ordered) == sorted(names)

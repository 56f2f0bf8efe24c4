"""The consensus rule, by its examples and its properties."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from results.consensus import Consensus, FinalDecision, decide_consensus

votes = st.lists(st.integers(0, 3), max_size=8)
policies = st.sampled_from(["plurality", "unanimous"])
minimums = st.integers(1, 4)
finals = st.builds(FinalDecision, st.none() | st.integers(0, 3))


def outcome(given_votes: list[int], **options: object) -> tuple[object, object, object]:
    # Options drawn at random.
    decided = decide_consensus(given_votes, **options)  # type: ignore[arg-type]
    return decided.grade, decided.rule, decided.reason


@pytest.mark.parametrize(
    ("given_votes", "expected"),
    [
        ([0, 1, 2], (None, None, "tie")),
        ([2, 2, 1, 1], (None, None, "tie")),
        ([0, 2], (None, None, "tie")),
        ([2, 2, 1, 0], (2, "majority", None)),
        ([0, 0, 2], (0, "majority", None)),
        ([1, 1], (1, "unanimous", None)),
        ([0], (0, "single", None)),
        ([], (None, None, "no votes")),
    ],
)
def test_the_grade_with_strictly_the_most_votes_decides(
    given_votes: list[int], expected: tuple[object, ...]
) -> None:
    assert outcome(given_votes) == expected


def test_one_vote_beside_an_unsure_is_enough_unless_more_are_required() -> None:
    assert outcome([2], unsure=1) == (2, "single", None)
    assert outcome([2], unsure=1, minimum_votes=2) == (None, None, "too few votes")
    assert outcome([2, 2], minimum_votes=2) == (2, "unanimous", None)


def test_unsure_alone_is_told_from_no_votes() -> None:
    assert outcome([], unsure=2) == (None, None, "unsure only")
    assert outcome([], unsure=2, minimum_votes=3) == (None, None, "unsure only")


def test_the_unanimous_policy_lets_no_majority_decide() -> None:
    assert outcome([2, 2, 1], policy="unanimous") == (None, None, "not unanimous")
    assert outcome([2, 2, 2], policy="unanimous") == (2, "unanimous", None)
    assert outcome([2], policy="unanimous") == (2, "single", None)


def test_a_dropped_pair_has_no_label_and_says_so() -> None:
    assert outcome([2, 2], final=FinalDecision(None)) == (None, "final", "dropped")


def test_a_final_label_may_be_a_grade_that_nobody_gave() -> None:
    assert outcome([0, 2], final=FinalDecision(1)) == (1, "final", None)


def test_votes_are_counted_by_grade() -> None:
    assert decide_consensus([2, 0, 2]).votes == ((0, 1), (2, 2))
    assert decide_consensus([2, 0], final=FinalDecision(None)).votes == ((0, 1), (2, 1))


@given(votes, st.randoms(use_true_random=False), policies, minimums)
def test_the_order_of_votes_is_irrelevant(
    given_votes: list[int], random: object, policy: str, minimum: int
) -> None:
    shuffled = list(given_votes)
    random.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis's own random
    options = {"policy": policy, "minimum_votes": minimum}
    assert outcome(given_votes, **options) == outcome(shuffled, **options)


@given(votes, finals, policies, minimums, st.integers(0, 3))
def test_a_final_label_always_wins(
    given_votes: list[int], final: FinalDecision, policy: str, minimum: int, unsure: int
) -> None:
    options = {"policy": policy, "minimum_votes": minimum, "unsure": unsure}
    grade, rule, reason = outcome(given_votes, final=final, **options)
    assert (grade, rule) == (final.grade, "final")
    assert reason == ("dropped" if final.grade is None else None)


@given(votes.filter(bool), policies, minimums, st.integers(1, 5))
def test_adding_an_unsure_changes_nothing(
    given_votes: list[int], policy: str, minimum: int, unsure: int
) -> None:
    options = {"policy": policy, "minimum_votes": minimum}
    assert outcome(given_votes, unsure=unsure, **options) == outcome(given_votes, **options)


@given(votes, policies, minimums)
def test_a_label_is_always_the_only_most_given_grade(
    given_votes: list[int], policy: str, minimum: int
) -> None:
    """Never an average, never the first of equals."""
    grade, rule, reason = outcome(given_votes, policy=policy, minimum_votes=minimum)
    assert (grade is None) == (rule is None) == (reason is not None)
    if grade is not None:
        tally = Counter(given_votes)
        assert [g for g, count in tally.items() if count >= tally[grade]] == [grade]


@given(votes, st.integers(0, 3))
def test_one_more_vote_for_the_label_keeps_it(given_votes: list[int], minimum: int) -> None:
    decided = decide_consensus(given_votes, minimum_votes=minimum + 1)
    if decided.grade is not None:
        again = decide_consensus([*given_votes, decided.grade], minimum_votes=minimum + 1)
        assert again.grade == decided.grade


def test_impossible_options_are_refused() -> None:
    with pytest.raises(ValueError, match="minimum_votes must be at least 1, not 0"):
        decide_consensus([1], minimum_votes=0)
    with pytest.raises(ValueError, match="unsure is a count"):
        decide_consensus([1], unsure=-1)
    with pytest.raises(ValueError, match="unknown policy 'average'"):
        decide_consensus([1], policy="average")  # type: ignore[arg-type]  # no policy there is


def test_outcomes_are_values() -> None:
    assert decide_consensus([1, 1]) == Consensus(1, "unanimous", None, ((1, 2),))
    assert decide_consensus([1, 1]).has_label
    assert not decide_consensus([]).has_label

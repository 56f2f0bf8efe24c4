"""Which queries may leave, decided without a database."""

from itertools import count

import pytest

from results.consensus import FinalDecision
from results.selectors.labels import PairLabels
from results.services.exports.decisions import (
    DecidedQuery,
    decide_annotator_query,
    decide_query,
)

DROPPED = FinalDecision(grade=None)
numbers = count(1)


def pair(*grades: int, unsure: int = 0, planned: int | None = 2, final=None) -> PairLabels:
    number = next(numbers)
    return PairLabels("q1", f"d{number}", number, planned, grades, unsure, (1,), final)


def decide(*pairs: PairLabels, minimum_votes: int = 1) -> DecidedQuery:
    return decide_query("q1", pairs, minimum_votes=minimum_votes)


def codes(query: DecidedQuery) -> list[str]:
    return [reason.code for reason in query.reasons]


def grades(query: DecidedQuery) -> list[int]:
    return [grade for _, _, grade in query.rows()]


def test_a_query_with_all_outcomes_and_a_consensus_is_exported():
    query = decide(pair(1, 1), pair(0, 0))
    assert not query.is_withheld
    assert grades(query) == [1, 0]


def test_a_tie_withholds_the_query():
    query = decide(pair(1, 1), pair(0, 1), pair(0, 2))
    assert codes(query) == ["tie"]
    assert query.reasons[0].message == "Tied votes on 2 pairs."


def test_a_missing_outcome_withholds_the_query_and_says_how_many():
    query = decide(pair(1, 1), pair(0), pair())
    assert codes(query) == ["incomplete"]
    assert query.reasons[0].message == "Outcomes missing: 3 of 6, on 2 pairs."


def test_unsure_is_an_outcome_and_no_vote():
    query = decide(pair(1, unsure=1))
    assert grades(query) == [1]
    assert query.pairs[0].consensus.rule == "single"


def test_a_pair_nobody_was_sure_of_withholds_the_query():
    assert codes(decide(pair(1, 1), pair(unsure=2))) == ["unsure_only"]


def test_fewer_votes_than_the_minimum_withhold_the_query():
    assert codes(decide(pair(1, unsure=1), minimum_votes=2)) == ["too_few_votes"]
    assert codes(decide(pair(1, 1), minimum_votes=2)) == []


def test_a_query_in_no_main_round_is_withheld():
    assert codes(decide(pair(1, 1, planned=None))) == ["not_planned"]


def test_a_tie_on_an_incomplete_pair_is_no_finding_yet():
    assert codes(decide(pair(0, 1, planned=3))) == ["incomplete"]


def test_labels_beyond_the_planned_number_count():
    assert grades(decide(pair(0, 1, 1, planned=2))) == [1]


def test_outcomes_beyond_the_plan_on_one_pair_do_not_fill_another():
    query = decide(pair(1, 1, 1), pair(1))
    assert query.reasons[0].as_json() == {
        "reason": "incomplete",
        "message": "Outcomes missing: 1 of 4, on 1 pair.",
        "pairs": 1,
        "missing": 1,
        "needed": 4,
    }


def test_several_reasons_are_all_told_the_missing_outcomes_first():
    query = decide(pair(1), pair(0, 1), pair(unsure=2))
    assert codes(query) == ["incomplete", "tie", "unsure_only"]


def test_a_dropped_pair_holds_nothing_up_and_leaves_no_line():
    query = decide(pair(0, 1, final=DROPPED), pair(2, 2))
    assert not query.is_withheld
    assert grades(query) == [2]


def test_a_dropped_pair_waits_for_no_outcome():
    assert grades(decide(pair(1, final=DROPPED), pair(2, 2))) == [2]
    assert codes(decide(pair(final=DROPPED), pair(final=DROPPED))) == ["all_dropped"]
    query = decide(pair(0, final=DROPPED), pair(1))
    assert query.reasons[0].message == "Outcomes missing: 1 of 2, on 1 pair."


def test_a_query_dropped_whole_is_withheld_as_such():
    assert codes(decide(pair(0, 1, final=DROPPED), pair(1, 1, final=DROPPED))) == ["all_dropped"]


def test_a_final_label_settles_a_tie():
    assert grades(decide(pair(0, 1, final=FinalDecision(grade=2)))) == [2]


def test_one_annotators_unsure_pairs_are_left_out():
    query = decide_annotator_query("q1", [pair(1), pair(unsure=1)])
    assert grades(query) == [1]
    assert not query.is_withheld


@pytest.mark.parametrize(
    ("pairs", "code"),
    [([pair(1), pair()], "incomplete"), ([pair(unsure=1)], "unsure_only")],
)
def test_one_annotators_query_is_withheld_until_they_are_done_with_it(pairs, code):
    assert codes(decide_annotator_query("q1", pairs)) == [code]

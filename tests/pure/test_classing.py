"""Rules that give queries their class."""

import pytest

from studies.classing import Rule, sort_by_rule

QUERIES = [(1, "How do I reset it?"), (2, "HOW  DO I pay"), (3, "What is new"), (4, "is it new")]


def test_first_rule_that_fits_wins() -> None:
    rules = [Rule("starts", "how do i", "procedural"), Rule("contains", "reset", "factual")]
    assert sort_by_rule(rules, QUERIES) == {0: [1, 2], 1: []}


@pytest.mark.parametrize(
    ("kind", "text", "keys"),
    [
        ("starts", "what", [3]),
        ("contains", "NEW", [3, 4]),
        ("ends", "it?", [1]),
        ("is", "is it new", [4]),
        ("is", "is it", []),
    ],
)
def test_each_kind_of_rule_fits_what_it_says(kind: str, text: str, keys: list[int]) -> None:
    assert sort_by_rule([Rule(kind, text, "x")], QUERIES) == {0: keys}

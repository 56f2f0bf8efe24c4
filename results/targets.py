"""A target of agreement: does every two annotators reach it, and what to talk about if not?

Pure, so that a page can judge stored numbers by a target that was set after them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Weights = Literal["nominal", "linear", "quadratic"]


@dataclass(frozen=True, slots=True)
class Target:
    """Cohen's kappa with these weights is to be `at_least` so much between every two people."""

    weights: Weights
    at_least: float


def judge_targets(
    kappas: Sequence[Mapping[str, Any]], target: Target | None
) -> list[dict[str, Any]]:
    """The key `targets` of a report: one entry for the target, none without one.

    Each two people who share a pair `pass` or `fail`, or are `undefined` where their kappa is;
    `met` is None where nobody has a kappa. `queries` are those on which two who fail differ most,
    the most frequent of them first.
    """
    if target is None:
        return []
    pairs = [_judge_pair(row, target) for row in kappas if row["pairs"]]
    outcomes = {row["outcome"] for row in pairs}
    return [
        {
            "measure": "cohen_kappa",
            "weights": target.weights,
            "at_least": target.at_least,
            "met": None if outcomes <= {"undefined"} else "fail" not in outcomes,
            "pairs": pairs,
            "queries": _list_queries(pairs),
        }
    ]


def _judge_pair(row: Mapping[str, Any], target: Target) -> dict[str, Any]:
    value = row[target.weights]
    reached = "undefined" if value is None else "pass" if value >= target.at_least else "fail"
    return {
        "a": row["a"],
        "b": row["b"],
        "pairs": row["pairs"],
        "value": value,
        "outcome": reached,
        "discuss": row["discuss"] if reached == "fail" else [],
    }


def _list_queries(pairs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of the queries that are named for two who fail, those named most often first."""
    splits: dict[str, int] = {}
    for row in pairs:
        for query in row["discuss"]:
            splits[query["query_id"]] = splits.get(query["query_id"], 0) + query["splits"]
    return sorted(splits, key=lambda query_id: (-splits[query_id], query_id))

"""A target of agreement: does every two annotators reach it, and what to talk about if not?

Pure, so that a page can judge stored numbers by a target that was set after them.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Weights = Literal["nominal", "linear", "quadratic"]
Outcome = Literal["pass", "fail", "undefined"]


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
    `met` is what `is_met` says of them. `queries` are those on which two who fail differ most,
    the most frequent of them first.
    """
    if target is None:
        return []
    pairs = [_judge_pair(row, target) for row in kappas if row["pairs"]]
    return [
        {
            "measure": "cohen_kappa",
            "weights": target.weights,
            "at_least": target.at_least,
            "met": is_met([row["outcome"] for row in pairs]),
            "pairs": pairs,
            "queries": _list_queries(pairs),
        }
    ]


def is_met(outcomes: Collection[Outcome]) -> bool | None:
    """Whether every two people pass: not while one kappa is undefined. None where nobody has one.

    Page, report and release gate all ask this.
    """
    if set(outcomes) <= {"undefined"}:
        return None
    return set(outcomes) == {"pass"}


def _judge_pair(row: Mapping[str, Any], target: Target) -> dict[str, Any]:
    value = row[target.weights]
    reached: Outcome = "undefined"
    if value is not None:
        reached = "pass" if value >= target.at_least else "fail"
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

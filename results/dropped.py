"""How much a study has shed: the share of dropped pairs, and from where on it is told.

A set without its hardest pairs reports a recall that no system reproduces, so the share stands
beside whatever is told of the set. Nothing here knows Django or the database.
"""

from collections.abc import Mapping
from typing import Any, Literal

Level = Literal["", "warning", "alarm"]

# The retrieval measures that are told of a run, by their keys in stored numbers.
MEASURES = ("success_at_k", "ndcg", "mrr")
WARNING_FROM = 0.05
ALARM_FROM = 0.15


def find_dropped_share(dropped: int, labelled: int) -> float | None:
    """Of the pairs that are decided, by a label or by being dropped; None where there is none."""
    decided = dropped + labelled
    return dropped / decided if decided else None


def judge_dropped_share(share: float | None) -> Level:
    """Whether a share of dropped pairs (0 to 1; None where nothing is decided) is to be warned of.

    Judged on the unrounded share: a warning from 5%, an alarm from 15%.
    """
    if share is None or share < WARNING_FROM:
        return ""
    return "alarm" if share >= ALARM_FROM else "warning"


def read_bounds(scores: Mapping[str, Any], measure: str) -> tuple[float, float] | None:
    """A measure of stored scores with the dropped pairs at their worst and at their best."""
    worst, best = scores["worst"], scores["best"]
    return None if worst is None or best is None else (worst[measure], best[measure])

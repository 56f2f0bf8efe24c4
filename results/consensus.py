"""What a pair's votes decide: the consensus label, or the reason why there is none.

The rule, for one pair:

1. a final label decides, whatever the votes say; a final label may also drop the pair;
2. otherwise the grade with strictly the most votes decides, if the pair has enough votes;
3. a tie is no label, and neither is a pair on which everybody was unsure.

Unsure is no vote. Grades are compared for equality only: no grade is ever averaged, so a
consensus is always a grade that somebody gave. Web processes import this module, so it needs
nothing but the standard library.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Rule = Literal["final", "unanimous", "majority", "single"]
Reason = Literal["tie", "unsure only", "no votes", "too few votes", "not unanimous", "dropped"]
Policy = Literal["plurality", "unanimous"]


@dataclass(frozen=True, slots=True)
class FinalDecision:
    """The recorded decision on a pair: a grade, or `None` when the pair was dropped."""

    grade: int | None

    @property
    def drops_pair(self) -> bool:
        return self.grade is None


@dataclass(frozen=True, slots=True)
class Consensus:
    """The outcome for one pair.

    `grade` is set exactly when the pair has a label, and then `rule` says what decided.
    `reason` is set exactly when it has none; a dropped pair has the rule `final` as well.
    `votes` holds (grade, count) for every grade that was voted for, in ascending order.
    """

    grade: int | None
    rule: Rule | None
    reason: Reason | None
    votes: tuple[tuple[int, int], ...] = ()

    @property
    def has_label(self) -> bool:
        return self.grade is not None


def decide_consensus(
    votes: Sequence[int],
    *,
    final: FinalDecision | None = None,
    minimum_votes: int = 1,
    policy: Policy = "plurality",
    unsure: int = 0,
) -> Consensus:
    """Decide one pair from the grades given to it, in any order, one per annotator.

    `unsure` is how many annotators were unsure; it only tells "unsure only" from "no votes".
    `minimum_votes` is how many votes a label needs; a final label needs none. Under the policy
    `unanimous` votes that differ give no label. Raises `ValueError` for a `minimum_votes`
    below 1, a negative `unsure` or an unknown policy.
    """
    _check(minimum_votes, policy, unsure)
    tally = Counter(votes)
    counted = tuple(sorted(tally.items()))
    if final is not None:
        return _follow(final, counted)
    if not counted:
        return Consensus(None, None, "unsure only" if unsure else "no votes")
    if tally.total() < minimum_votes:
        return Consensus(None, None, "too few votes", counted)
    if len(counted) == 1:
        grade, count = counted[0]
        return Consensus(grade, "single" if count == 1 else "unanimous", None, counted)
    if policy == "unanimous":
        return Consensus(None, None, "not unanimous", counted)
    return _most_votes(tally, counted)


def _check(minimum_votes: int, policy: str, unsure: int) -> None:
    if minimum_votes < 1:
        raise ValueError(f"minimum_votes must be at least 1, not {minimum_votes}")
    if unsure < 0:
        raise ValueError(f"unsure is a count and cannot be {unsure}")
    if policy not in ("plurality", "unanimous"):
        raise ValueError(f"unknown policy {policy!r}: use 'plurality' or 'unanimous'")


def _follow(final: FinalDecision, votes: tuple[tuple[int, int], ...]) -> Consensus:
    reason: Reason | None = "dropped" if final.drops_pair else None
    return Consensus(final.grade, "final", reason, votes)


def _most_votes(tally: Counter[int], votes: tuple[tuple[int, int], ...]) -> Consensus:
    (grade, most), (_, next_most) = tally.most_common(2)
    if most == next_most:
        return Consensus(None, None, "tie", votes)
    return Consensus(grade, "majority", None, votes)

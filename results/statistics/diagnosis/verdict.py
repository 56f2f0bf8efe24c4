"""The verdict on a class, and how many pairs more it would take to reach one."""

from collections.abc import Collection
from dataclasses import dataclass
from math import ceil
from typing import Literal, get_args

import numpy as np

from results.statistics.diagnosis.concentration import Concentration, QuerySplits
from results.statistics.diagnosis.thresholds import (
    APART_LEVEL,
    CITATION_SHARE,
    DIRECTION_SHARE,
    LEVEL,
    MINIMUM_QUERIES,
    MINIMUM_RATIO,
    PLANNED_EXCESS,
    PLANNED_POWER,
)
from results.statistics.exact import normal_quantile
from results.statistics.splits import SplitRate

Verdict = Literal["hole", "slips", "noise", "too_little_data"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
"""From the gravest to the least telling; a study has the gravest verdict of its classes."""


@dataclass(frozen=True)
class Need:
    """What a class still needs before its verdict is more than a guess; all zero: nothing.

    `pairs` more of the class, `queries` more of it, and `rest_pairs` more outside of it.
    """

    pairs: int
    queries: int
    rest_pairs: int

    def __bool__(self) -> bool:
        return bool(self.pairs or self.queries or self.rest_pairs)


def is_concentrated(found: Concentration, p_adjusted: float | None) -> bool:
    """Splits more than the rest beyond chance, and not by a trifle."""
    if p_adjusted is None or p_adjusted > LEVEL:
        return False
    return found.ratio is None or found.ratio >= MINIMUM_RATIO


def weigh_apart(direction: float | None, citation: float | None) -> float:
    """One p for "direction or citation sets it apart" (weighted Bonferroni), 1 with neither."""
    parts = ((direction, DIRECTION_SHARE), (citation, CITATION_SHARE))
    return min([1.0, *(p / share for p, share in parts if p is not None)])


def decide(*, concentrated: bool, apart: bool, alike: bool, need: Need) -> Verdict:
    """The first that holds: hole, too little data, slips, noise.

    `alike`: most splits are known to rest on one reading. Without it more splits than elsewhere
    are no slips, and too little is known to say what they are.
    """
    if concentrated and apart:
        return "hole"
    if need or (concentrated and not alike):
        return "too_little_data"
    return "slips" if concentrated else "noise"


def decide_study(verdicts: Collection[Verdict], *, undecided: bool) -> Verdict:
    """The gravest of the classes' verdicts; too little data where there is no class.

    `undecided`: some class splits more than the rest and has too little data. Then the study is no
    noise, whatever the others are.
    """
    none: Verdict = "too_little_data"
    gravest = min(verdicts, key=VERDICTS.index, default=none)
    return none if undecided and gravest == "noise" else gravest


def find_need(
    found: Concentration, inside: SplitRate, rest: SplitRate, *, tests: int, spread: float
) -> Need:
    """What is missing to see a hole that splits 30 points more than the rest, 4 times in 5.

    Normal approximation for two rates, one-sided at 0.05 / `tests`, with `spread` as design effect
    (variance between queries over the binomial variance). One split in ten pairs is assumed
    beforehand for the rest, so that a rest without data has a rate.

    Class and rest are asked for half of the variance allowed, or for less where the other takes
    less than its half: so no label that comes in at the same rates makes either number larger.
    """
    low = (rest.splits + 1) / (rest.pairs + 10)
    high = min(low + PLANNED_EXCESS, 0.95)
    deviates = normal_quantile(LEVEL / max(tests, 1)) + normal_quantile(1 - PLANNED_POWER)
    allowed = ((high - low) / deviates) ** 2
    own, taken = (
        _Sample(spread * rate * (1 - rate), known.pairs)
        for rate, known in ((high, inside), (low, rest))
    )
    is_enough = own.variance + taken.variance <= allowed
    needed = own.find_size(allowed - min(taken.variance, allowed / 2))
    rest_needed = taken.find_size(allowed - min(own.variance, allowed / 2))
    queries = max(MINIMUM_QUERIES - found.queries, 0)
    return Need(
        pairs=max(0 if is_enough else needed - inside.pairs, queries),
        queries=queries,
        rest_pairs=_find_rest_need(found, rest, 0 if is_enough else rest_needed, needed),
    )


def find_need_to_be_sure(
    pairs: int, direction_p: float | None, citation_p: float | None, *, tests: int
) -> int:
    """Pairs more until what sets a class of `pairs` apart would be sure, if it went on like that,
    with all of `tests` classes that split more to be told apart.

    The normal deviate of a p grows with the root of the pairs, so this many less are missing once
    some have come in. One pair at least, and at most nine for each there is.
    """
    parts = ((direction_p, DIRECTION_SHARE), (citation_p, CITATION_SHARE))
    times = [
        (normal_quantile(APART_LEVEL * share / tests / 2) / normal_quantile(p / 2)) ** 2
        for p, share in parts
        if p is not None and p < 1
    ]
    return int(np.clip(np.ceil(pairs * (min(times, default=np.inf) - 1)), 1, 9 * pairs))


def find_spread_between_queries(counts: QuerySplits) -> float:
    """Variance of splits between the queries of a class over the binomial variance, 1 at least."""
    pairs, excess = counts.n_pairs, counts.excess
    deviation, binomial = 0.0, 0.0
    for code in np.unique(counts.query_class):
        rows = counts.query_class == code
        total = pairs[rows].sum()
        mean = excess[rows].sum() / total
        rate = counts.splits[rows].sum() / total
        deviation += float(((excess[rows] - mean * pairs[rows]) ** 2).sum())
        binomial += float(rate * (1 - rate) * total)
    return max(1.0, deviation / binomial) if binomial else 1.0


@dataclass(frozen=True)
class _Sample:
    """Pairs of which one has this `spread` of its split, and how sure their rate is then."""

    spread: float
    pairs: int

    @property
    def variance(self) -> float:
        return self.spread / self.pairs if self.pairs else np.inf

    def find_size(self, variance: float) -> int:
        """How many pairs have a rate of this variance."""
        return ceil(self.spread / variance)


def _find_rest_need(found: Concentration, rest: SplitRate, needed: int, own: int) -> int:
    """Pairs missing in the rest; where no query of it has as many labels, as many as the class."""
    if found.queries and found.least_p > LEVEL and found.queries >= MINIMUM_QUERIES:
        return max(needed - rest.pairs, own)
    return max(needed - rest.pairs, 0)

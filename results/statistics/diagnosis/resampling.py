"""Two ways to redraw a study with whole queries as the units, and Holm's adjustment.

Pairs of one query are judged together and are not independent, so nothing smaller than a query is
ever moved. Draws are arithmetic on per-query sums: permutations or signs times counts, as matrix
products.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from results.statistics.table import FloatArray, IntArray

# A draw that equals the observed value counts as reaching it, whatever the last bits say.
TOLERANCE = 1e-9
_CELLS_AT_ONCE = 4_000_000
_CELLS_IN_ALL = 24_000_000
_FEWEST_DRAWS = 999


@dataclass(frozen=True)
class Draws:
    """What fixes the random draws: the seed, and how many of them a test makes at most."""

    seed: int
    permutations: int

    def count(self, queries: int) -> int:
        """Draws for this many queries: fewer above 6,000 of them, but 999 at least."""
        affordable = max(_FEWEST_DRAWS, _CELLS_IN_ALL // max(queries, 1))
        return min(self.permutations, affordable)

    def at_most(self, permutations: int) -> "Draws":
        """The same with fewer draws."""
        return replace(self, permutations=min(self.permutations, permutations))

    def can_enumerate(self, queries: int) -> bool:
        """Whether all patterns of signs are no more than the draws."""
        return queries < 60 and 2**queries <= self.permutations + 1


def deal_class(
    kinds: IntArray, stratum: IntArray, taken: IntArray, draws: Draws, *, stream: int
) -> Iterator[IntArray]:
    """Chunks (draws x T) of how many queries of each of T kinds a class gets when it is dealt anew.

    There are `kinds` (length T) queries of each kind. A kind lies in one `stratum` (0 to S - 1), of
    which the class keeps its `taken` (length S) queries. Queries of one kind are the same to every
    statistic, so dealing kinds is dealing whole queries. `stream` sets the classes' draws apart.
    """
    rng = np.random.default_rng([draws.seed, 0, stream])
    queries = int(kinds.sum())
    # Shuffling costs by queries, drawing the kinds one after another by kinds, some thirty times.
    method: Literal["count", "marginals"] = "count" if queries < 30 * len(kinds) else "marginals"
    for size in _chunks(len(kinds), draws.count(queries)):
        dealt = np.empty((size, len(kinds)), dtype=np.int64)
        for code, sample in enumerate(taken.tolist()):
            here = np.flatnonzero(stratum == code)
            dealt[:, here] = rng.multivariate_hypergeometric(
                kinds[here], sample, size=size, method=method
            )
        yield dealt


def deal_queries(is_inside: FloatArray, draws: Draws, *, stream: int) -> Iterator[FloatArray]:
    """Chunks (queries x draws) of who is inside (1 or 0); the first column is the observed one."""
    yield is_inside[:, None]
    rng = np.random.default_rng([draws.seed, 2, stream])
    for size in _chunks(len(is_inside), draws.count(len(is_inside))):
        columns = np.broadcast_to(is_inside.astype(np.int8), (size, len(is_inside)))
        yield rng.permuted(columns, axis=1).T.astype(np.float64)


def standardise_difference(sums: FloatArray, total: FloatArray) -> FloatArray:
    """Mean excess inside less mean excess outside, over its standard error between queries.

    `sums` (… x 3) are the inside's excess, squared excess and size, `total` the same over inside
    and outside. Being a ratio to its own error, the statistic stays honest where queries differ in
    size (studentised permutation, Janssen 1997, Chung and Romano 2013).
    """
    rest = total - sums
    size, rest_size = np.maximum(sums[..., 2], 1), np.maximum(rest[..., 2], 1)
    difference = sums[..., 0] / size - rest[..., 0] / rest_size
    variance = sums[..., 1] / size**2 + rest[..., 1] / rest_size**2
    some = variance > TOLERANCE**2
    return np.where(some, difference / np.sqrt(np.where(some, variance, 1.0)), 0.0)


def flip_signs(queries: int, draws: Draws) -> Iterator[FloatArray]:
    """Chunks (queries x draws) of signs, 1 or -1 with even odds."""
    rng = np.random.default_rng([draws.seed, 1])
    for size in _chunks(queries, draws.count(queries)):
        bits = rng.integers(0, 2, size=(queries, size), dtype=np.int8)
        yield (2 * bits - 1).astype(np.float64)


def enumerate_signs(queries: int) -> FloatArray:
    """Every pattern of signs once (queries x patterns), without the one that changes nothing.

    That one is the observation itself, and is counted apart.
    """
    patterns = np.arange(1, 2**queries) >> np.arange(queries)[:, None] & 1
    return (1 - 2 * patterns).astype(np.float64)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's step-down adjustment over the p values that are defined (Holm 1979)."""
    adjusted: list[float | None] = [None] * len(p_values)
    defined = sorted((p, place) for place, p in enumerate(p_values) if p is not None)
    highest = 0.0
    for step, (p, place) in enumerate(defined):
        highest = max(highest, min(1.0, p * (len(defined) - step)))
        adjusted[place] = highest
    return adjusted


def _chunks(columns: int, total: int) -> Iterator[int]:
    size = max(1, _CELLS_AT_ONCE // max(columns, 1))
    for start in range(0, total, size):
        yield min(size, total - start)

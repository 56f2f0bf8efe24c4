"""Two ways to redraw a study with whole queries as the units, and Holm's adjustment.

Pairs of one query are judged together and are not independent, so nothing smaller than a query is
ever moved. Draws are arithmetic on per-query sums: permutations or signs times counts, as matrix
products.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from results.statistics.table import FloatArray, IntArray

# A draw that equals the observed value counts as reaching it, whatever the last bits say.
TOLERANCE = 1e-9
_CELLS_AT_ONCE = 4_000_000
_CELLS_IN_ALL = 60_000_000
_FEWEST_DRAWS = 999


@dataclass(frozen=True)
class Draws:
    """What fixes the random draws: the seed, and how many of them a test makes at most."""

    seed: int
    permutations: int

    def count(self, queries: int) -> int:
        """Draws for this many queries: fewer above 12,000 of them, but 999 at least."""
        affordable = max(_FEWEST_DRAWS, _CELLS_IN_ALL // max(queries, 1))
        return min(self.permutations, affordable)


def permute_classes(query_class: IntArray, stratum: IntArray, draws: Draws) -> Iterator[IntArray]:
    """Chunks (draws x queries) of the classes dealt out anew among the queries of each stratum."""
    rng = np.random.default_rng([draws.seed, 0])
    order = np.argsort(stratum, kind="stable")
    borders = np.flatnonzero(np.diff(stratum[order])) + 1
    blocks = np.split(order, borders)
    for size in _chunks(len(query_class), draws.count(len(query_class))):
        drawn = np.empty((size, len(query_class)), dtype=query_class.dtype)
        for block in blocks:
            dealt = np.broadcast_to(query_class[block], (size, len(block)))
            drawn[:, block] = rng.permuted(dealt, axis=1)
        yield drawn


def flip_signs(units: csr_array, draws: Draws) -> Iterator[FloatArray]:
    """Chunks (draws x columns) of column sums after the sign of each row is set at random.

    Rows are queries, and a query keeps one sign in all columns. With few rows every pattern of
    signs is used once; the pattern that changes nothing is left out, as it is counted apart.
    """
    rows = units[np.flatnonzero(np.diff(units.indptr))]
    n = rows.shape[0]
    if 2**n <= draws.permutations + 1:
        patterns = np.arange(1, 2**n)[:, None] >> np.arange(n) & 1
        yield (rows.T @ (1.0 - 2.0 * patterns.T)).T
        return
    rng = np.random.default_rng([draws.seed, 1])
    for size in _chunks(n, draws.count(n)):
        bits = rng.integers(0, 2, size=(n, size), dtype=np.int8)
        yield (rows.T @ (2.0 * bits - 1.0)).T


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

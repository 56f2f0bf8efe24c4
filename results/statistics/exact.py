"""Exact tests of counts, and the normal quantile.

scipy.stats has them all, and takes a second and 40 MB to load, which the first report of every
worker would wait for. Tests compare these with it.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import bdtr, gammaln, ndtri

# Tables as likely as the one at hand count as such, whatever the last digits say.
TIE = 1 + 1e-7


def fisher_exact_p(table: Sequence[Sequence[int]]) -> float:
    """The two-sided p of a 2 x 2 table: the share of all tables with its margins that are no more
    likely than it (Fisher 1935; the two-sided rule is that of Freeman and Halton 1951)."""
    (hits, misses), (other_hits, other_misses) = np.asarray(table, dtype=np.int64).tolist()
    asked, others, taken = hits + misses, other_hits + other_misses, hits + other_hits
    lowest, highest = max(0, taken - others), min(asked, taken)
    possible = np.arange(lowest, highest + 1)
    logs = _log_choose(asked, possible) + _log_choose(others, taken - possible)
    shares = np.exp(logs - _log_choose(asked + others, np.array(taken)))
    return float(min(shares[shares <= shares[hits - lowest] * TIE].sum(), 1.0))


def binomial_p(yes: int, asked: int) -> float:
    """The two-sided p of so many yes among those asked, where both answers are equally likely."""
    return float(min(2 * bdtr(min(yes, asked - yes), asked, 0.5), 1.0))


def normal_quantile(above: float) -> float:
    """The standard deviations that a normal value exceeds with this probability."""
    return float(-ndtri(above))


def _log_choose(total: int, taken: np.ndarray) -> np.ndarray:
    chosen: np.ndarray = gammaln(total + 1) - gammaln(taken + 1) - gammaln(total - taken + 1)
    return chosen

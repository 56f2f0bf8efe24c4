"""95% intervals: percentile bootstrap over queries, and Wilson's interval of a rate.

Queries are the units that are drawn, because pairs of one query are judged together and are not
independent. Nothing but per-query count tables is drawn: a resample is the sum of the tables of
the drawn queries, so its cost does not grow with the number of labels.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from results.statistics.agreement import (
    LEVELS,
    WEIGHTS,
    Level,
    Weights,
    ac1_values,
    alpha_values,
    kappa_values,
)
from results.statistics.table import FloatArray

SEED = 1960
"""Seed of every bootstrap: the same labels give the same interval, on any day."""

RESAMPLES = 1000
MINIMUM_QUERIES = 10
MAXIMUM_UNDEFINED = 0.05

_Z = NormalDist().inv_cdf(0.975)
_CELLS_AT_ONCE = 4_000_000

Key = TypeVar("Key")


@dataclass(frozen=True)
class Interval:
    """A closed 95% interval."""

    low: float
    high: float


@dataclass(frozen=True)
class IntervalOutcome:
    """An interval, or the reason why there is none; exactly one of the two is set.

    `queries` is how many queries were drawn from; `undefined` is the share (0 to 1) of resamples
    in which the measure was undefined and which were left out, `None` where none were drawn.
    """

    interval: Interval | None
    reason: str | None
    queries: int
    undefined: float | None


def kappa_intervals(
    tables: Mapping[Key, FloatArray], *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[Key, dict[Weights, IntervalOutcome]]:
    """Intervals of kappa with all weights for many annotator pairs.

    `tables` holds the per-query confusion matrices (Q x k x k) of each annotator pair, with one
    entry for each query on which the two share a pair; those are the queries drawn.
    """
    sums = _resample_many(tables, resamples, seed)
    return {
        key: {
            weights: _outcome(table, kappa_values(sums[key], weights) if key in sums else None)
            for weights in WEIGHTS
        }
        for key, table in tables.items()
    }


def alpha_intervals(
    coincidences: FloatArray,
    scale: tuple[int, ...],
    *,
    levels: Sequence[Level] = LEVELS,
    resamples: int = RESAMPLES,
    seed: int = SEED,
) -> dict[Level, IntervalOutcome]:
    """Intervals of alpha at these levels from per-query coincidence matrices (Q x k x k)."""
    sums = _resample_many({"": coincidences}, resamples, seed)
    return {
        level: _outcome(coincidences, alpha_values(sums[""], level, scale) if sums else None)
        for level in levels
    }


def ac1_interval(
    agreements: FloatArray, *, resamples: int = RESAMPLES, seed: int = SEED
) -> IntervalOutcome:
    """The interval of AC1 from what each query adds to it, see `counts.query_agreements`."""
    sums = _resample_many({"": agreements}, resamples, seed)
    return _outcome(agreements, ac1_values(sums[""]) if sums else None)


def percentile_interval(values: FloatArray, *, queries: int) -> IntervalOutcome:
    """The interval between the 2.5th and the 97.5th percentile of resampled values.

    `values` has one entry for each resample, NaN where the measure was undefined. Those are left
    out; above 5% of them there is no interval.
    """
    undefined = float(np.isnan(values).mean())
    if undefined > MAXIMUM_UNDEFINED:
        reason = f"undefined in {undefined:.1%} of the resamples (at most 5% allowed)"
        return IntervalOutcome(None, reason, queries, undefined)
    low, high = np.percentile(values[~np.isnan(values)], (2.5, 97.5))
    return IntervalOutcome(Interval(float(low), float(high)), None, queries, undefined)


def resample_sums(
    tables: Sequence[FloatArray], *, resamples: int = RESAMPLES, seed: int = SEED
) -> list[FloatArray]:
    """Sums over queries drawn with replacement, for several tables of equally many queries.

    Each table is Q x ... with the queries first; each result is resamples x .... All tables see
    the same draws: resample r takes the queries of row r of one integer array (resamples x Q),
    uniform on 0 to Q-1, from numpy's default generator. Raises `ValueError` where the numbers
    of queries differ or are 0.
    """
    queries = {len(table) for table in tables}
    if len(queries) != 1 or 0 in queries:
        raise ValueError(f"tables need one and the same number of queries, not {sorted(queries)}")
    count = queries.pop()
    flat = [np.ascontiguousarray(table, dtype=np.float64).reshape(count, -1) for table in tables]
    sums = [np.empty((resamples, table.shape[1])) for table in flat]
    generator = np.random.default_rng(seed)
    step = max(1, _CELLS_AT_ONCE // count)
    for start in range(0, resamples, step):
        stop = min(start + step, resamples)
        times = _draw(generator, stop - start, count)
        for table, total in zip(flat, sums, strict=True):
            total[start:stop] = times @ table
    return [
        total.reshape(resamples, *table.shape[1:])
        for total, table in zip(sums, tables, strict=True)
    ]


def wilson_interval(successes: int, trials: int) -> Interval | None:
    """Wilson's 95% score interval of a rate, or `None` without trials.

    Source: Wilson (1927) Journal of the American Statistical Association 22, 209-212.
    """
    if not trials:
        return None
    rate, z2 = successes / trials, _Z * _Z
    centre = rate + z2 / (2 * trials)
    half = _Z * sqrt(rate * (1 - rate) / trials + z2 / (4 * trials * trials))
    scale = 1 + z2 / trials
    # Rounding may leave a hair outside of 0 to 1, and beyond a rate of 0 or 1.
    return Interval(
        min(max((centre - half) / scale, 0.0), rate), max(min((centre + half) / scale, 1.0), rate)
    )


def _draw(generator: np.random.Generator, rows: int, queries: int) -> FloatArray:
    """How often each query is drawn in each of `rows` resamples (rows x queries)."""
    drawn = generator.integers(0, queries, size=(rows, queries))
    drawn += np.arange(rows)[:, None] * queries
    times = np.bincount(drawn.ravel(), minlength=rows * queries)
    return times.reshape(rows, queries).astype(np.float64)


def _resample_many(
    tables: Mapping[Key, FloatArray], resamples: int, seed: int
) -> dict[Key, FloatArray]:
    """Resampled sums of every table that has enough queries, each from the same seed."""
    by_queries: defaultdict[int, list[Key]] = defaultdict(list)
    for key, table in tables.items():
        if len(table) >= MINIMUM_QUERIES:
            by_queries[len(table)].append(key)
    result: dict[Key, FloatArray] = {}
    for keys in by_queries.values():
        sums = resample_sums([tables[key] for key in keys], resamples=resamples, seed=seed)
        result.update(zip(keys, sums, strict=True))
    return result


def _outcome(table: FloatArray, values: FloatArray | None) -> IntervalOutcome:
    if values is None:
        reason = f"fewer than {MINIMUM_QUERIES} queries to draw from"
        return IntervalOutcome(None, reason, len(table), None)
    return percentile_interval(values, queries=len(table))

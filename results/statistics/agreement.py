"""Agreement of labels: raw agreement, Cohen's kappa, Krippendorff's alpha, Gwet's AC1.

Chance-corrected measures take the form (expected - observed) / expected of two disagreements
taken from one co-judged set. They divide once, so that a value which is a short fraction
comes out as the nearest floating point number, and a band's border means what it says.
"""

from dataclasses import dataclass
from itertools import combinations
from math import isfinite
from typing import Literal

import numpy as np
import numpy.typing as npt

from results.statistics.counts import (
    GradeCounts,
    compare_labels,
    count_grades,
    query_coincidences,
    query_confusions,
)
from results.statistics.table import FloatArray, IntArray, LabelTable

Weights = Literal["nominal", "linear", "quadratic"]
Level = Literal["nominal", "ordinal", "interval"]

WEIGHTS: tuple[Weights, ...] = ("nominal", "linear", "quadratic")
LEVELS: tuple[Level, ...] = ("nominal", "ordinal", "interval")

NOTHING_SHARED = "nothing shared: no pair was labelled by both"
NOTHING_TWICE = "nothing shared: no pair was labelled at least twice"
ONE_LABEL = "one label used: chance alone would agree everywhere"


@dataclass(frozen=True)
class Measure:
    """A number, or the reason why there is none; exactly one of the two is set.

    `n` is how many units the outcome rests on: pairs, or comparisons for raw agreement.
    """

    value: float | None
    reason: str | None
    n: int = 0

    def __post_init__(self) -> None:
        if (self.value is None) == (self.reason is None):
            raise ValueError("a measure has either a value or a reason")
        if self.value is not None and not isfinite(self.value):
            raise ValueError(f"a measure cannot be {self.value}: give a reason instead")

    @classmethod
    def of(cls, value: float, n: int = 0) -> "Measure":
        return cls(float(value), None, int(n))

    @classmethod
    def undefined(cls, reason: str, n: int = 0) -> "Measure":
        return cls(None, reason, int(n))

    @property
    def is_defined(self) -> bool:
        return self.value is not None


def confusion(table: LabelTable, a: int, b: int) -> IntArray:
    """Confusion matrix (k x k) of two annotators on the pairs both labelled.

    Rows are the grades of `a`, columns those of `b`, both over the whole scale. Raises
    `ValueError` when `a` and `b` are the same annotator or not in the table's list.
    """
    known = range(len(table.annotators))
    if a == b or a not in known or b not in known:
        raise ValueError(f"need two different annotator codes below {len(known)}: {a}, {b}")
    shared = confusions(table.select(np.isin(table.annotator, (a, b))))
    low_high = shared[min(a, b), max(a, b)]
    return low_high if a < b else low_high.T


def confusions(table: LabelTable) -> dict[tuple[int, int], IntArray]:
    """Confusion matrices of all annotator pairs (codes a < b) in one pass over the labels.

    Every two annotators of the table are listed; who share nothing have a matrix of zeros.
    """
    k, count = table.n_grades, len(table.annotators)
    result: dict[tuple[int, int], IntArray] = {
        both: np.zeros((k, k), dtype=np.int64) for both in combinations(range(count), 2)
    }
    for both, rows in compare_labels(table).by_annotators():
        result[both] = query_confusions(rows, k).sum(axis=0).astype(np.int64)
    return result


def observed_agreement(confusion: npt.ArrayLike) -> Measure:
    """Share of co-judged pairs on which both gave the same grade (trace / n)."""
    table = np.asarray(confusion, dtype=np.float64)
    n = table.sum()
    if not n:
        return Measure.undefined(NOTHING_SHARED)
    return Measure.of(np.trace(table) / n, int(n))


def expected_agreement(confusion: npt.ArrayLike) -> Measure:
    """Agreement by chance that kappa discounts: sum of row share x column share (Cohen 1960)."""
    table = np.asarray(confusion, dtype=np.float64)
    n = table.sum()
    if not n:
        return Measure.undefined(NOTHING_SHARED)
    return Measure.of(table.sum(axis=1) @ table.sum(axis=0) / (n * n), int(n))


def disagreement_weights(k: int, weights: Weights) -> FloatArray:
    """Weight (k x k) of each disagreement by distance on the scale's positions (Cohen 1968)."""
    distance = np.abs(np.subtract.outer(np.arange(k), np.arange(k))).astype(np.float64)
    if weights == "nominal":
        return (distance > 0).astype(np.float64)
    if weights == "linear":
        return distance
    if weights == "quadratic":
        return distance**2
    raise ValueError(f"unknown weights {weights!r}: use one of {', '.join(WEIGHTS)}")


def kappa_values(confusions: FloatArray, weights: Weights) -> FloatArray:
    """Kappa of many confusion matrices (... x k x k); NaN marks those where it is undefined."""
    weight = disagreement_weights(confusions.shape[-1], weights)
    rows, columns = confusions.sum(axis=-1), confusions.sum(axis=-2)
    observed = rows.sum(axis=-1) * np.einsum("...ij,ij->...", confusions, weight)
    expected = np.einsum("...i,ij,...j->...", rows, weight, columns)
    return _chance_corrected(observed, expected)


def cohen_kappa(confusion: npt.ArrayLike, weights: Weights = "nominal") -> Measure:
    """Cohen's kappa of one confusion matrix (k x k); n is the number of co-judged pairs.

    Sources: Cohen (1960) Educational and Psychological Measurement 20, 37-46; weighted: Cohen
    (1968) Psychological Bulletin 70, 213-220. Undefined when nothing is shared, and when both
    used one and the same label, so that chance alone would agree everywhere.
    """
    table = np.asarray(confusion, dtype=np.float64)
    n = int(table.sum())
    return _measure(float(kappa_values(table, weights)), n, NOTHING_SHARED)


def raw_agreement(table: LabelTable) -> Measure:
    """Share of comparisons (two annotators, one pair) that agree; n counts the comparisons."""
    return raw_agreement_of(count_grades(table))


def raw_agreement_of(grades: GradeCounts) -> Measure:
    """Raw agreement from grade counts; see `raw_agreement`."""
    agreeing = int((grades.counts * (grades.counts - 1)).sum()) // 2
    comparisons = int((grades.labels * (grades.labels - 1)).sum()) // 2
    if not comparisons:
        return Measure.undefined(NOTHING_TWICE)
    return Measure.of(agreeing / comparisons, comparisons)


def krippendorff_alpha(table: LabelTable, level: Level = "nominal") -> Measure:
    """Krippendorff's alpha over the pairs labelled at least twice; n counts those pairs.

    Source: Krippendorff (2011) Computing Krippendorff's Alpha-Reliability. `ordinal` measures
    distance by ranks among the labels given, `interval` by the grade values of the scale.
    Undefined when no pair was labelled twice, or when all those labels are the same.
    """
    twice = count_grades(table).labelled_twice()
    coincidences = query_coincidences(twice).sum(axis=0)
    return alpha_of(coincidences, level, table.scale, pairs=len(twice.query))


def alpha_of(
    coincidences: FloatArray, level: Level, scale: tuple[int, ...], *, pairs: int
) -> Measure:
    """Alpha of one coincidence matrix (k x k) that was made from `pairs` pairs."""
    return _measure(float(alpha_values(coincidences, level, scale)), pairs, NOTHING_TWICE)


def alpha_values(coincidences: FloatArray, level: Level, scale: tuple[int, ...]) -> FloatArray:
    """Alpha of many coincidence matrices (... x k x k); NaN marks the undefined ones."""
    totals = coincidences.sum(axis=-1)
    distance = _squared_distance(totals, level, scale)
    observed = np.einsum("...ij,...ij->...", coincidences, distance)
    expected = np.einsum("...i,...ij,...j->...", totals, distance, totals)
    return _chance_corrected((totals.sum(axis=-1) - 1) * observed, expected)


def _squared_distance(totals: FloatArray, level: Level, scale: tuple[int, ...]) -> FloatArray:
    if level == "nominal":
        return 1.0 - np.eye(len(scale))
    if level == "interval":
        place = np.asarray(scale, dtype=np.float64)
    elif level == "ordinal":
        # The sum between two grades, less half of each end, is the distance of their mid-ranks.
        place = np.cumsum(totals, axis=-1) - totals / 2
    else:
        raise ValueError(f"unknown level {level!r}: use one of {', '.join(LEVELS)}")
    distance: FloatArray = (place[..., :, None] - place[..., None, :]) ** 2
    return distance


def gwet_ac1(table: LabelTable, *, include_single: bool = False) -> Measure:
    """Gwet's AC1 for any number of annotators over the pairs labelled at least twice.

    Source: Gwet (2008) British Journal of Mathematical and Statistical Psychology 61, 29-48.
    Its chance agreement is the sum of p (1 - p) over the grades, divided by k - 1, with k the
    size of the whole scale and p the mean share of a grade over the pairs. Gwet's later handbook
    takes p over pairs with a single label as well; `include_single=True` does so. The default
    keeps one co-judged set for both terms. n counts the pairs labelled at least twice.
    """
    return gwet_ac1_of(count_grades(table), include_single=include_single)


def gwet_ac1_of(grades: GradeCounts, *, include_single: bool = False) -> Measure:
    """AC1 from grade counts; see `gwet_ac1`."""
    twice = grades.labelled_twice()
    pairs = len(twice.query)
    if not pairs:
        return Measure.undefined(NOTHING_TWICE)
    basis = grades if include_single else twice
    share = (basis.counts / basis.labels[:, None]).mean(axis=0)
    if np.count_nonzero(share) < 2:
        return Measure.undefined(ONE_LABEL, pairs)
    agreeing = (twice.counts * (twice.counts - 1)).sum(axis=1)
    observed = float((agreeing / (twice.labels * (twice.labels - 1))).mean())
    expected = float((share * (1 - share)).sum()) / (len(share) - 1)
    return Measure.of((observed - expected) / (1 - expected), pairs)


def ac1_values(agreements: FloatArray) -> FloatArray:
    """AC1 of many sums of per-query agreements (... x k+2, see `counts.query_agreements`); NaN
    marks those where it is undefined."""
    pairs = agreements[..., 1]
    with np.errstate(invalid="ignore", divide="ignore"):
        observed = agreements[..., 0] / pairs
        share = agreements[..., 2:] / pairs[..., None]
        expected = (share * (1 - share)).sum(axis=-1) / (share.shape[-1] - 1)
        values: FloatArray = (observed - expected) / (1 - expected)
    is_defined = (pairs > 0) & ((agreements[..., 2:] > 0).sum(axis=-1) >= 2)
    return np.where(is_defined, values, np.nan)


def kappa_band(value: float) -> str:
    """Reading of an unrounded kappa after Landis and Koch (1977); upper borders belong below."""
    if value < 0:
        return "poor"
    borders = ((0.20, "slight"), (0.40, "fair"), (0.60, "moderate"), (0.80, "substantial"))
    return next((name for border, name in borders if value <= border), "almost perfect")


def alpha_band(value: float) -> str:
    """Reading of an unrounded alpha after Krippendorff (2004); lower borders belong above."""
    if value >= 0.80:
        return "reliable"
    return "tentative conclusions only" if value >= 0.667 else "unreliable"


def _chance_corrected(observed: FloatArray, expected: FloatArray) -> FloatArray:
    result = np.full(np.shape(expected), np.nan)
    np.divide(expected - observed, expected, out=result, where=expected > 0)
    return result


def _measure(value: float, n: int, nothing: str) -> Measure:
    if not n:
        return Measure.undefined(nothing)
    if np.isnan(value):
        return Measure.undefined(ONE_LABEL, n)
    return Measure.of(value, n)

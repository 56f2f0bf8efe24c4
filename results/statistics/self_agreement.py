"""How often people give the label again that they gave before, blind: two labels of one person."""

from dataclasses import dataclass

import numpy as np

from results.statistics.agreement import (
    Measure,
    cohen_kappa,
    expected_agreement,
    observed_agreement,
)
from results.statistics.counts import Comparisons, query_confusions
from results.statistics.intervals import RESAMPLES, IntervalOutcome, kappa_intervals
from results.statistics.table import IntArray


@dataclass(frozen=True)
class SelfAgreement:
    """One annotator (code) against themself; the n of the measures is the number of pairs."""

    annotator: int
    observed: Measure
    expected: Measure
    kappa: Measure
    interval: IntervalOutcome


def measure_self_agreement(
    *,
    query: IntArray,
    annotator: IntArray,
    before: IntArray,
    after: IntArray,
    grades: int,
    resamples: int = RESAMPLES,
) -> list[SelfAgreement]:
    """Raw agreement and Cohen's kappa of each annotator's earlier with their later labels.

    Equal-length columns, one row for each pair that an annotator graded twice: codes of query
    and annotator, and the positions of both grades on a scale of `grades` steps. Annotators come
    in the order of their codes.
    """
    # The same annotator stands on both sides, so that what compares two compares one too.
    rows = Comparisons(query, annotator, annotator, before, after)
    tables = {both[0]: query_confusions(of_one, grades) for both, of_one in rows.by_annotators()}
    intervals = kappa_intervals(tables, resamples=resamples)
    return [
        _measure(code, table.sum(axis=0), intervals[code]["nominal"])
        for code, table in sorted(tables.items())
    ]


def _measure(code: int, confusion: np.ndarray, interval: IntervalOutcome) -> SelfAgreement:
    return SelfAgreement(
        annotator=code,
        observed=observed_agreement(confusion),
        expected=expected_agreement(confusion),
        kappa=cohen_kappa(confusion),
        interval=interval,
    )

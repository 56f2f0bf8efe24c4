"""The two sides of a rubric revision: the same pairs, labelled under either version."""

from dataclasses import dataclass

import numpy as np

from results.statistics.agreement import NOTHING_SHARED, ONE_LABEL, Measure, confusions
from results.statistics.splits import ClassSplits, SplitRate, split_rate, splits_by_class
from results.statistics.table import IntArray, LabelTable

CHANCE_MOVED = 0.05
"""A chance agreement that moves by more says that the label mix shifted: a better kappa is then
not by itself a sign of people converging."""


@dataclass(frozen=True)
class SideAgreement:
    """Agreement under one version, over pairs labelled at least twice; `classes` as
    `splits.splits_by_class` gives them. The n of the measures is the number of comparisons."""

    observed: Measure
    expected: Measure
    kappa: Measure
    splits: SplitRate
    classes: list[ClassSplits]


def measure_side(table: LabelTable) -> SideAgreement:
    """Agreement and splits of one side."""
    observed, expected, kappa = pooled_kappa(table)
    return SideAgreement(observed, expected, kappa, split_rate(table), splits_by_class(table))


def pooled_kappa(table: LabelTable) -> tuple[Measure, Measure, Measure]:
    """Observed and chance agreement over all two annotators who share pairs, and their kappa.

    Source: De Vries, Elliott, Kanouse and Teleki (2008) Using Pooled Kappa to Summarize
    Interrater Agreement across Many Items, Field Methods 20, 272-282: both agreements are
    averaged before kappa is taken of them, here over annotator pairs weighted by the pairs that
    they share. With two annotators it is Cohen's kappa, and the observed agreement is the raw
    agreement in either case.
    """
    shared = [one for one in confusions(table).values() if one.sum()]
    total = sum(int(one.sum()) for one in shared)
    if not total:
        nothing = Measure.undefined(NOTHING_SHARED)
        return nothing, nothing, nothing
    observed = sum(int(np.trace(one)) for one in shared) / total
    expected = sum(_chance(one) for one in shared) / total
    kappa = (
        Measure.of((observed - expected) / (1 - expected), total)
        if expected < 1
        else Measure.undefined(ONE_LABEL, total)
    )
    return Measure.of(observed, total), Measure.of(expected, total), kappa


def chance_has_moved(before: Measure, after: Measure) -> bool:
    """Whether chance agreement differs by more than `CHANCE_MOVED`; no where undefined."""
    if before.value is None or after.value is None:
        return False
    return abs(after.value - before.value) > CHANCE_MOVED


def _chance(confusion: IntArray) -> float:
    """Pairs of a confusion matrix on which chance alone would agree."""
    return float(confusion.sum(axis=1) @ confusion.sum(axis=0)) / float(confusion.sum())

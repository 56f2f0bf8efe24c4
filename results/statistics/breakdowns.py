"""The same agreement slice by slice: by class, dimension, rubric version and over time, by query.

A slice is a set of pairs labelled at least twice. What a slice shows always comes with its n.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np

from results.statistics.agreement import Measure, alpha_of, raw_agreement_of
from results.statistics.counts import GradeCounts, count_grades, query_coincidences
from results.statistics.intervals import RESAMPLES, alpha_intervals, wilson_interval
from results.statistics.table import NONE, BoolArray, FloatArray, IntArray, LabelTable

Json = dict[str, Any]

PERIODS = 8
"""Equal parts into which the pairs are cut by time."""

LISTED_QUERIES = 200
"""Queries that are listed by disagreement; those below are the ones that disagree least."""

FAR_APART = 2
"""Steps on the scale from which two labels of a pair are called far apart."""


@dataclass(frozen=True, eq=False)
class Context:
    """What stands beside the rows of a label table, each as long as the table: the number of the
    rubric version and the moment of each label, in seconds since 1970."""

    rubric: IntArray
    moment: IntArray

    def where(self, rows: BoolArray) -> "Context":
        return Context(self.rubric[rows], self.moment[rows])


def describe_slice(grades: GradeCounts, scale: tuple[int, ...]) -> Json:
    """Splits, raw agreement and nominal alpha of the pairs labelled twice among these."""
    twice = grades.labelled_twice()
    pairs = len(twice.query)
    splits = int(((twice.counts > 0).sum(axis=1) > 1).sum())
    interval = wilson_interval(splits, pairs)
    raw = raw_agreement_of(twice)
    total = query_coincidences(twice).sum(axis=0)
    alpha = alpha_of(total, "nominal", scale, pairs=pairs)
    return {
        "pairs": pairs,
        "splits": splits,
        "rate": splits / pairs if pairs else None,
        "interval95": None if interval is None else [interval.low, interval.high],
        "comparisons": raw.n,
        "observed": raw.value,
        "alpha": alpha.value,
        **_reason(alpha),
    }


def describe_class_alphas(people: LabelTable, *, resamples: int = RESAMPLES) -> list[Json]:
    """Raw agreement and nominal alpha with its interval, for every class in the order of
    `people.classes`, and last for the unclassified queries."""
    grades = count_grades(people).labelled_twice()
    query_class = people.query_class[grades.query]
    return [
        _describe_class_alpha(grades.where(query_class == code), people.scale, resamples)
        for code in (*range(len(people.classes)), NONE)
    ]


def describe_by_dimension(people: LabelTable, names: Sequence[str]) -> list[Json]:
    """For each dimension the pairs of which at least one label cites it."""
    grades = count_grades(people)
    pair_number = np.repeat(np.arange(len(people.pair_starts)), people.pair_sizes)
    described = []
    for code, name in enumerate(names):
        cited = np.zeros(len(grades.query), dtype=bool)
        cited[pair_number[people.dimension == code]] = True
        described.append({"dimension": name, **describe_slice(grades.where(cited), people.scale)})
    return described


def describe_by_rubric(people: LabelTable, context: Context) -> list[Json]:
    """For each rubric version the labels given under it, compared among themselves."""
    described = []
    for number in np.unique(context.rubric).tolist():
        rows = context.rubric == number
        labels = people.select(rows)
        described.append(
            {
                "rubric_version": number,
                "judgments": int(rows.sum()),
                **describe_slice(count_grades(labels), people.scale),
            }
        )
    return described


def describe_over_time(people: LabelTable, context: Context) -> list[Json]:
    """The pairs labelled twice in up to eight equal parts, by the moment of their last label.

    Pairs of one moment stay together, so an import of everything at once is one part.
    """
    if not len(people):
        return []
    grades = count_grades(people)
    last: IntArray = np.maximum.reduceat(context.moment, people.pair_starts)
    twice = grades.labels >= 2
    last, grades = last[twice], grades.where(twice)
    # The place of the first pair of the same moment, as a share of all, names the part.
    place = np.searchsorted(np.sort(last), last)
    part = place * PERIODS // max(len(last), 1)
    return [
        {
            "from": _moment(int(last[part == number].min())),
            "to": _moment(int(last[part == number].max())),
            **describe_slice(grades.where(part == number), people.scale),
        }
        for number in np.unique(part)
    ]


def describe_citations(table: LabelTable, names: Sequence[str]) -> Json:
    """Each dimension's use: labels by annotator, machines too, and by class; the unclassified
    stand last, as `null`. The counts go by the order of `names`, labels that cite nothing last."""
    size = len(names) + 1
    dimension = np.where(table.dimension == NONE, len(names), table.dimension)

    def count(group: IntArray, groups: int) -> list[list[int]]:
        cells = np.bincount(group * size + dimension, minlength=groups * size)
        counted: list[list[int]] = cells.reshape(groups, size).tolist()
        return counted

    classes = len(table.classes)
    query_class = table.query_class[table.query].astype(np.int64)
    by_class = count(np.where(query_class == NONE, classes, query_class), classes + 1)
    by_annotator = count(table.annotator.astype(np.int64), len(table.annotators))
    return {
        "dimension_names": list(names),
        "decided_by_annotator": [
            {"annotator": name, "counts": row}
            for name, row in zip(table.annotators, by_annotator, strict=True)
        ],
        "decided_by_class": [
            {"class": name, "counts": row}
            for name, row in zip((*table.classes, None), by_class, strict=True)
            if name is not None or any(row)
        ],
    }


def rank_queries(people: LabelTable) -> list[Json]:
    """The queries with a split, by the share of their pairs that split, highest first; then by
    splits. `query` is the query's code, `widest` the greatest distance in steps of the scale."""
    grades = count_grades(people).labelled_twice()
    used = grades.counts > 0
    steps = used.shape[1] - 1 - used[:, ::-1].argmax(axis=1) - used.argmax(axis=1)
    queries, number = np.unique(grades.query, return_inverse=True)
    size = len(queries)
    pairs = np.bincount(number, minlength=size)
    splits = np.bincount(number[steps > 0], minlength=size)
    far = np.bincount(number[steps >= FAR_APART], minlength=size)
    widest = np.zeros(size, dtype=np.int64)
    np.maximum.at(widest, number, steps)
    order = np.lexsort((queries, -far, -splits, -splits / np.maximum(pairs, 1)))
    return [
        {
            "query": int(queries[place]),
            "class": people.class_name(int(people.query_class[queries[place]])),
            "pairs": int(pairs[place]),
            "splits": int(splits[place]),
            "rate": float(splits[place] / pairs[place]),
            "far_apart": int(far[place]),
            "widest": int(widest[place]),
        }
        for place in order[:LISTED_QUERIES]
        if splits[place]
    ]


def describe_time(
    seconds: FloatArray, pair: IntArray, annotator: IntArray, names: Sequence[str]
) -> Json:
    """Active time of the labels whose time is known; equal-length columns, one entry for each.

    `median_of_pairs` is that of the sums over each pair's labels.
    """
    total = np.bincount(pair, weights=seconds).astype(np.float64)
    of_pairs = total[np.bincount(pair) > 0]
    return {
        "judgments": len(seconds),
        "median": _median(seconds),
        "pairs": len(of_pairs),
        "median_of_pairs": _median(of_pairs),
        "annotators": [
            _describe_annotator_time(name, seconds[annotator == code])
            for code, name in enumerate(names)
        ],
    }


def _describe_annotator_time(name: str, seconds: FloatArray) -> Json:
    return {
        "name": name,
        "judgments": len(seconds),
        "median": _median(seconds),
        "quartiles": _quartiles(seconds),
    }


def _describe_class_alpha(grades: GradeCounts, scale: tuple[int, ...], resamples: int) -> Json:
    coincidences = query_coincidences(grades)
    alpha = alpha_of(coincidences.sum(axis=0), "nominal", scale, pairs=len(grades.query))
    found = alpha_intervals(coincidences, scale, levels=("nominal",), resamples=resamples)
    interval, why = found["nominal"].interval, found["nominal"].reason
    return {
        "observed": raw_agreement_of(grades).value,
        "alpha": alpha.value,
        "alpha_interval95": None if interval is None else [interval.low, interval.high],
        **({} if why is None else {"alpha_interval95_reason": why}),
        **({} if alpha.reason is None else {"alpha_reason": alpha.reason}),
    }


def _reason(measure: Measure) -> Mapping[str, str]:
    return {} if measure.reason is None else {"reason": measure.reason}


def _moment(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _median(values: FloatArray) -> float | None:
    return float(np.median(values)) if len(values) else None


def _quartiles(values: FloatArray) -> list[float] | None:
    return [float(value) for value in np.percentile(values, (25, 75))] if len(values) else None

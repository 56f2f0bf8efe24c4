"""The agreement report: every number of a scope as JSON-ready values.

Whatever leaves this module is made of dict, list, str, int, float, bool and None; floats are
unrounded and finite. `docs/statistics.md` documents every key.
"""

from collections.abc import Mapping, Sequence
from itertools import chain, combinations
from types import MappingProxyType
from typing import Any

import numpy as np

from results.statistics.agreement import (
    LEVELS,
    NOTHING_TWICE,
    WEIGHTS,
    Measure,
    Weights,
    alpha_band,
    alpha_of,
    cohen_kappa,
    disagreement_weights,
    expected_agreement,
    gwet_ac1_of,
    kappa_band,
    observed_agreement,
    raw_agreement_of,
)
from results.statistics.breakdowns import describe_class_alphas
from results.statistics.counts import (
    Comparisons,
    GradeCounts,
    compare_labels,
    count_grades,
    count_labels,
    query_agreements,
    query_coincidences,
    query_confusions,
)
from results.statistics.intervals import (
    RESAMPLES,
    Interval,
    IntervalOutcome,
    ac1_interval,
    alpha_intervals,
    kappa_intervals,
)
from results.statistics.splits import (
    ClassSplits,
    Direction,
    directions,
    split_kinds,
    split_rate,
    splits_by_class,
    splits_by_dimension,
    splits_by_grades,
)
from results.statistics.table import FloatArray, IntArray, LabelTable

NOBODY: Mapping[int, int] = MappingProxyType({})

Json = dict[str, Any]

DISCUSSED_QUERIES = 5
"""Queries named for each two annotators, those on which they differ most."""


def describe_agreement(
    table: LabelTable,
    *,
    machine: frozenset[int] = frozenset(),
    unsure: Mapping[int, int],
    active_seconds: Mapping[int, float],
    timed: Mapping[int, int],
    not_blind: Mapping[int, int] = NOBODY,
    resamples: int = RESAMPLES,
) -> Json:
    """The agreement of people, with machines compared beside them.

    `machine` holds the annotator codes that are machines: they stand in `annotators` and
    `machine_kappa` and enter no other number. `unsure` (judgments), `active_seconds`, `timed`
    (judgments whose active time is known) and `not_blind` (judgments given by who could read
    others' labels of the round) go by annotator code; who is not named has 0, and an
    unknown time. Raises `ValueError` for an unknown annotator code or a negative count.
    """
    counts = {"unsure": unsure, "active_seconds": active_seconds, "timed": timed}
    _check_annotators(table, machine, **counts, not_blind=not_blind)
    people = table.without(machine)
    grades = count_grades(people)
    rate = split_rate(people)
    kappas, machine_kappas = _describe_kappas(table, machine, resamples)
    label_counts = count_labels(table)
    people_labels = count_labels(people).sum(axis=0)
    people_unsure = sum(count for code, count in unsure.items() if code not in machine)
    return {
        "pairs_labelled_twice": rate.pairs,
        "judgments": len(people) + people_unsure,
        "unsure": people_unsure,
        "not_blind": sum(count for code, count in not_blind.items() if code not in machine),
        "labels": _by_grade(people_labels, table.scale),
        "raw_agreement": _describe_raw_agreement(grades),
        "splits": rate.splits,
        "splits_interval95": _bounds(rate.interval),
        **({} if rate.interval else {"splits_interval95_reason": NOTHING_TWICE}),
        "cohen_kappa": kappas,
        "krippendorff_alpha": _describe_alphas(grades, table.scale, resamples),
        "gwet_ac1": _describe_ac1(grades, resamples),
        "classes": describe_classes(people, resamples=resamples),
        "annotators": [
            {
                "name": name,
                "machine": code in machine,
                "judgments": int(label_counts[code].sum()) + unsure.get(code, 0),
                "unsure": unsure.get(code, 0),
                "labels": _by_grade(label_counts[code], table.scale),
                "active_seconds": active_seconds.get(code),
                "timed": timed.get(code, 0),
                "not_blind": not_blind.get(code, 0),
            }
            for code, name in enumerate(table.annotators)
        ],
        "machine_kappa": machine_kappas,
    }


def describe_classes(people: LabelTable, *, resamples: int = RESAMPLES) -> list[Json]:
    """Every class against the rest, with its agreement; the unclassified last, if any split."""
    alphas = describe_class_alphas(people, resamples=resamples)
    rows = splits_by_class(people)
    return [{**_describe_class(row), **alphas[row.code]} for row in rows]


def describe_splits(
    table: LabelTable,
    *,
    machine: frozenset[int] = frozenset(),
    dimensions: Sequence[str] = (),
) -> Json:
    """Where people's labels split: kinds, grades, dimensions, directions.

    `dimensions` names the dimension codes; all named ones are listed, zeros included. Raises
    `ValueError` where a label cites a code without a name.
    """
    people = table.without(machine)
    return {
        "split_kinds": dict(split_kinds(people)),
        "split_grades": [
            {"low": low, "high": high, "splits": count}
            for (low, high), count in splits_by_grades(people).items()
        ],
        "dimensions": _describe_dimensions(people, dimensions),
        "directions": [_describe_direction(row, people) for row in directions(people)],
    }


def _check_annotators(
    table: LabelTable,
    machine: frozenset[int],
    **counts: Mapping[int, float],
) -> None:
    known = range(len(table.annotators))
    for code in (*machine, *chain.from_iterable(counts.values())):
        if code not in known:
            raise ValueError(f"no annotator has the code {code}; there are {len(known)}")
    for what, numbers in counts.items():
        if any(not number >= 0 for number in numbers.values()):
            raise ValueError(f"{what} cannot be negative: {dict(numbers)}")


def _by_grade(counts: IntArray, scale: tuple[int, ...]) -> dict[str, int]:
    return {str(grade): int(count) for grade, count in zip(scale, counts, strict=True)}


def _value(measure: Measure, unit: str) -> Json:
    return {"value": measure.value, unit: measure.n, **_reason(measure)}


def _reason(measure: Measure) -> Json:
    return {} if measure.reason is None else {"reason": measure.reason}


def _describe_raw_agreement(grades: GradeCounts) -> Json:
    return _value(raw_agreement_of(grades), "comparisons")


def _describe_kappas(
    table: LabelTable, machine: frozenset[int], resamples: int
) -> tuple[list[Json], list[Json]]:
    """The kappas of two people, and those with a machine among the two."""
    k = table.n_grades
    compared = dict(compare_labels(table).by_annotators())
    tables = {both: query_confusions(rows, k) for both, rows in compared.items()}
    intervals = kappa_intervals(tables, resamples=resamples)
    nothing = np.zeros((0, k, k))
    no_interval = kappa_intervals({None: nothing})[None]
    of_people: list[Json] = []
    with_machine: list[Json] = []
    for both in combinations(range(len(table.annotators)), 2):
        confusion = tables.get(both, nothing).sum(axis=0)
        entry = {
            "a": table.annotators[both[0]],
            "b": table.annotators[both[1]],
            **_describe_kappa(confusion, intervals.get(both, no_interval)),
            "classes": _describe_kappa_classes(table, compared.get(both), tables.get(both)),
            "discuss": _list_queries_apart(compared.get(both), tables.get(both)),
        }
        (with_machine if machine & set(both) else of_people).append(entry)
    return of_people, with_machine


def _describe_ac1(grades: GradeCounts, resamples: int) -> Json:
    outcome = ac1_interval(query_agreements(grades), resamples=resamples)
    return {**_value(gwet_ac1_of(grades), "pairs"), **_describe_interval(outcome)}


def _describe_kappa(confusion: FloatArray, intervals: dict[Weights, IntervalOutcome]) -> Json:
    kappas = {weights: cohen_kappa(confusion, weights) for weights in WEIGHTS}
    nominal = kappas["nominal"]
    return {
        "pairs": nominal.n,
        "observed": observed_agreement(confusion).value,
        "expected": expected_agreement(confusion).value,
        **{weights: kappa.value for weights, kappa in kappas.items()},
        **_describe_interval(intervals["nominal"]),
        "linear_interval95": _bounds(intervals["linear"].interval),
        "quadratic_interval95": _bounds(intervals["quadratic"].interval),
        "band": None if nominal.value is None else kappa_band(nominal.value),
        "confusion": confusion.astype(int).tolist(),
        **_reason(nominal),
    }


def _describe_kappa_classes(
    table: LabelTable, rows: Comparisons | None, tables: FloatArray | None
) -> list[Json]:
    """Agreement and nominal kappa of two annotators in each class they share a pair of."""
    if rows is None or tables is None:
        return []
    class_of_table = table.query_class[np.unique(rows.query)]
    described: list[Json] = []
    for code in np.unique(class_of_table):
        confusion = tables[class_of_table == code].sum(axis=0)
        kappa = cohen_kappa(confusion)
        described.append(
            {
                "class": table.class_name(int(code)),
                "pairs": kappa.n,
                "observed": observed_agreement(confusion).value,
                "nominal": kappa.value,
                **_reason(kappa),
            }
        )
    return described


def _list_queries_apart(rows: Comparisons | None, tables: FloatArray | None) -> list[Json]:
    """The queries (codes) on which two annotators differ most: by the sum of the squared steps
    between their grades, greatest first."""
    if rows is None or tables is None:
        return []
    queries = np.unique(rows.query)
    apart = (tables * disagreement_weights(tables.shape[-1], "quadratic")).sum(axis=(1, 2))
    pairs = tables.sum(axis=(1, 2))
    splits = pairs - np.trace(tables, axis1=1, axis2=2)
    order = np.lexsort((queries, -splits, -apart))[:DISCUSSED_QUERIES]
    return [
        {"query": int(queries[place]), "pairs": int(pairs[place]), "splits": int(splits[place])}
        for place in order
        if splits[place]
    ]


def _describe_alphas(grades: GradeCounts, scale: tuple[int, ...], resamples: int) -> Json:
    coincidences = query_coincidences(grades)
    pairs = len(grades.labelled_twice().query)
    intervals = alpha_intervals(coincidences, scale, resamples=resamples)
    total = coincidences.sum(axis=0)
    return {
        level: _describe_alpha(alpha_of(total, level, scale, pairs=pairs), intervals[level])
        for level in LEVELS
    }


def _describe_alpha(alpha: Measure, interval: IntervalOutcome) -> Json:
    return {
        "value": alpha.value,
        **_describe_interval(interval),
        "pairs": alpha.n,
        "band": None if alpha.value is None else alpha_band(alpha.value),
        **_reason(alpha),
    }


def _describe_interval(outcome: IntervalOutcome) -> Json:
    described: Json = {"interval95": _bounds(outcome.interval)}
    if outcome.undefined is not None:
        described["interval95_undefined"] = outcome.undefined
    if outcome.reason is not None:
        described["interval95_reason"] = outcome.reason
    return described


def _bounds(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]


def _describe_class(row: ClassSplits) -> Json:
    fisher = row.fisher_p
    described: Json = {
        "class": row.name,
        "pairs": row.inside.pairs,
        "splits": row.inside.splits,
        "rate": row.inside.value,
        "interval95": _bounds(row.inside.interval),
        "rest_pairs": row.rest.pairs,
        "rest_splits": row.rest.splits,
        "rest_rate": row.rest.value,
        "rest_interval95": _bounds(row.rest.interval),
        "fisher_p": fisher.value,
    }
    return {**described, **_reason(fisher)}


def _describe_dimensions(people: LabelTable, names: Sequence[str]) -> list[Json]:
    counted = {row.dimension: row for row in splits_by_dimension(people)}
    if counted and max(counted) >= len(names):
        raise ValueError(f"a label cites dimension {max(counted)}, but only {len(names)} are named")
    return [
        {
            "dimension": name,
            "citations": counted[code].citations if code in counted else 0,
            "splits": counted[code].splits if code in counted else 0,
        }
        for code, name in enumerate(names)
    ]


def _describe_direction(row: Direction, table: LabelTable) -> Json:
    return {
        "a": table.annotators[row.a],
        "b": table.annotators[row.b],
        "class": table.class_name(row.class_code),
        "pairs": row.pairs,
        "a_higher": row.a_higher,
        "b_higher": row.b_higher,
    }

"""Do a class's splits cite dimensions and readings apart, more than elsewhere and than chance?

A reading is a deciding dimension with its clause, if any. What is not cited is unknown, and
unknown is no evidence: only comparisons in which both annotators cite a dimension are asked.
"""

from dataclasses import dataclass, replace

import numpy as np

from results.statistics.counts import Comparisons, compare_labels
from results.statistics.diagnosis.shares import Answers, ShareTest
from results.statistics.splits import split_kinds
from results.statistics.table import NONE, FloatArray, IntArray, LabelTable


@dataclass(frozen=True, eq=False)
class Readings:
    """What the labels cite; R is the number of readings, and reading 0 is unknown.

    `dimensions` (length R) holds the dimension of each reading. `differing` are the comparisons
    that differ in grade and in which both cite, with readings in place of grades. `usage`
    (annotators x R) counts the labels, `split_usage` (groups x annotators x R) those in splits.
    """

    dimensions: IntArray
    differing: Comparisons
    usage: IntArray
    split_usage: IntArray


@dataclass(frozen=True)
class Citation:
    """Splits of a class by what they cite, and how often two labels that differ in grade cite
    different readings.

    The four kinds add up to the class's splits. `apart` of `known` comparisons cite different
    readings, on `queries` queries; `chance` is the share that citing at random would give,
    `p_value` is `None` where nothing is known.
    """

    different_dimension: int
    different_reading: int
    same_reading: int
    unknown: int
    known: int
    apart: int
    chance: float | None
    rest_known: int
    rest_apart: int
    queries: int
    rest_queries: int
    compared_with_rest: bool
    excess: float
    p_value: float | None


def read_citations(table: LabelTable, splits: LabelTable, group: IntArray, groups: int) -> Readings:
    """Number the readings of a table and pick the comparisons that can be asked about them.

    `splits` is the table of the pairs that split, `group` the group of each query code.
    """
    width = int(table.clause.max(initial=NONE)) + 2
    distinct = np.union1d([NONE], _code_readings(table, width))
    size = (len(table.annotators), len(distinct))
    used, used_in_splits = (
        np.searchsorted(distinct, _code_readings(labels, width)) for labels in (table, splits)
    )
    differ = compare_labels(splits)
    citing = compare_labels(
        replace(splits, grade=used_in_splits, scale=tuple(range(len(distinct))))
    )
    known = (citing.first_grade > 0) & (citing.second_grade > 0)
    chosen = np.flatnonzero((differ.first_grade != differ.second_grade) & known)
    cell = table.annotator.astype(np.int64) * size[1] + used
    owner = group[splits.query].astype(np.int64) * size[0] + splits.annotator
    split_cell = owner * size[1] + used_in_splits
    return Readings(
        dimensions=distinct // width,
        differing=citing.take(chosen),
        usage=np.bincount(cell, minlength=size[0] * size[1]).reshape(size),
        split_usage=np.bincount(split_cell, minlength=groups * size[0] * size[1]).reshape(
            groups, *size
        ),
    )


def ask_citations(readings: Readings, group: IntArray, groups: int) -> Answers:
    """The question "different readings?" for each query with a comparison to ask (K = 1).

    The chance of a yes is that of two annotators who cite at random, each as often as outside of
    the splits of the query's group. `group` holds the group of every query code.
    """
    rows = readings.differing
    of_row = group[rows.query]
    expected = np.zeros(len(rows))
    for code in np.unique(of_row):
        share = _find_shares(readings.usage, readings.split_usage[code])
        chosen = np.flatnonzero(of_row == code)
        both = share[rows.first[chosen]], share[rows.second[chosen]]
        expected[chosen] = 1.0 - np.einsum("ij,ij->i", *both)
    return Answers.collect(
        query=rows.query,
        question=np.zeros(len(rows), dtype=np.int64),
        yes=(rows.first_grade != rows.second_grade).astype(np.float64),
        expected=expected,
        questions=1,
        group=group,
        groups=groups,
    )


def describe_citation(splits: LabelTable, test: ShareTest | None) -> Citation:
    """The kinds of a class's splits, and the test where anything is known."""
    kinds = split_kinds(splits)
    known = 0 if test is None else int(test.asked[0])
    return Citation(
        different_dimension=kinds["different_dimensions"],
        different_reading=kinds["different_clauses"],
        same_reading=kinds["same_reading"],
        unknown=kinds["unknown_citation"],
        known=known,
        apart=0 if test is None else int(test.yes[0]),
        chance=None if test is None or not known else float(test.expected[0] / known),
        rest_known=0 if test is None else int(test.reference_asked[0]),
        rest_apart=0 if test is None else int(test.reference_yes[0]),
        queries=0 if test is None else int(test.queries[0]),
        rest_queries=0 if test is None else int(test.reference_queries[0]),
        compared_with_rest=test is not None and bool(test.compared[0]),
        excess=0.0 if test is None or not known else float(test.excess[0]),
        p_value=None if test is None or not known else float(test.p_value[0]),
    )


def count_decided_by(table: LabelTable, names: tuple[str, ...]) -> dict[str, int]:
    """Labels decided by each dimension, in the order of the names, zeros included."""
    cited = np.bincount(table.dimension[table.dimension != NONE], minlength=len(names))
    return {name: int(count) for name, count in zip(names, cited, strict=True)}


def count_decided_on_splits(
    readings: Readings, names: tuple[str, ...]
) -> list[tuple[str, str, int]]:
    """How often two labels that differ cite these two dimensions, most frequent first."""
    rows = readings.differing
    first, second = readings.dimensions[rows.first_grade], readings.dimensions[rows.second_grade]
    both = np.column_stack([np.minimum(first, second), np.maximum(first, second)])
    found, counts = np.unique(both, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return [(names[found[i, 0]], names[found[i, 1]], int(counts[i])) for i in order]


def _code_readings(table: LabelTable, width: int) -> IntArray:
    """One code for each dimension with clause, -1 for unknown."""
    reading = table.dimension.astype(np.int64) * width + table.clause + 1
    return np.where(table.dimension == NONE, NONE, reading)


def _find_shares(usage: IntArray, split_usage: IntArray) -> FloatArray:
    """Share of each known reading among an annotator's citations outside of these splits.

    Who cites nowhere else is taken to cite as the team does there, or, where nobody does, as they
    cite in the splits.
    """
    known, outside = usage[:, 1:], (usage - split_usage)[:, 1:]
    team = outside.sum(axis=0)
    lonely = outside.sum(axis=1) == 0
    outside[lonely] = team if team.any() else known[lonely]
    # The unknown reading keeps its column, with no share.
    padded = np.pad(outside, ((0, 0), (1, 0)))
    result: FloatArray = padded / np.maximum(padded.sum(axis=1, keepdims=True), 1)
    return result

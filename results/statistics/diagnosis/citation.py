"""Do a class's splits cite dimensions and readings apart, more than elsewhere and than chance?

A reading is a deciding dimension with its clause, if any. What is not cited is unknown, and
unknown is no evidence: only comparisons in which both annotators cite a dimension are asked.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from results.statistics.counts import Comparisons, compare_labels
from results.statistics.diagnosis.shares import Answers, ShareTest
from results.statistics.splits import split_kinds
from results.statistics.table import NONE, BoolArray, FloatArray, IntArray, LabelTable


@dataclass(frozen=True, eq=False)
class Readings:
    """What the labels cite.

    `code` (length n of the table) numbers the readings from 1, 0 is unknown. `differing` are the
    comparisons that differ in grade and in which both cite, with readings in place of grades.
    `usage` (annotators x readings) counts the citations of each annotator.
    """

    table: LabelTable
    code: IntArray
    dimensions: IntArray
    differing: Comparisons
    usage: FloatArray


@dataclass(frozen=True)
class Citation:
    """Splits of a class by what they cite, and how often two labels that differ in grade cite
    different readings.

    The four kinds add up to the class's splits. `apart` of `known` comparisons cite different
    readings, `chance` is the share that citing at random would give, `p_value` is `None` where
    nothing is known.
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
    compared_with_rest: bool
    excess: float
    p_value: float | None


def read_citations(table: LabelTable, comparisons: Comparisons) -> Readings:
    """Number the readings and pick the comparisons that can be asked about them."""
    width = int(table.clause.max(initial=NONE)) + 2
    reading = table.dimension.astype(np.int64) * width + table.clause + 1
    known = table.dimension != NONE
    distinct, code = np.unique(np.where(known, reading, NONE), return_inverse=True)
    if known.all():
        distinct, code = np.concatenate([[NONE], distinct]), code + 1
    citing = compare_labels(replace(table, grade=code, scale=tuple(range(len(distinct)))))
    differ = comparisons.first_grade != comparisons.second_grade
    both = (citing.first_grade > 0) & (citing.second_grade > 0)
    cell = table.annotator.astype(np.int64) * len(distinct) + code
    usage = np.bincount(cell, minlength=len(table.annotators) * len(distinct))
    return Readings(
        table=table,
        code=code,
        dimensions=distinct // width,
        differing=citing.take(np.flatnonzero(differ & both).astype(np.int64)),
        usage=usage.reshape(len(table.annotators), len(distinct))[:, 1:].astype(np.float64),
    )


def ask_citations(readings: Readings, split_usage: FloatArray) -> tuple[IntArray, Answers]:
    """The question "different readings?" for each query: query codes and answers (U x 1).

    The chance of a yes is that of two annotators who cite at random, each as often as outside of
    the splits in question, whose citations `split_usage` counts (annotators x readings).
    """
    rows = readings.differing
    query, row = np.unique(rows.query, return_inverse=True)
    share = _find_shares(readings.usage, split_usage)
    expected = 1.0 - np.einsum("ij,ij->i", share[rows.first], share[rows.second])
    apart = (rows.first_grade != rows.second_grade).astype(np.float64)
    column = np.zeros_like(row)
    shape = (len(query), 1)
    return query, Answers(
        yes=csr_array((apart, (row, column)), shape=shape),
        asked=csr_array((np.ones(len(row)), (row, column)), shape=shape),
        expected=csr_array((expected, (row, column)), shape=shape),
    )


def count_split_usage(readings: Readings, inside: BoolArray) -> FloatArray:
    """Citations in the splits of the query codes where `inside` is true."""
    table = readings.table
    lowest = np.minimum.reduceat(table.grade, table.pair_starts)
    highest = np.maximum.reduceat(table.grade, table.pair_starts)
    rows = np.repeat(lowest != highest, table.pair_sizes) & inside[table.query]
    width = readings.usage.shape[1] + 1
    cell = table.annotator[rows].astype(np.int64) * width + readings.code[rows]
    usage = np.bincount(cell, minlength=len(table.annotators) * width)
    return usage.reshape(len(table.annotators), width)[:, 1:].astype(np.float64)


def describe_citation(of_class: LabelTable, test: ShareTest | None) -> Citation:
    """The kinds of splits of a class's table, and the test where anything is known."""
    kinds = split_kinds(of_class)
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


def _find_shares(usage: FloatArray, split_usage: FloatArray) -> FloatArray:
    """Share of each reading among an annotator's citations outside of the splits in question.

    Who cites nowhere else is taken to cite as the team does there, or, where nobody does, as they
    cite in the splits.
    """
    outside = usage - split_usage
    team = outside.sum(axis=0)
    lonely = outside.sum(axis=1) == 0
    outside[lonely] = team if team.any() else usage[lonely]
    total = outside.sum(axis=1, keepdims=True)
    result: FloatArray = outside / np.maximum(total, 1)
    return result

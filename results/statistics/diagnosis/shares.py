"""Is a share in a class what it is elsewhere? One engine for direction and for citation.

Every column is a question that some comparisons answer with yes or no, such as "is a higher than
b?" or "do the two cite different readings?". Its share of yes in a class is set against a fixed
expectation, against the share in a reference, or both. The null distribution flips the sign of
each query's whole deviation, so that answers of one query may hang together as they please
(sign flipping of score contributions, Hemerik, Goeman and Finos 2020).

A flipped statistic is linear in a few sums over each class, so all classes share one product of
signs and counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from results.statistics.diagnosis.resampling import TOLERANCE, Draws, enumerate_signs, flip_signs
from results.statistics.diagnosis.thresholds import MINIMUM_REFERENCE
from results.statistics.table import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of U queries to K questions, one row for each query and question that met (length N).

    `query` runs from 0 to U - 1, `question` from 0 to K - 1. `yes` and `asked` count answers,
    `expected` is the sum of the chances of a yes. `group` (length U) tells the class of each query,
    from 0 to `groups` - 1.
    """

    query: IntArray
    question: IntArray
    yes: FloatArray
    asked: FloatArray
    expected: FloatArray
    questions: int
    group: IntArray
    groups: int

    @classmethod
    def collect(
        cls,
        *,
        query: IntArray,
        question: IntArray,
        yes: FloatArray,
        expected: FloatArray,
        questions: int,
        group: IntArray,
        groups: int,
    ) -> "Answers":
        """Add up single answers. `query` holds any codes, and `group` the group of each code."""
        cell = query.astype(np.int64) * max(questions, 1) + question
        cells, place, asked = np.unique(cell, return_inverse=True, return_counts=True)
        queries, row = np.unique(cells // max(questions, 1), return_inverse=True)
        return cls(
            query=row,
            question=cells % max(questions, 1),
            yes=_add_up(place, yes, len(cells)),
            asked=asked.astype(np.float64),
            expected=_add_up(place, expected, len(cells)),
            questions=questions,
            group=group[queries],
            groups=groups,
        )

    def sum_groups(self, values: FloatArray) -> FloatArray:
        """Sums of a column of length N over the queries of each group: groups x K."""
        width = self.groups * self.questions
        return _add_up(self._cell, values, width).reshape(self.groups, self.questions)

    def sum_flipped(self, signs: FloatArray, queries: IntArray | None = None) -> FloatArray:
        """`yes`, `asked` and `expected` summed under signs: 3 x groups x K x draws.

        `signs` (U x draws) stand for all queries, or for those in `queries` alone.
        """
        matrix = self._matrix if queries is None else self._matrix[:, queries]
        sums: FloatArray = matrix @ signs
        return sums.reshape(3, self.groups, self.questions, signs.shape[1])

    @property
    def _cell(self) -> IntArray:
        return self.group[self.query].astype(np.int64) * self.questions + self.question

    @cached_property
    def _matrix(self) -> csr_array:
        """The three columns side by side, as sums over groups: (3 x groups x K) x U."""
        width = self.groups * self.questions
        place = np.concatenate([self._cell + kind * width for kind in range(3)])
        values = np.concatenate([self.yes, self.asked, self.expected])
        cells = (values, (place, np.tile(self.query, 3)))
        return csr_array(cells, shape=(3 * width, len(self.group)))


@dataclass(frozen=True)
class Side:
    """What to compare: the group `inside`, and the groups of the `reference`, if any."""

    inside: int
    reference: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class ShareTest:
    """The outcome for each of K questions (arrays of length K).

    Counts in the class and in the reference, the `expected` yes in the class, whether the class
    was `compared` with the reference (which then has at least ten answers), and the p value: the
    greater of the p against the expectation and, where compared, the p against the reference, each
    adjusted over all questions (single-step maxT, Westfall and Young 1993). It means nothing where
    the class has no answer.
    """

    yes: FloatArray
    asked: FloatArray
    expected: FloatArray
    reference_yes: FloatArray
    reference_asked: FloatArray
    compared: BoolArray
    p_value: FloatArray

    @property
    def side(self) -> FloatArray:
        """1 where the class has more yes than expected, -1 where it has fewer, else 0."""
        return np.sign(self.yes - self.expected)

    @property
    def excess(self) -> FloatArray:
        """How far the share of yes lies above what is expected and, where compared, above the
        reference's share: the smaller of the two, on the side on which the class lies."""
        asked = np.maximum(self.asked, 1)
        share = self.yes / asked
        above = self.side * (share - self.expected / asked)
        reference = self.reference_yes / np.maximum(self.reference_asked, 1)
        below = np.where(self.compared, self.side * (share - reference), np.inf)
        return np.minimum(above, below)


def compare_shares(
    answers: Answers, sides: Sequence[Side], *, two_sided: bool, draws: Draws
) -> list[ShareTest]:
    """Test each side against the expectation and, where it can be, against its reference."""
    sums = _Sums(answers)
    statistics = [_Statistic(sums, side, two_sided=two_sided) for side in sides]
    greatest: list[list[FloatArray]] = [[] for _ in sides]
    shared = []
    for place, statistic in enumerate(statistics):
        rows = statistic.find_rows()
        if draws.can_enumerate(len(rows)):
            flipped = answers.sum_flipped(enumerate_signs(len(rows)), rows)
            greatest[place].append(statistic.find_greatest(*flipped))
        else:
            shared.append(place)
    for signs in flip_signs(len(answers.group), draws) if shared else ():
        flipped = answers.sum_flipped(signs)
        for place in shared:
            greatest[place].append(statistics[place].find_greatest(*flipped))
    return [
        statistic.describe(np.concatenate(drawn))
        for statistic, drawn in zip(statistics, greatest, strict=True)
    ]


class _Sums:
    """Sums over groups (groups x K) from which every statistic and its error is made."""

    def __init__(self, answers: Answers) -> None:
        yes, asked = answers.yes, answers.asked
        self.answers = answers
        self.yes = answers.sum_groups(yes)
        self.asked = answers.sum_groups(asked)
        self.expected = answers.sum_groups(answers.expected)
        self.yes_yes = answers.sum_groups(yes * yes)
        self.yes_asked = answers.sum_groups(yes * asked)
        self.asked_asked = answers.sum_groups(asked * asked)
        self.beyond = answers.sum_groups((yes - answers.expected) ** 2)


class _Statistic:
    """The two standardised statistics of one side, as functions of flipped sums.

    Against the expectation: the sum of (yes - expected) inside. Against the reference: each
    query's part in (share inside less share in the reference), were the two equal; with n inside
    and m in the reference, a query inside counts m / (n + m) times its yes beyond the pooled
    share, one of the reference -n / (n + m) times. Signs leave the standard errors as they are.
    """

    def __init__(self, sums: _Sums, side: Side, *, two_sided: bool) -> None:
        self._sums, self._two_sided = sums, two_sided
        self._inside, self._reference = side.inside, list(side.reference)
        self._asked = sums.asked[side.inside]
        self._reference_asked = sums.asked[self._reference].sum(axis=0)
        self._compared = (self._reference_asked >= MINIMUM_REFERENCE) & (self._asked > 0)
        yes = sums.yes[side.inside] + sums.yes[self._reference].sum(axis=0)
        both = np.maximum(self._asked + self._reference_asked, 1)
        self._pooled = yes / both
        self._inner, self._outer = self._reference_asked / both, self._asked / both
        self._scale = self._find_scale()

    def find_rows(self) -> IntArray:
        """The queries that can move the statistics."""
        groups = [self._inside, *(self._reference if self._compared.any() else ())]
        return np.flatnonzero(np.isin(self._sums.answers.group, groups))

    def find_greatest(self, yes: FloatArray, asked: FloatArray, expected: FloatArray) -> FloatArray:
        """The greatest of all statistics in each draw, from flipped sums (groups x K x draws)."""
        statistics = self._standardise(yes, asked, expected)
        sizes = np.abs(statistics) if self._two_sided else statistics
        greatest: FloatArray = sizes.max(axis=(0, 1), initial=0)
        return greatest

    def describe(self, greatest: FloatArray) -> ShareTest:
        """The outcome, given the greatest statistic of each draw."""
        sums, inside, reference = self._sums, self._inside, self._reference
        observed = self._standardise(
            sums.yes[..., None], sums.asked[..., None], sums.expected[..., None]
        )[..., 0]
        if self._two_sided:
            observed = observed * np.sign(sums.yes[inside] - sums.expected[inside])
        ordered = np.sort(greatest)
        reached = len(ordered) - np.searchsorted(ordered, observed - TOLERANCE)
        p_values = (1 + reached) / (1 + len(ordered))
        return ShareTest(
            yes=sums.yes[inside],
            asked=self._asked,
            expected=sums.expected[inside],
            reference_yes=sums.yes[reference].sum(axis=0),
            reference_asked=self._reference_asked,
            compared=self._compared,
            p_value=np.where(self._compared, p_values.max(axis=0), p_values[0]),
        )

    def _standardise(self, yes: FloatArray, asked: FloatArray, expected: FloatArray) -> FloatArray:
        """Both statistics of each question and draw: 2 x K x draws."""
        pooled = self._pooled[:, None]
        against_expected = yes[self._inside] - expected[self._inside]
        inside = yes[self._inside] - pooled * asked[self._inside]
        reference = yes[self._reference].sum(axis=0) - pooled * asked[self._reference].sum(axis=0)
        against_reference = self._inner[:, None] * inside - self._outer[:, None] * reference
        return np.stack([against_expected, against_reference]) * self._scale[..., None]

    def _find_scale(self) -> FloatArray:
        """One over the standard errors (2 x K), 0 where there is no error or nothing to test."""
        sums, pooled = self._sums, self._pooled
        squares = sums.yes_yes - 2 * pooled * sums.yes_asked + pooled**2 * sums.asked_asked
        variance = np.stack(
            [
                sums.beyond[self._inside],
                self._inner**2 * squares[self._inside]
                + self._outer**2 * squares[self._reference].sum(axis=0),
            ]
        )
        used = np.stack([self._asked > 0, self._compared]) & (variance > TOLERANCE)
        return np.where(used, 1 / np.sqrt(np.where(used, variance, 1.0)), 0.0)


def _add_up(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    sums: npt.NDArray[Any] = np.bincount(place, weights=values, minlength=size)
    return sums

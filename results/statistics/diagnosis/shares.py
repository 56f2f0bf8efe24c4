"""Is a share in a class what it is elsewhere? One engine for direction and for citation.

Every column is a question that some comparisons answer with yes or no, such as "is a higher than
b?" or "do the two cite different readings?". Its share of yes in a class is set against a fixed
expectation, against the share in a reference, or both. The null distribution flips the sign of
each query's whole deviation, so that answers of one query may hang together as they please
(sign flipping of score contributions, Hemerik, Goeman and Finos 2020).
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array, hstack

from results.statistics.diagnosis.resampling import TOLERANCE, Draws, flip_signs
from results.statistics.diagnosis.thresholds import MINIMUM_REFERENCE
from results.statistics.table import BoolArray, FloatArray


@dataclass(frozen=True, eq=False)
class Answers:
    """Answers of each query to each of K questions: three sparse matrices, queries x K.

    `yes` and `asked` count answers, `expected` is the sum of the chances of a yes.
    """

    yes: csr_array
    asked: csr_array
    expected: csr_array


@dataclass(frozen=True, eq=False)
class ShareTest:
    """The outcome for each of K questions (arrays of length K).

    Counts in the class and in the reference, the `expected` yes in the class, whether the class
    was `compared` with the reference (which then has at least ten answers), and the p value:
    the greater of the p against the expectation and, where compared, the p against the
    reference, each adjusted over all questions (single-step maxT, Westfall and Young 1993). It
    is NaN where the class has no answer.
    """

    yes: FloatArray
    asked: FloatArray
    expected: FloatArray
    reference_yes: FloatArray
    reference_asked: FloatArray
    compared: BoolArray
    p_value: FloatArray

    @property
    def excess(self) -> FloatArray:
        """How far the share of yes lies above what is expected and, where compared, above the
        reference's share: the smaller of the two, on the side on which the class lies."""
        asked = np.maximum(self.asked, 1)
        share = self.yes / asked
        side = self.side
        above = side * (share - self.expected / asked)
        reference = self.reference_yes / np.maximum(self.reference_asked, 1)
        result: FloatArray = np.where(
            self.compared, np.minimum(above, side * (share - reference)), above
        )
        return result

    @property
    def side(self) -> FloatArray:
        """1 where the class has more yes than expected, -1 where it has fewer, else 0."""
        result: FloatArray = np.sign(self.yes - self.expected)
        return result


def compare_shares(
    answers: Answers,
    inside: BoolArray,
    reference: BoolArray,
    *,
    two_sided: bool,
    draws: Draws,
) -> ShareTest:
    """Test the queries `inside` against the expectation and against the queries `reference`."""
    yes, asked = _sum(answers.yes, inside), _sum(answers.asked, inside)
    expected = _sum(answers.expected, inside)
    reference_yes, reference_asked = _sum(answers.yes, reference), _sum(answers.asked, reference)
    compared = (reference_asked >= MINIMUM_REFERENCE) & (asked > 0)
    side = np.sign(yes - expected) if two_sided else np.ones(len(yes))
    weight = np.where(compared, 1.0, 0.0)
    units = hstack(
        [
            _deviations(answers, inside),
            _contrasts(answers, inside, reference, yes + reference_yes, asked, reference_asked)
            @ diags_array(weight),
        ]
    ).tocsr()
    p_values = _adjust(units, np.tile(side, 2), two_sided, draws).reshape(2, -1)
    p_value = np.where(compared, p_values.max(axis=0), p_values[0])
    return ShareTest(
        yes=yes,
        asked=asked,
        expected=expected,
        reference_yes=reference_yes,
        reference_asked=reference_asked,
        compared=compared,
        p_value=np.where(asked > 0, p_value, np.nan),
    )


def _sum(matrix: csr_array, rows: BoolArray) -> FloatArray:
    result: FloatArray = rows.astype(np.float64) @ matrix
    return result


def _deviations(answers: Answers, inside: BoolArray) -> csr_array:
    """Each query's yes beyond the expectation, in the class only."""
    return diags_array(inside.astype(np.float64)) @ (answers.yes - answers.expected)


def _contrasts(
    answers: Answers,
    inside: BoolArray,
    reference: BoolArray,
    yes: FloatArray,
    asked: FloatArray,
    reference_asked: FloatArray,
) -> csr_array:
    """Each query's part in (share inside less share in the reference), were the two equal.

    The parts add up to the excess of yes inside over the pooled share.
    """
    both = np.maximum(asked + reference_asked, 1)
    deviation = answers.yes - answers.asked @ diags_array(yes / both)
    inner = diags_array(inside.astype(np.float64)) @ deviation @ diags_array(reference_asked / both)
    outer = diags_array(reference.astype(np.float64)) @ deviation @ diags_array(asked / both)
    return inner - outer


def _adjust(units: csr_array, side: FloatArray, two_sided: bool, draws: Draws) -> FloatArray:
    """p of every column, adjusted over all: how often the greatest of them all is as great."""
    spread = np.sqrt(np.asarray((units * units).sum(axis=0)).ravel())
    scaled = units @ diags_array(np.where(spread > TOLERANCE, 1 / np.maximum(spread, TOLERANCE), 0))
    scaled.data[np.abs(scaled.data) < TOLERANCE] = 0.0
    scaled.eliminate_zeros()
    observed = side * np.asarray(scaled.sum(axis=0)).ravel()
    greatest = [np.zeros(0)]
    for sums in flip_signs(scaled, draws):
        greatest.append((np.abs(sums) if two_sided else sums).max(axis=1))
    ordered = np.sort(np.concatenate(greatest))
    reached = len(ordered) - np.searchsorted(ordered, observed - TOLERANCE)
    result: FloatArray = (1 + reached) / (1 + len(ordered))
    return result

"""Is a share in a class what it is elsewhere? One engine for direction and for citation.

Every column is a question that some splits answer with yes or no, such as "is a higher than b?" or
"do the two cite different readings?". Its share of yes in a class is set against a fixed
expectation, against the share in a reference, or both.

- Against the expectation the sign of each query's whole deviation is flipped (sign flipping of
  score contributions, Hemerik, Goeman and Finos 2020).
- Against the reference the queries of both are dealt out anew, as for the concentration.

So answers of one query may hang together as they please.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from results.statistics.diagnosis.resampling import (
    TOLERANCE,
    Draws,
    deal_queries,
    enumerate_signs,
    flip_signs,
    standardise_difference,
)
from results.statistics.diagnosis.thresholds import (
    LEVEL,
    MINIMUM_REFERENCE,
    PERMUTATIONS_SHOWN,
)
from results.statistics.exact import fisher_exact_p
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

    def spread_out(self, values: FloatArray, *, by_group: bool = True) -> csr_array:
        """A column of length N as a sparse matrix that adds up what U queries are multiplied by.

        It is (groups K) x U, or K x U for sums over all groups.
        """
        place = self._cell if by_group else self.question
        height = self.questions * (self.groups if by_group else 1)
        return csr_array((values, (place, self.query)), shape=(height, len(self.group)))

    @property
    def _cell(self) -> IntArray:
        return self.group[self.query].astype(np.int64) * self.questions + self.question


@dataclass(frozen=True)
class Side:
    """What to compare: the group `inside`, and the groups of the `reference`, if any.

    Where nothing `hangs_on` the p against the reference, few draws are enough for it.
    """

    inside: int
    reference: tuple[int, ...]
    hangs_on: bool = True


@dataclass(frozen=True, eq=False)
class ShareTest:
    """The outcome for each of K questions (arrays of length K).

    Counts in the class and in the reference, of answers and of the queries that have any (the
    units of the test), the `expected` yes in the class, whether the class was `compared` with
    the reference (which then has at least ten answers), and the p value: the greater of the p
    against the expectation and, where compared, the p against the reference, each adjusted over
    all questions (single-step maxT, Westfall and Young 1993). It means nothing where the class
    has no answer. `joint_p` is one p for the `joint` sets of questions, for each set the
    greater of two likewise, `None` where the class answers none of them; `joint_queries` are the
    queries behind it, of the class and of the reference, 0 where that has too few answers.
    """

    yes: FloatArray
    asked: FloatArray
    expected: FloatArray
    queries: FloatArray
    reference_yes: FloatArray
    reference_asked: FloatArray
    reference_queries: FloatArray
    compared: BoolArray
    p_value: FloatArray
    joint_p: float | None
    joint_queries: tuple[int, int]

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


def choose_reference(
    code: int, yes: FloatArray, asked: FloatArray, concentrated: Sequence[bool]
) -> tuple[int, ...]:
    """The groups to compare a class with, given the answers of each group (groups x K).

    Other concentrated classes may be holes themselves, and two holes would excuse each other. They
    are left out where every question keeps its ten answers without them, and also where the few
    that remain differ from the concentrated classes (Fisher's exact p at most 0.05): a habit would
    show there too. `concentrated` holds the classes; later groups are never suspects.
    """
    rest = [group for group in range(len(asked)) if group != code]
    suspects = [group for group in rest if group < len(concentrated) and concentrated[group]]
    sound = [group for group in rest if group not in suspects]
    enough, still_enough = (
        asked[groups].sum(axis=0) >= MINIMUM_REFERENCE for groups in (rest, sound)
    )
    lost = np.flatnonzero(enough & ~still_enough)
    tables = (
        [
            [yes[groups, question].sum(), (asked - yes)[groups, question].sum()]
            for groups in ([code, *suspects], sound)
        ]
        for question in lost
    )
    is_habit = any(fisher_exact_p(table) > LEVEL for table in tables)
    return tuple(rest if is_habit else sound)


def compare_shares(
    answers: Answers,
    sides: Sequence[Side],
    *,
    two_sided: bool,
    draws: Draws,
    joint: Sequence[Sequence[int]] = (),
) -> list[ShareTest]:
    """Test each side against the expectation and, where it can be, against its reference.

    `joint` are sets of questions to test together as well.
    """
    flipped = _flip_deviations(answers, [side.inside for side in sides], draws)
    return [
        _test_side(answers, side, drawn, two_sided=two_sided, draws=draws, joint=joint)
        for side, drawn in zip(sides, flipped, strict=True)
    ]


def _test_side(
    answers: Answers,
    side: Side,
    flipped: FloatArray,
    *,
    two_sided: bool,
    draws: Draws,
    joint: Sequence[Sequence[int]],
) -> ShareTest:
    """The outcome for one side, given its flipped statistics (draws x K)."""
    once = np.ones(len(answers.query))
    yes, asked, expected, queries = (
        answers.sum_groups(values)
        for values in (answers.yes, answers.asked, answers.expected, once)
    )
    inside, reference = side.inside, list(side.reference)
    compared = (asked[reference].sum(axis=0) >= MINIMUM_REFERENCE) & (asked[inside] > 0)
    lean = np.sign(yes[inside] - expected[inside])
    upwards = lean if two_sided else np.ones(len(lean))
    observed = upwards * (yes[inside] - expected[inside]) * _scale_deviations(answers)[inside]
    flips = upwards * flipped
    p_value = adjust_by_greatest(observed, flips, two_sided)
    together = _choose_together(joint, asked[inside] > 0)
    joint_ps = [_adjust_together(observed, flips, questions) for questions in together]
    if compared.any():
        draws = draws if side.hangs_on else draws.at_most(PERMUTATIONS_SHOWN)
        statistics = upwards * np.where(compared, _deal_answers(answers, side, draws), 0.0)
        against = adjust_by_greatest(statistics[0], statistics[1:], two_sided)
        p_value = np.where(compared, np.maximum(p_value, against), p_value)
        joint_ps = [
            max(p, _adjust_together(statistics[0], statistics[1:], questions))
            if compared[questions].any()
            else p
            for p, questions in zip(joint_ps, together, strict=True)
        ]
    return ShareTest(
        yes=yes[inside],
        asked=asked[inside],
        expected=expected[inside],
        queries=queries[inside],
        reference_yes=yes[reference].sum(axis=0),
        reference_asked=asked[reference].sum(axis=0),
        reference_queries=queries[reference].sum(axis=0),
        compared=compared,
        p_value=p_value,
        joint_p=_combine_together(joint_ps),
        joint_queries=_count_together(answers, side, compared, joint),
    )


def adjust_by_greatest(observed: FloatArray, drawn: FloatArray, two_sided: bool) -> FloatArray:
    """p of every question, adjusted by the greatest of each draw (single-step maxT).

    Upwards is the side on which the class lies.
    """
    greatest = (np.abs(drawn) if two_sided else drawn).max(axis=1, initial=0)
    return _find_p(greatest, observed)


def _adjust_together(observed: FloatArray, drawn: FloatArray, questions: IntArray) -> float:
    """p of some questions together: the sum of squares of what lies upwards, held against the sum
    of all squares in each draw, because the side was seen in the data."""
    squares = (drawn[:, questions] ** 2).sum(axis=1)
    square = (np.maximum(observed[questions], 0.0) ** 2).sum()
    return float(_find_p(squares, square))


def _choose_together(joint: Sequence[Sequence[int]], asked: BoolArray) -> list[IntArray]:
    """The sets that have an answer in the class and, where there are several, first all as one."""
    sets: list[IntArray] = [np.array(questions, dtype=np.int64) for questions in joint]
    met = [questions for questions in sets if asked[questions].any()]
    whole: list[IntArray] = [np.concatenate(met)] if len(met) > 1 else []
    return [*whole, *met]


def _count_together(
    answers: Answers, side: Side, compared: BoolArray, joint: Sequence[Sequence[int]]
) -> tuple[int, int]:
    """Queries of the class and of the reference that answer any of these questions."""
    questions = [question for one in joint for question in one]
    asked = np.isin(answers.question, questions)
    group = answers.group[answers.query]
    here, there = asked & (group == side.inside), asked & np.isin(group, side.reference)
    is_compared = bool(compared[questions].any())
    own, others = (len(np.unique(answers.query[chosen])) for chosen in (here, there))
    return own, others if is_compared else 0


def _combine_together(p_values: Sequence[float]) -> float | None:
    """One p of the sets of `_choose_together`, `None` without any.

    Of several, half of the level goes to all as one and half to the sets apart (Bonferroni): a
    direction in one set only is lost among all, and one that shows a little in each is lost apart.
    """
    if not p_values:
        return None
    whole, *apart = p_values
    return min(1.0, 2 * min([whole, *(len(apart) * p for p in apart)])) if apart else whole


def _scale_deviations(answers: Answers) -> FloatArray:
    """One over the standard error of each sum of (yes - expected): groups x K."""
    squares = answers.sum_groups((answers.yes - answers.expected) ** 2)
    some = squares > TOLERANCE
    return np.where(some, 1 / np.sqrt(np.where(some, squares, 1.0)), 0.0)


def _flip_deviations(answers: Answers, groups: Sequence[int], draws: Draws) -> list[FloatArray]:
    """Standardised sums of (yes - expected) in each group under random signs: draws x K each.

    Groups with few queries get every pattern of signs once, the others share their random signs.
    """
    shape = (answers.groups, answers.questions)
    matrix = answers.spread_out(answers.yes - answers.expected)
    scale = _scale_deviations(answers)
    rows = [np.flatnonzero(answers.group == group) for group in groups]
    is_small = [draws.can_enumerate(len(queries)) for queries in rows]
    flipped: list[list[FloatArray]] = [[] for _ in groups]
    for place, group in enumerate(groups):
        if is_small[place]:
            signs = enumerate_signs(len(rows[place]))
            sums = (matrix[:, rows[place]] @ signs).reshape(*shape, signs.shape[1])
            flipped[place].append(sums[group].T * scale[group])
    chunks = flip_signs(len(answers.group), draws) if not all(is_small) else iter(())
    for signs in chunks:
        sums = (matrix @ signs).reshape(*shape, signs.shape[1])
        for place, group in enumerate(groups):
            if not is_small[place]:
                flipped[place].append(sums[group].T * scale[group])
    return [np.concatenate(drawn) for drawn in flipped]


def _deal_answers(answers: Answers, side: Side, draws: Draws) -> FloatArray:
    """Standardised differences of the mean shares inside and in the reference: (1 + draws) x K.

    The first row is what was observed; in the others the queries of both are dealt out anew. Each
    query counts once with its share of yes, however many answers it has: a harder class has more
    answers per query, and were they weighed, its queries were unlike those of the reference.
    """
    both = np.flatnonzero(np.isin(answers.group, [side.inside, *side.reference]))
    is_here = np.isin(answers.query, both)
    share = np.where(is_here, answers.yes / answers.asked, 0.0)
    once = is_here.astype(np.float64)
    shares, queries = (
        _add_up(answers.question, values, answers.questions) for values in (share, once)
    )
    beyond = share - once * (shares / np.maximum(queries, 1))[answers.question]
    beyond[np.abs(beyond) < TOLERANCE] = 0.0
    terms = [
        answers.spread_out(values, by_group=False)[:, both] for values in (beyond, beyond**2, once)
    ]
    total = np.stack([np.asarray(term.sum(axis=1)).ravel() for term in terms], axis=-1)
    is_inside = (answers.group[both] == side.inside).astype(np.float64)
    statistics = []
    for dealt in deal_queries(is_inside, draws, stream=side.inside):
        sums = np.stack([(term @ dealt).T for term in terms], axis=-1)
        statistics.append(standardise_difference(sums, total))
    return np.concatenate(statistics)


def _add_up(place: IntArray, values: FloatArray, size: int) -> FloatArray:
    sums: npt.NDArray[Any] = np.bincount(place, weights=values, minlength=size)
    return sums


def _find_p(drawn: FloatArray, observed: FloatArray) -> FloatArray:
    """Share of the draws that reach what was observed, which counts as a draw itself.

    Phipson and Smyth (2010): a p value by random draws is never zero.
    """
    ordered = np.sort(drawn)
    reached = len(ordered) - np.searchsorted(ordered, observed - TOLERANCE)
    result: FloatArray = (1 + reached) / (1 + len(ordered))
    return result

"""Which grades of a query's dropped documents make a run's nDCG least, and which greatest.

Write D for the run's DCG@k and I for the ideal one. D grows by a document's gain at the discount
of its rank; I is the largest D over all orders of the documents, so it is convex in the gains,
and nDCG = D / I is quasi-concave: between two gradings it is nowhere below the lesser of them.

- The least value is therefore taken where every dropped document has the lowest or the highest
  grade. How many have the highest settles I, and D is then least where those that the run ranks
  last have it: m + 1 gradings of m documents are enough.
- The greatest may need the grades between. Which documents have a grade matters to D alone, so it
  is greatest where grades fall along the run's order, and a grading is told by how many documents
  reach each grade. Both D and I are sums over the steps of the scale of what that number is, so
  that for a number t the greatest D - t I is found step by step: what one more document is worth to
  a step falls as the step is higher, so the numbers chosen alone already fall, as they must. D / I
  is greatest for the t at which the greatest D - t I is 0, which Dinkelbach's iteration finds in
  finitely many steps, each raising D / I (W. Dinkelbach 1967, On Nonlinear Fractional Programming,
  Management Science 13, 492-498).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from math import log2


@dataclass(frozen=True, slots=True)
class GradedRanking:
    """A query as one run ranks it, by the documents that are graded or dropped.

    `labelled` holds grade and rank of each graded document and `dropped` the ranks of the dropped
    ones in the order of the run; a rank counts from 1 and is None for what the run does not
    return. `scale` holds the grades that a document can have, in ascending order; `no_gain` is the
    grade from which on down the gain is 0: above it each grade is a gain of one more. `k` is the
    number of ranks that count.
    """

    labelled: Sequence[tuple[int, int | None]]
    dropped: Sequence[int | None]
    scale: Sequence[int]
    no_gain: int
    k: int

    def gain(self, grade: int) -> int:
        return max(0, grade - self.no_gain)

    def discount(self, rank: int | None) -> float:
        return 0.0 if rank is None or rank > self.k else 1 / log2(rank + 1)


@dataclass(frozen=True, slots=True)
class _Step:
    """From one grade to the next: D and I by how many of the dropped documents, the run's first
    or its last ones, have the upper of the two; the others have the lower."""

    found: Sequence[float]
    ideal: Sequence[float]


def find_worst_grades(query: GradedRanking) -> list[int]:
    """Grades of the dropped documents, in their order, under which nDCG@k is least."""
    lowest, highest = query.scale[0], query.scale[-1]
    step = _measure_step(query, lowest, highest, query.dropped[::-1])
    count = min(range(len(step.found)), key=lambda one: _divide(step.found[one], step.ideal[one]))
    return [lowest] * (len(query.dropped) - count) + [highest] * count


def find_best_grades(query: GradedRanking) -> list[int]:
    """Grades of the dropped documents, in their order, under which nDCG@k is greatest."""
    steps = [_measure_step(query, *grades, query.dropped) for grades in pairwise(query.scale)]
    grades = [query.scale[-1]] * len(query.dropped)
    value = _measure(query, grades)
    while True:
        better = _grade(query, _choose_counts(steps, len(query.dropped), value))
        reached = _measure(query, better)
        if reached <= value:
            return grades
        grades, value = better, reached


def _measure_step(
    query: GradedRanking, lower: int, upper: int, order: Sequence[int | None]
) -> _Step:
    low, high = query.gain(lower), query.gain(upper)
    discounts = [query.discount(rank) for rank in order]
    start = _sum_labelled(query) + low * sum(discounts)
    # Of any one gain no more than k documents can stand among the first k.
    labelled = sorted((query.gain(grade) for grade, _ in query.labelled), reverse=True)[: query.k]
    count = len(order)
    return _Step(
        found=list(accumulate(((high - low) * one for one in discounts), initial=start)),
        ideal=[
            _rank_ideally(
                query,
                [*labelled, *[high] * min(ups, query.k), *[low] * min(count - ups, query.k)],
            )
            for ups in range(count + 1)
        ],
    )


def _choose_counts(steps: Sequence[_Step], most: int, value: float) -> list[int]:
    """How many documents reach the upper grade of each step where D - `value` I is greatest."""
    counts = []
    for step in steps:
        worth = [
            found - value * ideal
            for found, ideal in zip(step.found[: most + 1], step.ideal, strict=False)
        ]
        most = max(range(most + 1), key=lambda count: (worth[count], count))
        counts.append(most)
    return counts


def _grade(query: GradedRanking, counts: Sequence[int]) -> list[int]:
    return [
        query.scale[sum(place < count for count in counts)] for place in range(len(query.dropped))
    ]


def _measure(query: GradedRanking, grades: Sequence[int]) -> float:
    """nDCG@k, 0 where no document has a gain."""
    found = sum(
        query.gain(grade) * query.discount(rank)
        for grade, rank in zip(grades, query.dropped, strict=True)
    )
    gains = [query.gain(grade) for grade in (*(grade for grade, _ in query.labelled), *grades)]
    return _divide(_sum_labelled(query) + found, _rank_ideally(query, gains))


def _sum_labelled(query: GradedRanking) -> float:
    return sum(query.gain(grade) * query.discount(rank) for grade, rank in query.labelled)


def _rank_ideally(query: GradedRanking, gains: Sequence[int]) -> float:
    best = sorted(gains, reverse=True)[: query.k]
    return sum(gain * query.discount(rank) for rank, gain in enumerate(best, start=1))


def _divide(found: float, ideal: float) -> float:
    return found / ideal if ideal else 0.0

"""Do a class's splits run one way, more than the same annotators show elsewhere?"""

from dataclasses import dataclass, replace

import numpy as np

from results.statistics.counts import Comparisons, compare_labels
from results.statistics.diagnosis.shares import Answers, ShareTest
from results.statistics.table import NONE, BoolArray, IntArray, LabelTable


@dataclass(frozen=True)
class Contrast:
    """Two annotators (codes, a < b), or one against all others (`b` is `None`).

    Against all others counts as higher who is above more of them than below.
    """

    a: int
    b: int | None


@dataclass(frozen=True, eq=False)
class DirectedSplits:
    """Who is higher how often, for each query and contrast.

    The questions of `answers` are the `contrasts`; yes is "a is higher", expected at even odds.
    """

    contrasts: tuple[Contrast, ...]
    answers: Answers

    @property
    def against_others(self) -> list[int]:
        """Places of the contrasts of one annotator against all others."""
        return [place for place, contrast in enumerate(self.contrasts) if contrast.b is None]

    @property
    def teams(self) -> list[list[int]]:
        """The same, apart for annotators whom no chain of differing labels links.

        What one team shows says nothing about another: neither of its direction nor of its habits.
        """
        links = [(contrast.a, contrast.b) for contrast in self.contrasts if contrast.b is not None]
        team = {code: code for pair in links for code in pair}
        for a, b in links:
            one, other = team[a], team[b]
            team = {code: one if found == other else found for code, found in team.items()}
        places: dict[int, list[int]] = {}
        for place in self.against_others:
            places.setdefault(team[self.contrasts[place].a], []).append(place)
        return list(places.values())


@dataclass(frozen=True)
class Direction:
    """One contrast in one class: counts, of queries too, and the p value adjusted over all
    contrasts.

    `compared_with_rest` is false where the rest has fewer than ten directed splits, so that even
    odds are all there is to compare with; `rest_*` are the counts of the reference all the same.
    """

    a: int
    b: int | None
    a_higher: int
    b_higher: int
    rest_a_higher: int
    rest_b_higher: int
    queries: int
    rest_queries: int
    compared_with_rest: bool
    excess: float
    p_value: float


def count_directed(splits: LabelTable, group: IntArray, groups: int) -> DirectedSplits:
    """Ask every split who is higher; `splits` is the table of the pairs that split.

    `group` holds for every query code its group, from 0 to `groups` - 1.
    """
    pair_query = splits.query[splits.pair_starts]
    rows = _compare_by_pair(splits)
    first_higher = rows.first_grade > rows.second_grade
    between = np.unique(np.column_stack([rows.first, rows.second]), axis=0)
    width = len(splits.annotators)
    codes = between[:, 0].astype(np.int64) * width + between[:, 1]
    pairs = [rows.query]
    questions = [np.searchsorted(codes, rows.first.astype(np.int64) * width + rows.second)]
    yes = [first_higher]
    contrasts = [Contrast(int(a), int(b)) for a, b in between]
    people = np.unique(between)
    if len(people) > 2:
        pair, person, above = _compare_with_others(rows, width)
        contrasts += [Contrast(int(code), None) for code in people]
        pairs.append(pair)
        questions.append(len(codes) + np.searchsorted(people, person))
        yes.append(above)
    asked = sum(map(len, yes))
    answers = Answers.collect(
        query=pair_query[np.concatenate(pairs)],
        question=np.concatenate(questions),
        yes=np.concatenate(yes).astype(np.float64),
        expected=np.full(asked, 0.5),
        questions=len(contrasts),
        group=group,
        groups=groups,
    )
    return DirectedSplits(tuple(contrasts), answers)


def _compare_by_pair(splits: LabelTable) -> Comparisons:
    """The comparisons that differ, with the number of the pair in the place of the query."""
    pairs = len(splits.pair_starts)
    number = np.repeat(np.arange(pairs), splits.pair_sizes)
    rows = compare_labels(replace(splits, query=number, query_class=np.full(pairs, NONE)))
    return rows.take(np.flatnonzero(rows.first_grade != rows.second_grade))


def _compare_with_others(rows: Comparisons, width: int) -> tuple[IntArray, IntArray, BoolArray]:
    """For each pair and annotator above or below more of the others: pair, annotator, is above."""
    sign = np.where(rows.first_grade > rows.second_grade, 1, -1)
    cell = np.concatenate([rows.query, rows.query]).astype(np.int64) * width
    cell += np.concatenate([rows.first, rows.second])
    cells, place = np.unique(cell, return_inverse=True)
    lead = np.bincount(place, weights=np.concatenate([sign, -sign]), minlength=len(cells))
    chosen = lead != 0
    return cells[chosen] // width, cells[chosen] % width, lead[chosen] > 0


def describe_directions(directed: DirectedSplits, test: ShareTest) -> list[Direction]:
    """The contrasts that have a directed split in the class."""
    asked = [(place, contrast) for place, contrast in enumerate(directed.contrasts)]
    return [
        Direction(
            a=contrast.a,
            b=contrast.b,
            a_higher=int(test.yes[place]),
            b_higher=int(test.asked[place] - test.yes[place]),
            rest_a_higher=int(test.reference_yes[place]),
            rest_b_higher=int(test.reference_asked[place] - test.reference_yes[place]),
            queries=int(test.queries[place]),
            rest_queries=int(test.reference_queries[place]),
            compared_with_rest=bool(test.compared[place]),
            excess=float(test.excess[place]),
            p_value=float(test.p_value[place]),
        )
        for place, contrast in asked
        if test.asked[place]
    ]

"""Studies with labels, for the tests of numbers and pages."""

from collections.abc import Sequence

from annotation.models import Judgment
from studies.models import Member, Pair, Round
from tests import factories as make
from tests.cast import Cast


def label(
    round: Round, annotator: Member, pairs: Sequence[Pair], grades: Sequence[int | None]
) -> list[Judgment]:
    """One label for each pair, in order; None is unsure."""
    return [
        make.make_judgment(round, pair, annotator, grade, active_seconds=2.0)
        for pair, grade in zip(pairs, grades, strict=True)
    ]


def label_cast(cast: Cast) -> None:
    """Both annotators label all nine pairs; two of the procedural query's three are split."""
    label(cast.main, cast.ana, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, 1])
    label(cast.main, cast.ben, cast.pairs, [1, 1, 1, 0, 1, 2, 0, 0, 1])


def add_pairs(cast: Cast, query_class: str, count: int) -> list[Pair]:
    """A new query of the class with so many pairs."""
    query = make.make_query(cast.study, query_class=query_class)
    return [make.make_pair(query) for _ in range(count)]

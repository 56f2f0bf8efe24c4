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


def label_in_many_ways(cast: Cast) -> None:
    """Three annotators: two split in either direction, the third takes a side and cites another
    dimension. One label is unsure, and one pair is labelled once."""
    label(cast.main, cast.ana, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, 1])
    label(cast.main, cast.ben, cast.pairs[:8], [1, 0, 1, 2, 0, 1, None, 0])
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    for pair, grade in zip(cast.pairs, [0, 1, 2, 0], strict=False):
        make.make_judgment(cast.main, pair, zoe, grade, decided_by="recency")


def add_pairs(cast: Cast, query_class: str, count: int) -> list[Pair]:
    """A new query of the class with so many pairs."""
    query = make.make_query(cast.study, query_class=query_class)
    return [make.make_pair(query) for _ in range(count)]

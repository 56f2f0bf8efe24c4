"""Scores with dropped pairs at their worst and best: the bounds against every way to grade them."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import ScoredDoc

from results.services.retrieval import bound_run, score_run

DOCUMENTS = ("a", "b", "c", "d", "e")
ENDS = (0, 3)

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=5)
parts = st.tuples(*[st.sampled_from(["dropped", 0, 1, 2, 3, None]) for _ in DOCUMENTS])


def hits(order: list[str]) -> list[ScoredDoc]:
    return [ScoredDoc("q", document, -rank) for rank, document in enumerate(order)]


@settings(max_examples=60, deadline=None)
@given(rankings, parts, st.integers(1, 4), st.integers(1, 3))
def test_no_grading_of_dropped_pairs_leaves_the_bounds_and_some_reach_them(
    order: list[str], graded: tuple[int | str | None, ...], k: int, relevant: int
) -> None:
    parts_of = dict(zip(DOCUMENTS, graded, strict=True))
    qrels = {name: grade for name, grade in parts_of.items() if isinstance(grade, int)}
    dropped = [name for name, grade in parts_of.items() if grade == "dropped"]
    if not qrels and not dropped:
        return
    bounds = bound_run(
        hits(order),
        {"q": qrels} if qrels else {},
        {"q": dropped} if dropped else {},
        scale=ENDS,
        relevant=relevant,
        k=k,
    )
    every = []
    for grades in product(ENDS, repeat=len(dropped)):
        full = {**qrels, **dict(zip(dropped, grades, strict=True))}
        scores = score_run(hits(order), {"q": full}, relevant=relevant, k=k)
        every.append((scores.success_at_k, scores.ndcg, scores.mrr))
    for place in range(3):
        values = [one[place] for one in every]
        assert bounds.worst[place] == pytest.approx(min(values))
        assert bounds.best[place] == pytest.approx(max(values))


def test_means_are_over_all_queries_those_dropped_whole_too() -> None:
    ranking = [ScoredDoc("q1", "a", 0), ScoredDoc("q2", "b", 0)]
    bounds = bound_run(ranking, {"q1": {"a": 1}}, {"q2": ["b"]}, scale=(0, 1), relevant=1, k=1)
    assert bounds.worst == pytest.approx((0.5, 0.5, 0.5))
    assert bounds.best == pytest.approx((1.0, 1.0, 1.0))


def test_without_any_query_there_is_nothing_to_bound() -> None:
    with pytest.raises(ValueError, match="no query"):
        bound_run([], {}, {}, scale=(0, 1), relevant=1, k=1)

"""Scores with dropped pairs at their worst and best: the bounds against every way to grade them."""

from itertools import product

import ir_measures
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ir_measures import RR, Qrel, ScoredDoc, Success, nDCG

from results.services.retrieval import bound_run

DOCUMENTS = ("a", "b", "c", "d", "e")
SCALES = ((0, 1), (0, 1, 2), (0, 1, 2, 3), (0, 1, 4), (-1, 0, 2), (2, 3, 5))

rankings = st.lists(st.sampled_from(DOCUMENTS), unique=True, max_size=5)
# Each document is dropped, without a label, or has the grade at this place of the scale.
parts = st.tuples(*[st.sampled_from(["dropped", "dropped", None, 0, 1, 2, 3]) for _ in DOCUMENTS])


def hits(order: list[str]) -> list[ScoredDoc]:
    return [ScoredDoc("q", document, -rank) for rank, document in enumerate(order)]


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(SCALES), rankings, parts, st.integers(1, 5), st.integers(0, 3))
# The run ranks b before a better c: only a grade between the ends puts b in its place.
@example((0, 1, 2), ["a", "b", "c"], (2, "dropped", 1, None, None), 3, 1)
def test_no_grading_of_dropped_pairs_leaves_the_bounds_and_some_reach_them(
    scale: tuple[int, ...],
    order: list[str],
    placed: tuple[int | str | None, ...],
    k: int,
    relevant_place: int,
) -> None:
    parts_of = dict(zip(DOCUMENTS, placed, strict=True))
    qrels = {
        name: scale[place % len(scale)]
        for name, place in parts_of.items()
        if isinstance(place, int)
    }
    dropped = [name for name, place in parts_of.items() if place == "dropped"]
    relevant = scale[relevant_place % len(scale)]
    if not qrels and not dropped:
        return
    bounds = bound_run(
        hits(order),
        {"q": qrels} if qrels else {},
        {"q": dropped} if dropped else {},
        scale=scale,
        relevant=relevant,
        k=k,
    )
    gradings = [
        {**qrels, **dict(zip(dropped, grades, strict=True))}
        for grades in product(scale, repeat=len(dropped))
    ]
    measured = measure_each(gradings, order, relevant=relevant, k=k)
    for place, values in enumerate(measured):
        assert bounds.worst[place] == pytest.approx(min(values))
        assert bounds.best[place] == pytest.approx(max(values))


def measure_each(
    gradings: list[dict[str, int]], order: list[str], *, relevant: int, k: int
) -> list[list[float]]:
    """Success@k, nDCG@k and reciprocal rank of one ranking under each of these gradings."""
    shift = max(0, 1 - relevant)
    measures = [Success(rel=relevant + shift) @ k, nDCG @ k, RR(rel=relevant + shift)]
    values = {measure: [0.0] * len(gradings) for measure in measures}
    qrels = [
        Qrel(str(number), document, grade + shift)
        for number, grades in enumerate(gradings)
        for document, grade in grades.items()
    ]
    ranked = [
        ScoredDoc(str(number), document, -rank)
        for number in range(len(gradings))
        for rank, document in enumerate(order)
    ]
    for metric in ir_measures.iter_calc(measures, qrels, ranked):
        values[metric.measure][int(metric.query_id)] = metric.value
    return [values[measure] for measure in measures]


def test_a_grade_between_the_ends_can_be_the_best_one() -> None:
    """The run has a=2 first, then the dropped b, then c=1: only b=2 or b=1 leaves it ideal."""
    bounds = bound_run(
        hits(["a", "b", "c"]),
        {"q": {"a": 2, "c": 1}},
        {"q": ["b"]},
        scale=(0, 1, 2, 3),
        relevant=1,
        k=3,
    )
    assert bounds.best[1] == pytest.approx(1.0)


def test_hundreds_of_dropped_pairs_are_bounded_without_trying_them_one_by_one() -> None:
    """Alike grades are ideal; worst are high ones beyond the first k and low ones among them."""
    documents = [f"d{number}" for number in range(400)]
    bounds = bound_run(hits(documents), {}, {"q": documents}, scale=(1, 2, 4), relevant=2, k=100)
    assert bounds.best == pytest.approx((1.0, 1.0, 1.0))
    assert bounds.worst == pytest.approx((0.0, 0.25, 0.0))


def test_means_are_over_all_queries_those_dropped_whole_too() -> None:
    ranking = [ScoredDoc("q1", "a", 0), ScoredDoc("q2", "b", 0)]
    bounds = bound_run(ranking, {"q1": {"a": 1}}, {"q2": ["b"]}, scale=(0, 1), relevant=1, k=1)
    assert bounds.worst == pytest.approx((0.5, 0.5, 0.5))
    assert bounds.best == pytest.approx((1.0, 1.0, 1.0))


def test_without_any_query_there_is_nothing_to_bound() -> None:
    with pytest.raises(ValueError, match="no query"):
        bound_run([], {}, {}, scale=(0, 1), relevant=1, k=1)

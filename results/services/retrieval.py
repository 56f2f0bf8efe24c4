"""Retrieval measures of runs, taken by ir_measures.

Imports ir_measures: only workers and commands import this module.
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import ir_measures
from ir_measures import RR, Qrel, ScoredDoc, Success, nDCG

from studies.models import Run, RunHit, Study

# Grades by query id and document id.
Qrels = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class RunScores:
    """Means over the queries scored; `hits` are the queries with a relevant document in the
    first k. The means are None where no query was scored."""

    success_at_k: float | None
    ndcg: float | None
    mrr: float | None
    hits: frozenset[str]


def list_runs(study: Study) -> list[Run]:
    return list(Run.objects.filter(study=study).order_by("name"))


def read_ranking(run: Run, queries: Collection[str]) -> list[ScoredDoc]:
    """The run's hits for these queries, in the run's own order whatever its scores tie."""
    hits = (
        RunHit.objects.filter(run=run, query__external_id__in=queries)
        .order_by()
        .values_list("query__external_id", "document_external_id", "rank")
    )
    return [ScoredDoc(query, document, -rank) for query, document, rank in hits.iterator()]


def score_run(
    ranking: Iterable[ScoredDoc], qrels: Qrels, *, relevant: int | None, k: int
) -> RunScores:
    """Success@k, nDCG@k and reciprocal rank over the queries of `qrels`.

    `relevant` is the lowest grade that counts as relevant; nDCG takes the grades as gains. A
    scale on which a grade below 1 is relevant is moved up first, so that it is to the library.
    """
    if not qrels:
        return RunScores(None, None, None, frozenset())
    if relevant is None:
        # No grade of the version counts as relevant: nothing is found, by definition.
        return RunScores(0.0, 0.0, 0.0, frozenset())
    success, ndcg, rank = _measure_queries(ranking, qrels, relevant, k)
    return RunScores(
        success_at_k=_mean(success, len(qrels)),
        ndcg=_mean(ndcg, len(qrels)),
        mrr=_mean(rank, len(qrels)),
        hits=frozenset(query for query, value in success.items() if value > 0),
    )


@dataclass(frozen=True, slots=True)
class RunBounds:
    """Means over all queries with a label or a dropped pair, where each dropped pair counts as
    the lowest or the highest grade, whichever is worse (`worst`) or better (`best`) for the run.
    """

    worst: tuple[float, float, float]
    best: tuple[float, float, float]


def bound_run(
    ranking: Sequence[ScoredDoc],
    qrels: Qrels,
    dropped: Mapping[str, Collection[str]],
    *,
    scale: tuple[int, int],
    relevant: int,
    k: int,
) -> RunBounds:
    """Success@k, nDCG@k and reciprocal rank with dropped pairs at their worst and their best.

    `dropped` names the documents by query; `scale` is the lowest and the highest grade. Of a
    query with m dropped documents m + 1 gradings are enough for each side: how many of them have
    the highest grade settles the ideal ranking, and for a given number the gains are largest
    where the run's first ones have it, and smallest where its last ones have. Raises ValueError
    where there is no query at all.
    """
    queries = qrels.keys() | dropped.keys()
    if not queries:
        raise ValueError("no query has a label or a dropped pair")
    hits: dict[str, list[ScoredDoc]] = defaultdict(list)
    for hit in ranking:
        hits[hit.query_id].append(hit)
    graded: dict[str, dict[str, int]] = {}
    ranked: list[ScoredDoc] = []
    for query in queries:
        order = _order_dropped(dropped.get(query, ()), hits[query])
        for side, first_to_last in (("worst", order[::-1]), ("best", order)):
            for high in range(len(order) + 1):
                name = f"{side} {high} {query}"
                grades = {
                    document: scale[place < high] for place, document in enumerate(first_to_last)
                }
                graded[name] = {**qrels.get(query, {}), **grades}
                ranked += [ScoredDoc(name, hit.doc_id, hit.score) for hit in hits[query]]
    measured = _measure_queries(ranked, graded, relevant, k)
    worst, best = (
        [_mean(_fold(values, side, fold), len(queries)) for values in measured]
        for side, fold in (("worst", min), ("best", max))
    )
    return RunBounds((worst[0], worst[1], worst[2]), (best[0], best[1], best[2]))


def _order_dropped(documents: Collection[str], hits: Iterable[ScoredDoc]) -> list[str]:
    """The dropped documents as the run returns them, those that it does not return last."""
    scores = {hit.doc_id: hit.score for hit in hits}
    return sorted(documents, key=lambda one: (-scores.get(one, float("-inf")), one))


def _fold(
    values: Mapping[str, float], side: str, fold: Callable[[float, float], float]
) -> dict[str, float]:
    """One value for each query: the least or the greatest over its gradings of one side."""
    folded: dict[str, float] = {}
    for name, value in values.items():
        of_side, _, query = name.split(" ", 2)
        if of_side == side:
            folded[query] = fold(folded.get(query, value), value)
    return folded


def _measure_queries(
    ranking: Iterable[ScoredDoc], qrels: Qrels, relevant: int, k: int
) -> tuple[Mapping[str, float], Mapping[str, float], Mapping[str, float]]:
    """Success@k, nDCG@k and reciprocal rank by query, as ir_measures takes them."""
    shift = max(0, 1 - relevant)
    level = relevant + shift
    measures = Success(rel=level) @ k, nDCG @ k, RR(rel=level)
    values: dict[object, dict[str, float]] = defaultdict(dict)
    measured = ir_measures.iter_calc(list(measures), list(_list_qrels(qrels, shift)), list(ranking))
    for metric in measured:
        values[metric.measure][metric.query_id] = float(metric.value)
    success, ndcg, rank = measures
    return values[success], values[ndcg], values[rank]


def _list_qrels(qrels: Qrels, shift: int) -> Iterator[Qrel]:
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield Qrel(query, document, grade + shift)


def _mean(values: Mapping[str, float], queries: int) -> float:
    return sum(values.values()) / queries

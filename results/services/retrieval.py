"""Retrieval measures of runs, taken by ir_measures.

Imports ir_measures: only workers and commands import this module.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
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
    shift = max(0, 1 - relevant)
    level = relevant + shift
    success, ndcg, rank = Success(rel=level) @ k, nDCG @ k, RR(rel=level)
    values: dict[object, dict[str, float]] = defaultdict(dict)
    measured = ir_measures.iter_calc(
        [success, ndcg, rank], list(_list_qrels(qrels, shift)), list(ranking)
    )
    for metric in measured:
        values[metric.measure][metric.query_id] = float(metric.value)
    return RunScores(
        success_at_k=_mean(values[success], len(qrels)),
        ndcg=_mean(values[ndcg], len(qrels)),
        mrr=_mean(values[rank], len(qrels)),
        hits=frozenset(query for query, value in values[success].items() if value > 0),
    )


def _list_qrels(qrels: Qrels, shift: int) -> Iterator[Qrel]:
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield Qrel(query, document, grade + shift)


def _mean(values: Mapping[str, float], queries: int) -> float:
    return sum(values.values()) / queries

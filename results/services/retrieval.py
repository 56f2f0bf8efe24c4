"""Retrieval measures of runs, taken by ir_measures.

Imports ir_measures: only workers and commands import this module.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

import ir_measures
from ir_measures import RR, Qrel, ScoredDoc, Success, nDCG

from results.dropped import MEASURES
from results.selectors.final_labels import find_relevant_from
from results.statistics.dropped_grades import (
    GradedRanking,
    find_best_grades,
    find_worst_grades,
)
from studies.models import Grade, Run, Study
from studies.selectors import find_rubric_in_force, select_rankings

Json = dict[str, Any]

DEFAULT_K = 5

# Grades by query id and document id.
Qrels = Mapping[str, Mapping[str, int]]
# Dropped documents by query id.
Dropped = Mapping[str, Collection[str]]


@dataclass(frozen=True, slots=True)
class RunScores:
    """Means over the queries scored; `hits` are the queries with a relevant document in the
    first k. The means are None where no query was scored."""

    success_at_k: float | None
    ndcg: float | None
    mrr: float | None
    hits: frozenset[str]


def choose_depth(study: Study) -> int:
    """The ranks that measures look at: as deep as the pool, where that is known."""
    return study.depth or DEFAULT_K


def list_runs(study: Study) -> list[Run]:
    return list(Run.objects.filter(study=study).order_by("name"))


def read_ranking(run: Run, queries: Collection[str]) -> list[ScoredDoc]:
    """The run's hits for these queries, in the run's own order whatever its scores tie."""
    rankings = select_rankings(run).filter(query__external_id__in=queries)
    return [
        ScoredDoc(ranking.query.external_id, document, -rank)
        for ranking in rankings.order_by().iterator()
        for rank, document, _ in ranking.list_hits()
    ]


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
    """Means over all queries with a label or a dropped pair, where the dropped pairs of each query
    have the grades that are worst (`worst`) or best (`best`) for the run, measure by measure.
    """

    worst: tuple[float, float, float]
    best: tuple[float, float, float]


def bound_run(
    ranking: Sequence[ScoredDoc],
    qrels: Qrels,
    dropped: Dropped,
    *,
    scale: Sequence[int],
    relevant: int,
    k: int,
) -> RunBounds:
    """Success@k, nDCG@k and reciprocal rank with dropped pairs at their worst and their best: no
    grading of them leaves these bounds, and some reach them.

    `dropped` names the documents by query; `scale` holds the grades of the rubric in ascending
    order. Success and reciprocal rank only grow with the grades; for nDCG, whose ideal ranking
    moves along, see `results.statistics.dropped_grades`. Raises ValueError where there is no query
    at all.
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
        gradings = _grade_dropped(
            qrels.get(query, {}), dropped.get(query, ()), hits[query], (scale, relevant, k)
        )
        for name, grades in gradings:
            graded[f"{name} {query}"] = grades
            ranked += [ScoredDoc(f"{name} {query}", hit.doc_id, hit.score) for hit in hits[query]]
    success, ndcg, rank = _measure_queries(ranked, graded, relevant, k)

    def mean(values: Mapping[str, float], name: str) -> float:
        return sum(values.get(f"{name} {query}", 0.0) for query in queries) / len(queries)

    return RunBounds(
        worst=(mean(success, "lowest"), mean(ndcg, "worst"), mean(rank, "lowest")),
        best=(mean(success, "highest"), mean(ndcg, "best"), mean(rank, "highest")),
    )


@dataclass(frozen=True, slots=True)
class Measuring:
    """By what runs are scored: the scale in ascending order, its lowest relevant grade (None where
    no grade counts as relevant), and how many ranks count."""

    scale: Sequence[int]
    relevant: int | None
    k: int

    def score(self, ranking: Iterable[ScoredDoc], qrels: Qrels) -> RunScores:
        """As the labels stand, over the queries of `qrels`, whatever else the ranking holds."""
        labelled = [hit for hit in ranking if hit.query_id in qrels]
        return score_run(labelled, qrels, relevant=self.relevant, k=self.k)

    def bound(
        self, ranking: Sequence[ScoredDoc], qrels: Qrels, dropped: Dropped
    ) -> RunBounds | None:
        """With the dropped pairs at their worst and best, queries that were dropped whole among
        them; None where no grade counts as relevant or there is no query."""
        if self.relevant is None or not (qrels or dropped):
            return None
        return bound_run(
            ranking, qrels, dropped, scale=self.scale, relevant=self.relevant, k=self.k
        )

    def describe(self, ranking: Sequence[ScoredDoc], qrels: Qrels, dropped: Dropped) -> Json:
        """The scores, with their bounds where pairs were dropped; see `describe_scores`."""
        bounds = self.bound(ranking, qrels, dropped) if dropped else None
        return describe_scores(self.score(ranking, qrels), bounds)


def choose_measuring(study: Study) -> Measuring:
    """By the rubric in force, as deep as the pool."""
    version = find_rubric_in_force(study)
    grades = Grade.objects.filter(rubric_version=version).order_by("value")
    return Measuring(
        scale=list(grades.values_list("value", flat=True)),
        relevant=find_relevant_from(version),
        k=choose_depth(study),
    )


def describe_scores(scores: RunScores, bounds: RunBounds | None) -> Json:
    """The means by the names of `MEASURES`, with `worst` and `best`: the same by name with the
    dropped pairs at their worst and their best, or None where there are no bounds."""
    ends = (None, None) if bounds is None else (bounds.worst, bounds.best)
    worst, best = (end and dict(zip(MEASURES, end, strict=True)) for end in ends)
    means = {name: getattr(scores, name) for name in MEASURES}
    return {**means, "worst": worst, "best": best}


def _grade_dropped(
    labelled: Mapping[str, int],
    dropped: Collection[str],
    hits: Iterable[ScoredDoc],
    by: tuple[Sequence[int], int, int],
) -> Iterator[tuple[str, dict[str, int]]]:
    """The gradings of a query that reach the bounds, each with its name. `by` holds the scale, the
    lowest relevant grade and k."""
    scale, relevant, k = by
    ordered = sorted(hits, key=lambda hit: -hit.score)
    ranks = {hit.doc_id: rank for rank, hit in enumerate(ordered, start=1)}
    order = sorted(dropped, key=lambda document: (ranks.get(document, inf), document))
    query = GradedRanking(
        labelled=[(grade, ranks.get(document)) for document, grade in labelled.items()],
        dropped=[ranks.get(document) for document in order],
        scale=scale,
        no_gain=-_find_shift(relevant),
        k=k,
    )
    for name, grades in (
        ("lowest", [scale[0]] * len(order)),
        ("highest", [scale[-1]] * len(order)),
        ("worst", find_worst_grades(query)),
        ("best", find_best_grades(query)),
    ):
        yield name, {**labelled, **dict(zip(order, grades, strict=True))}


def _measure_queries(
    ranking: Iterable[ScoredDoc], qrels: Qrels, relevant: int, k: int
) -> tuple[Mapping[str, float], Mapping[str, float], Mapping[str, float]]:
    """Success@k, nDCG@k and reciprocal rank by query, as ir_measures takes them."""
    shift = _find_shift(relevant)
    level = relevant + shift
    measures = Success(rel=level) @ k, nDCG @ k, RR(rel=level)
    values: dict[object, dict[str, float]] = defaultdict(dict)
    measured = ir_measures.iter_calc(list(measures), list(_list_qrels(qrels, shift)), list(ranking))
    for metric in measured:
        values[metric.measure][metric.query_id] = float(metric.value)
    success, ndcg, rank = measures
    return values[success], values[ndcg], values[rank]


def _find_shift(relevant: int) -> int:
    """What a scale is moved up by, so that a grade that counts as relevant is 1 or more."""
    return max(0, 1 - relevant)


def _list_qrels(qrels: Qrels, shift: int) -> Iterator[Qrel]:
    for query, grades in qrels.items():
        for document, grade in grades.items():
            yield Qrel(query, document, grade + shift)


def _mean(values: Mapping[str, float], queries: int) -> float:
    return sum(values.values()) / queries

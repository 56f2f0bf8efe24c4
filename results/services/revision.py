"""The account of a rubric revision: the same pairs under two versions, or in two rounds.

Imports numpy and ir_measures: only workers and commands import this module.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils import translation

from results.dropped import judge_dropped_share
from results.revision_wording import name_scope, say_warnings
from results.selectors.labels import read_snapshot
from results.services.retrieval import (
    Qrels,
    RunScores,
    choose_depth,
    list_runs,
    read_ranking,
    score_run,
)
from results.services.revision_labels import Side, read_side
from results.services.scopes import Comparison
from results.statistics.agreement import Measure, kappa_band
from results.statistics.revision import SideAgreement, chance_has_moved, measure_side
from results.statistics.splits import ClassSplits
from results.statistics.table import IntArray, LabelTable
from studies.models import Pair, Study
from studies.services.jobs import JobRefused

Json = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Revision:
    """Two sides, the pairs (positions in the pool) with outcomes on both, those among them whose
    query both label sets score (`scored`), and the grades that either decides for these queries.
    `only_before` and `only_after` count the queries that one label set scores alone."""

    before: Side
    after: Side
    both: frozenset[int]
    scored: frozenset[int]
    qrels_before: Qrels
    qrels_after: Qrels
    only_before: int
    only_after: int


def account_for_revision(study: Study, compared: Comparison, *, k: int | None = None) -> Json:
    """The whole account, JSON-ready; `docs/` names its keys.

    `k` is the depth of the retrieval measures, by default the pool's. Raises UnknownScope for a
    version or round that the study does not have, and JobRefused where both are one.
    """
    if compared.before == compared.after:
        raise JobRefused(
            f"Name two different versions or rounds: both are {name_scope(compared.before)}."
        )
    depth = choose_depth(study)
    with read_snapshot():
        revision = _read_revision(study, compared)
        runs = _score_runs(study, revision, k or depth)
    lost = _count_lost(revision)
    account: Json = {
        "study": study.slug,
        "title": study.title,
        "compares": "rounds" if compared.before.rubric is None else "versions",
        "from": compared.before.rubric or compared.before.round,
        "to": compared.after.rubric or compared.after.round,
        "pairs_compared": len(revision.both),
        "pairs_only_before": len(revision.before.decided.keys() - revision.both),
        "pairs_only_after": len(revision.after.decided.keys() - revision.both),
        **_describe_sides(revision, runs),
        "transitions": _count_transitions(revision),
        "label_transitions": _count_label_transitions(revision),
        "lost_relevant": lost,
        "k": k or depth,
        "bound_checked": (k or depth) <= depth,
        "queries_scored": len(revision.qrels_before),
        "queries_only_before": revision.only_before,
        "queries_only_after": revision.only_after,
        "runs": [_describe_run(*scored, lost["scored"]) for scored in runs],
    }
    with translation.override("en"):
        return {**account, "warnings": say_warnings(account)}


def _read_revision(study: Study, compared: Comparison) -> Revision:
    sides = read_side(study, compared.before), read_side(study, compared.after)
    names = _name_pairs(study, sides[0])
    qrels = [_make_qrels(side, names) for side in sides]
    queries = sorted(qrels[0].keys() & qrels[1].keys())
    both = frozenset(sides[0].decided.keys() & sides[1].decided.keys())
    return Revision(
        *sides,
        both=both,
        scored=frozenset(pair for pair in both if names[pair][0] in set(queries)),
        qrels_before={query: qrels[0][query] for query in queries},
        qrels_after={query: qrels[1][query] for query in queries},
        only_before=len(qrels[0]) - len(queries),
        only_after=len(qrels[1]) - len(queries),
    )


def _name_pairs(study: Study, side: Side) -> dict[int, tuple[str, str]]:
    """External ids of query and document by the pair's position in the pool."""
    position = {int(key): place for place, key in enumerate(side.pool.key)}
    rows = Pair.objects.filter(study=study, pk__in=list(position)).values_list(
        "pk", "query__external_id", "document__external_id"
    )
    return {position[key]: (query, document) for key, query, document in rows.order_by()}


def _make_qrels(side: Side, names: Mapping[int, tuple[str, str]]) -> Qrels:
    qrels: dict[str, dict[str, int]] = {}
    for pair, found in side.decided.items():
        if found.grade is not None:
            query, document = names[pair]
            qrels.setdefault(query, {})[document] = found.grade
    return qrels


def _describe_sides(revision: Revision, runs: list[tuple[str, RunScores, RunScores]]) -> Json:
    """Both sides over the pairs that were labelled at least twice under either version."""
    twice = _labelled_twice(revision.before.table) & _labelled_twice(revision.after.table)
    pairs = np.array(sorted(twice), dtype=np.int64)
    before, after = (
        measure_side(side.table.select(np.isin(side.table.pair, pairs)))
        for side in (revision.before, revision.after)
    )
    return {
        "before": _describe_side(
            revision.before, before, [(name, scores) for name, scores, _ in runs]
        ),
        "after": _describe_side(
            revision.after, after, [(name, scores) for name, _, scores in runs]
        ),
        "expected_moved": chance_has_moved(before.expected, after.expected),
    }


def _labelled_twice(table: LabelTable) -> frozenset[int]:
    starts: IntArray = table.pair_starts[table.pair_sizes >= 2]
    return frozenset(table.pair[starts].tolist())


def _describe_side(
    side: Side, agreement: SideAgreement, runs: Iterable[tuple[str, RunScores]]
) -> Json:
    kappa = agreement.kappa
    return {
        "rubric_version": side.number,
        "round": side.scope.round,
        "pairs": agreement.splits.pairs,
        "comparisons": kappa.n,
        **_measure("observed", agreement.observed),
        **_measure("expected", agreement.expected),
        **_measure("kappa", kappa),
        "band": None if kappa.value is None else kappa_band(kappa.value),
        "splits": agreement.splits.splits,
        "rate": agreement.splits.value,
        "classes": [_describe_class(row) for row in agreement.classes],
        "carried": side.carried,
        **_describe_dropped(side),
        "grades": [
            {"value": value, "name": name} for value, name in sorted(side.grade_names.items())
        ],
        "relevant_from": side.relevant,
        "runs": [{"run": name, **_describe_scores(scores)} for name, scores in runs],
    }


def _describe_dropped(side: Side) -> Json:
    """How many pairs are dropped, and their share of all that have a grade or are dropped."""
    dropped = sum(found.reason == "dropped" for found in side.decided.values())
    graded = sum(found.grade is not None for found in side.decided.values())
    share = dropped / (dropped + graded) if dropped + graded else None
    return {
        "dropped": dropped,
        "dropped_share": share,
        "dropped_warning": judge_dropped_share(share) or None,
    }


def _measure(name: str, measure: Measure) -> Json:
    reason = {} if measure.reason is None else {f"{name}_reason": measure.reason}
    return {name: measure.value, **reason}


def _describe_class(row: ClassSplits) -> Json:
    return {
        "class": row.name,
        "pairs": row.inside.pairs,
        "splits": row.inside.splits,
        "rate": row.inside.value,
        "rest_pairs": row.rest.pairs,
        "rest_splits": row.rest.splits,
        "rest_rate": row.rest.value,
    }


def _count_transitions(revision: Revision) -> list[list[int]]:
    """Pairs by the grade they were decided for before and after, those without a change too."""
    moves = Counter(
        (before, after)
        for pair in revision.both
        if (before := revision.before.decided[pair].grade) is not None
        and (after := revision.after.decided[pair].grade) is not None
    )
    return [[*move, count] for move, count in sorted(moves.items())]


def _count_label_transitions(revision: Revision) -> list[list[int]]:
    """The same of single labels: each annotator's own on one pair, before and after."""
    before, after = _list_labels(revision.before), _list_labels(revision.after)
    moves = Counter((before[key], after[key]) for key in before.keys() & after.keys())
    return [[*move, count] for move, count in sorted(moves.items())]


def _list_labels(side: Side) -> dict[tuple[int, str], int]:
    table = side.table
    rows = zip(table.pair.tolist(), table.annotator.tolist(), table.grade.tolist(), strict=True)
    return {(pair, table.annotators[who]): table.scale[grade] for pair, who, grade in rows}


def _count_lost(revision: Revision) -> Json:
    """Pairs that counted as relevant and no longer do, by what they are now.

    `scored` are those that can cost a run its hit: a query that lost every label of it is not
    scored after, so its pairs would widen the bound and could not use it.
    """
    lost = [
        pair
        for pair in revision.both
        if revision.before.is_relevant(pair) and not revision.after.is_relevant(pair)
    ]
    now = [revision.after.decided[pair] for pair in lost]
    to = Counter(found.grade for found in now if found.grade is not None)
    without = Counter(found.reason for found in now if found.reason is not None)
    return {
        "pairs": len(lost),
        "scored": len(revision.scored.intersection(lost)),
        "to": [[grade, count] for grade, count in sorted(to.items())],
        "without_label": dict(sorted(without.items())),
    }


def _score_runs(study: Study, revision: Revision, k: int) -> list[tuple[str, RunScores, RunScores]]:
    """Each run under either label set as it stands, over the queries that both label."""
    before, after = revision.before, revision.after
    scored = []
    for run in list_runs(study):
        ranking = read_ranking(run, revision.qrels_before.keys())
        scored.append(
            (
                run.name,
                score_run(ranking, revision.qrels_before, relevant=before.relevant, k=k),
                score_run(ranking, revision.qrels_after, relevant=after.relevant, k=k),
            )
        )
    return scored


def _describe_run(name: str, before: RunScores, after: RunScores, lost_pairs: int) -> Json:
    """Every measure before and after, and whether the lost hits are within their bound.

    Each query that lost its hit has a pair that lost `relevant`, so there are no more of these
    queries than of such pairs in the queries scored (`lost_pairs`), unless something else than the
    labels of these pairs changed.
    """
    lost = before.hits - after.hits
    sides = {"before": _describe_scores(before), "after": _describe_scores(after)}
    return {
        "run": name,
        **{
            measure: {side: scores[measure] for side, scores in sides.items()}
            for measure in ("success_at_k", "ndcg", "mrr")
        },
        "queries_lost": len(lost),
        "queries_won": len(after.hits - before.hits),
        "bound": lost_pairs,
        "within_bound": len(lost) <= lost_pairs,
    }


def _describe_scores(scores: RunScores) -> Json:
    return {"success_at_k": scores.success_at_k, "ndcg": scores.ndcg, "mrr": scores.mrr}

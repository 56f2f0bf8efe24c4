"""The account of a rubric revision: the same pairs under two versions, or in two rounds.

Imports numpy and ir_measures: only workers and commands import this module.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils import translation

from results.dropped import MEASURES, find_dropped_share, judge_dropped_share
from results.revision_wording import name_scope, say_warnings
from results.selectors.labels import read_snapshot
from results.services.retrieval import (
    Dropped,
    Measuring,
    Qrels,
    RunScores,
    choose_depth,
    describe_scores,
    list_runs,
    read_ranking,
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


@dataclass(frozen=True, slots=True)
class ScoredRun:
    """A run under both label sets: the scores, and as the account tells them with their bounds."""

    name: str
    before: RunScores
    after: RunScores
    told_before: Json
    told_after: Json


@dataclass(frozen=True, slots=True)
class Decided:
    """What a side decides: grades by query and document, and the dropped documents by query."""

    qrels: Qrels
    dropped: Dropped

    @property
    def queries(self) -> frozenset[str]:
        return frozenset(self.qrels.keys() | self.dropped.keys())

    def within(self, queries: Collection[str]) -> "Decided":
        return Decided(
            {query: grades for query, grades in self.qrels.items() if query in queries},
            {query: found for query, found in self.dropped.items() if query in queries},
        )


@dataclass(frozen=True, eq=False)
class Revision:
    """Two sides, the pairs (positions in the pool) with outcomes on both, those among them whose
    query both label sets score (`scored`), and what either decides for these queries (`queries`)
    and for those that a side drops whole (`bounded` has both). `only_before` and `only_after` count
    the queries that one label set scores alone."""

    before: Side
    after: Side
    both: frozenset[int]
    scored: frozenset[int]
    queries: frozenset[str]
    bounded: frozenset[str]
    decided_before: Decided
    decided_after: Decided
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
        "queries_scored": len(revision.queries),
        "queries_bounded": len(revision.bounded),
        "queries_only_before": revision.only_before,
        "queries_only_after": revision.only_after,
        "runs": [_describe_run(run, lost["scored"]) for run in runs],
    }
    with translation.override("en"):
        return {**account, "warnings": say_warnings(account)}


def _read_revision(study: Study, compared: Comparison) -> Revision:
    sides = read_side(study, compared.before), read_side(study, compared.after)
    names = _name_pairs(study, sides[0])
    before, after = (_list_decided(side, names) for side in sides)
    queries = frozenset(before.qrels.keys() & after.qrels.keys())
    bounded = before.queries & after.queries
    both = frozenset(sides[0].decided.keys() & sides[1].decided.keys())
    return Revision(
        *sides,
        both=both,
        scored=frozenset(pair for pair in both if names[pair][0] in queries),
        queries=queries,
        bounded=bounded,
        decided_before=before.within(bounded),
        decided_after=after.within(bounded),
        only_before=len(before.qrels) - len(queries),
        only_after=len(after.qrels) - len(queries),
    )


def _name_pairs(study: Study, side: Side) -> dict[int, tuple[str, str]]:
    """External ids of query and document by the pair's position in the pool."""
    position = {int(key): place for place, key in enumerate(side.pool.key)}
    rows = Pair.objects.filter(study=study, pk__in=list(position)).values_list(
        "pk", "query__external_id", "document__external_id"
    )
    return {position[key]: (query, document) for key, query, document in rows.order_by()}


def _list_decided(side: Side, names: Mapping[int, tuple[str, str]]) -> Decided:
    qrels: dict[str, dict[str, int]] = {}
    dropped: dict[str, list[str]] = {}
    for pair, found in side.decided.items():
        query, document = names[pair]
        if found.grade is not None:
            qrels.setdefault(query, {})[document] = found.grade
        elif found.reason == "dropped":
            dropped.setdefault(query, []).append(document)
    return Decided(qrels, dropped)


def _describe_sides(revision: Revision, runs: Sequence[ScoredRun]) -> Json:
    """Both sides over the pairs that were labelled at least twice under either version."""
    twice = _labelled_twice(revision.before.table) & _labelled_twice(revision.after.table)
    pairs = np.array(sorted(twice), dtype=np.int64)
    before, after = (
        measure_side(side.table.select(np.isin(side.table.pair, pairs)))
        for side in (revision.before, revision.after)
    )
    return {
        "before": _describe_side(
            revision.before, before, [{"run": run.name, **run.told_before} for run in runs]
        ),
        "after": _describe_side(
            revision.after, after, [{"run": run.name, **run.told_after} for run in runs]
        ),
        "expected_moved": chance_has_moved(before.expected, after.expected),
    }


def _labelled_twice(table: LabelTable) -> frozenset[int]:
    starts: IntArray = table.pair_starts[table.pair_sizes >= 2]
    return frozenset(table.pair[starts].tolist())


def _describe_side(side: Side, agreement: SideAgreement, runs: Sequence[Json]) -> Json:
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
        "runs": runs,
    }


def _describe_dropped(side: Side) -> Json:
    """How many pairs are dropped, and their share of all that have a grade or are dropped."""
    dropped = sum(found.reason == "dropped" for found in side.decided.values())
    graded = sum(found.grade is not None for found in side.decided.values())
    share = find_dropped_share(dropped, graded)
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


def _score_runs(study: Study, revision: Revision, k: int) -> list[ScoredRun]:
    """Each run under either label set as it stands, over the queries that both label; where a pair
    is dropped on a side, both have their bounds, over the queries that both decide."""
    is_bounded = bool(revision.decided_before.dropped or revision.decided_after.dropped)

    def score(side: Side, decided: Decided) -> tuple[RunScores, Json]:
        by = Measuring(sorted(side.grade_names), side.relevant, k)
        scores = by.score(ranking, decided.within(revision.queries).qrels)
        bounds = by.bound(ranking, decided.qrels, decided.dropped) if is_bounded else None
        return scores, describe_scores(scores, bounds)

    scored = []
    for run in list_runs(study):
        ranking = read_ranking(run, revision.bounded)
        before, told_before = score(revision.before, revision.decided_before)
        after, told_after = score(revision.after, revision.decided_after)
        scored.append(ScoredRun(run.name, before, after, told_before, told_after))
    return scored


def _describe_run(run: ScoredRun, lost_pairs: int) -> Json:
    """Every measure before and after, and whether the lost hits are within their bound.

    Each query that lost its hit has a pair that lost `relevant`, so there are no more of these
    queries than of such pairs in the queries scored (`lost_pairs`), unless something else than the
    labels of these pairs changed.
    """
    lost = run.before.hits - run.after.hits
    return {
        "run": run.name,
        **{
            measure: {"before": run.told_before[measure], "after": run.told_after[measure]}
            for measure in MEASURES
        },
        "queries_lost": len(lost),
        "queries_won": len(run.after.hits - run.before.hits),
        "bound": lost_pairs,
        "within_bound": len(lost) <= lost_pairs,
    }

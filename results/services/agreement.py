"""The agreement of a scope, from the database's columns to the report's payload.

Imports numpy: only workers and commands import this module. `results.services.reports` is what
web processes know of it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from django.utils import timezone

from results.dropped import judge_dropped_share
from results.selectors.changes import (
    count_class_changes,
    count_label_changes,
    find_last_carried,
    stamp_plan,
)
from results.selectors.final_labels import count_final_changes, count_final_labels
from results.selectors.holes import name_holes
from results.selectors.labels import read_snapshot
from results.selectors.reports import REPORT_FORMAT
from results.selectors.targets import read_target
from results.services.columns import (
    ScopeLabels,
    keep_annotators,
    keep_class,
    leave_controls_out,
    read_labels,
)
from results.services.measuring import (
    count_people,
    diagnose_labels,
    is_human,
    measure_labels,
    name_queries,
)
from results.services.scopes import Scope, ScopeRounds, find_rounds
from results.services.self_agreement import describe_self_agreement
from results.services.third_vote import show_third_votes
from results.statistics.intervals import RESAMPLES
from results.targets import judge_targets
from studies.models import Round, Study
from studies.services.jobs import JobRefused

Json = dict[str, Any]
ReportStep = Callable[[str], None]


def compute_agreement(
    study: Study,
    *,
    scope: Scope,
    with_surplus: bool = False,
    resamples: int = RESAMPLES,
    step: ReportStep = lambda name: None,
) -> Json:
    """The whole report of a scope, JSON-ready; `docs/` names its keys.

    `step` is told what is being done. Raises UnknownScope, and JobRefused for a study that has
    no rubric, because there is no scale to measure on.
    """
    step("reading")
    with read_snapshot():
        # Read first: a label that arrives later makes the report look old, never too new.
        label_changes = count_label_changes(study, scope)
        carried = find_last_carried(study, scope)
        plan = stamp_plan(study, scope)
        class_changes = count_class_changes(study)
        final_changes = count_final_changes(study)
        pool_pairs = study.pairs.count()
        rounds = find_rounds(study, scope)
        read = read_labels(
            study,
            rounds,
            rubric=scope.rubric,
            with_controls=scope.with_controls,
            with_surplus=with_surplus,
        )
        finals = count_final_labels(study) if scope.is_current else None
        again = [
            found
            for round in rounds.labels
            if scope.round is not None and round.kind == Round.Kind.RELABEL
            for found in describe_self_agreement(study, round, resamples=resamples)
        ]
    if not read.vocabulary.scale:
        raise JobRefused("The study has no rubric yet, so there is no scale to measure on.")
    narrowed = _narrow(read, scope)
    step("measuring")
    measured = measure_labels(narrowed.measured, resamples)
    name_queries(measured)
    step("diagnosing")
    completeness = _describe_completeness(narrowed.asked)
    diagnosed = diagnose_labels(
        narrowed.compared, scope.query_class, rates=measured["classes"], resamples=resamples
    )
    payload = {
        "format": REPORT_FORMAT,
        **_describe_scope(study, scope, rounds, narrowed.measured),
        **completeness,
        "controls_left_out": narrowed.controls_left_out,
        **measured,
        **diagnosed,
        "targets": judge_targets(measured["cohen_kappa"], read_target(study)),
        "third_vote": _show_third_votes(study, scope, diagnosed["classes"]),
        "self_agreement": again,
        "final_labels": finals and _with_share(finals, completeness["pairs"]),
        "label_changes": label_changes,
        "carried": carried,
        "plan": plan,
        "class_changes": class_changes,
        "final_changes": final_changes,
        "pool_pairs": pool_pairs,
        "computed_at": timezone.now().isoformat(timespec="seconds"),
    }
    step("done")
    return payload


@dataclass(frozen=True, eq=False)
class _Narrowed:
    """The labels of a scope, narrowed as far as each use of them asks for.

    `asked` tells how far judging is, and knows all annotators; `compared` holds every class, so
    that one can be held against the others; `measured` is what the numbers are of.
    """

    asked: ScopeLabels
    compared: ScopeLabels
    measured: ScopeLabels
    controls_left_out: int


def _narrow(read: ScopeLabels, scope: Scope) -> _Narrowed:
    name = scope.query_class
    by_whom = keep_annotators(read, scope.annotators) if scope.annotators else read
    compared = by_whom if scope.with_controls else leave_controls_out(by_whom)
    if name is None:
        asked, with_controls, measured = read, by_whom, compared
    else:
        asked, with_controls, measured = (
            keep_class(labels, name) for labels in (read, by_whom, compared)
        )
    left_out = count_people(with_controls) - count_people(measured)
    return _Narrowed(asked, compared, measured, left_out)


def _show_third_votes(study: Study, scope: Scope, classes: list[Json]) -> list[Json]:
    """What a third vote would do in the holes of the current labels; nothing in other scopes."""
    return show_third_votes(study, name_holes(classes)) if scope == Scope() else []


def _with_share(finals: Json, pairs: int) -> Json:
    """The counts of final labels with the dropped pairs' share of the pool."""
    share = finals["dropped"] / pairs if pairs else None
    return {**finals, "dropped_share": share, "dropped_warning": judge_dropped_share(share) or None}


def _describe_scope(study: Study, scope: Scope, rounds: ScopeRounds, read: ScopeLabels) -> Json:
    by_version = np.bincount(read.labels.rubric)
    given = [int(number) for number in np.flatnonzero(by_version)]
    in_force = {round.rubric_version.number for round in rounds.labels}
    versions = [scope.rubric] if scope.rubric is not None else given or sorted(in_force)
    return {
        "study": study.slug,
        "title": study.title,
        "scope": scope.key,
        "rounds": [round.name for round in rounds.labels],
        "rubric_version": versions[0] if len(versions) == 1 else None,
        "rubric_versions": {str(number): int(by_version[number]) for number in given},
        "judges_read_results": study.judges_read_results,
        "grades": [
            {"value": value, "name": name} for value, name in read.vocabulary.grade_names.items()
        ],
    }


def _describe_completeness(read: ScopeLabels) -> Json:
    """How far the collection is: people's outcomes, a grade or unsure, against the plan.

    Of the pairs that a run returned, control pairs among them or not, as exports count them;
    whatever control pairs the measures take in.
    """
    pool = read.pool
    outcomes = np.bincount(read.labels.pair[is_human(read)], minlength=len(pool.key))
    planned = pool.planned[pool.query]
    is_open = pool.is_returned & ((outcomes < planned) | (planned == 0))
    queries = len(pool.planned)
    asked = int(pool.is_asked.sum())
    pairs_by_query = np.bincount(pool.query[pool.is_returned], minlength=queries)
    open_by_query = np.bincount(pool.query[is_open], minlength=queries)
    return {
        "queries": asked,
        "queries_fully_judged": int(((pairs_by_query > 0) & (open_by_query == 0)).sum()),
        "pairs": int(pool.is_returned.sum()),
        "surplus": read.surplus,
        "missing": int(np.maximum(planned - outcomes, 0)[pool.is_returned].sum()),
        "pairs_beyond_plan": int((pool.is_returned & (planned > 0) & (outcomes > planned)).sum()),
    }

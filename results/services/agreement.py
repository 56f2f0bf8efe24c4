"""The agreement of a scope, from the database's columns to the report's payload.

Imports numpy: only workers and commands import this module. `results.services.reports` is what
web processes know of it.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from django.utils import timezone

from results.dropped import judge_dropped_share
from results.selectors.final_labels import count_final_changes, count_final_labels
from results.selectors.labels import read_snapshot
from results.selectors.reports import REPORT_FORMAT
from results.services.columns import (
    UNSURE,
    ScopeLabels,
    build_table,
    leave_controls_out,
    read_labels,
)
from results.services.scopes import Scope, ScopeRounds, find_rounds
from results.services.self_agreement import describe_self_agreement
from results.statistics.diagnosis import diagnose
from results.statistics.intervals import RESAMPLES
from results.statistics.report import describe_agreement, describe_splits
from results.statistics.table import BoolArray, LabelTable
from studies.models import Round, Study
from studies.selectors import count_label_changes
from studies.services.jobs import JobRefused

Json = dict[str, Any]
ReportStep = Callable[[str], None]


def compute_agreement(
    study: Study,
    *,
    scope: Scope,
    with_controls: bool = False,
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
        label_changes = count_label_changes(study)
        final_changes = count_final_changes(study)
        pool_pairs = study.pairs.count()
        rounds = find_rounds(study, scope)
        read = read_labels(
            study,
            rounds,
            rubric=scope.rubric,
            with_controls=with_controls,
            with_surplus=with_surplus,
        )
        finals = count_final_labels(study) if scope == Scope() else None
        again = [
            found
            for round in rounds.labels
            if scope.round is not None and round.kind == Round.Kind.RELABEL
            for found in describe_self_agreement(study, round, resamples=resamples)
        ]
    if not read.vocabulary.scale:
        raise JobRefused("The study has no rubric yet, so there is no scale to measure on.")
    described = read if with_controls else leave_controls_out(read)
    table = build_table(described)
    step("measuring")
    measured = _measure(described, table, resamples)
    step("diagnosing")
    completeness = _describe_completeness(read)
    payload = {
        "format": REPORT_FORMAT,
        **_describe_scope(study, scope, rounds, read),
        **completeness,
        "controls_left_out": _count_people(read) - _count_people(described),
        **measured,
        **_diagnose(described, table, measured["classes"]),
        "self_agreement": again,
        "final_labels": finals and _with_share(finals, completeness["pairs"]),
        "label_changes": label_changes,
        "final_changes": final_changes,
        "pool_pairs": pool_pairs,
        "computed_at": timezone.now().isoformat(timespec="seconds"),
    }
    step("done")
    return payload


def _with_share(finals: Json, pairs: int) -> Json:
    """The counts of final labels with the dropped pairs' share of the pool."""
    share = finals["dropped"] / pairs if pairs else None
    return {**finals, "dropped_share": share, "dropped_warning": judge_dropped_share(share) or None}


def _describe_scope(study: Study, scope: Scope, rounds: ScopeRounds, read: ScopeLabels) -> Json:
    newest = max((round.rubric_version.number for round in rounds.labels), default=None)
    by_version = np.bincount(read.labels.rubric)
    return {
        "study": study.slug,
        "title": study.title,
        "scope": scope.key,
        "rounds": [round.name for round in rounds.labels],
        "rubric_version": scope.rubric if scope.rubric is not None else newest,
        "rubric_versions": {
            str(number): int(by_version[number]) for number in np.flatnonzero(by_version).tolist()
        },
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
    outcomes = np.bincount(read.labels.pair[_is_human(read)], minlength=len(pool.key))
    planned = pool.planned[pool.query]
    is_open = pool.is_returned & ((outcomes < planned) | (planned == 0))
    queries = len(pool.planned)
    pairs_by_query = np.bincount(pool.query[pool.is_returned], minlength=queries)
    open_by_query = np.bincount(pool.query[is_open], minlength=queries)
    return {
        "queries": queries,
        "queries_fully_judged": int(((pairs_by_query > 0) & (open_by_query == 0)).sum()),
        "pairs": int(pool.is_returned.sum()),
        "surplus": read.surplus,
        "missing": int(np.maximum(planned - outcomes, 0)[pool.is_returned].sum()),
        "pairs_beyond_plan": int((pool.is_returned & (planned > 0) & (outcomes > planned)).sum()),
    }


def _count_people(read: ScopeLabels) -> int:
    return int(_is_human(read).sum())


def _is_human(read: ScopeLabels) -> BoolArray:
    return ~np.isin(read.labels.annotator, list(read.vocabulary.machine))


def _measure(read: ScopeLabels, table: LabelTable, resamples: int) -> Json:
    labels, machine = read.labels, read.vocabulary.machine
    count = len(read.vocabulary.annotator_names)
    unsure = np.bincount(labels.annotator[labels.grade == UNSURE], minlength=count)
    is_timed = ~np.isnan(labels.seconds)
    timed = np.bincount(labels.annotator[is_timed], minlength=count)
    seconds = np.bincount(
        labels.annotator[is_timed], weights=labels.seconds[is_timed], minlength=count
    )
    is_counted = is_timed & _is_human(read)
    return {
        **describe_agreement(
            table,
            machine=machine,
            unsure=dict(enumerate(unsure.tolist())),
            active_seconds={code: float(seconds[code]) for code in np.flatnonzero(timed).tolist()},
            timed=dict(enumerate(timed.tolist())),
            resamples=resamples,
        ),
        **describe_splits(table, machine=machine, dimensions=read.vocabulary.dimension_names),
        "pairs_labelled": _count_labelled(read),
        "without_dimension": int((table.without(machine).dimension < 0).sum()),
        "active_seconds": float(labels.seconds[is_counted].sum()) if is_counted.any() else None,
        "timed": int(is_counted.sum()),
    }


def _diagnose(read: ScopeLabels, table: LabelTable, classes: list[Json]) -> Json:
    """The diagnosis; what it finds of a class joins the rates of that class."""
    found = diagnose(
        table,
        dimension_names=read.vocabulary.dimension_names,
        machine=read.vocabulary.machine,
    ).to_json()
    by_name = {row["class"]: row for row in found["classes"]}
    return {**found, "classes": [{**row, **by_name.get(row["class"], {})} for row in classes]}


def _count_labelled(read: ScopeLabels) -> int:
    """Pairs that at least one person has given a grade."""
    rows = _is_human(read) & (read.labels.grade != UNSURE)
    return int(np.count_nonzero(np.bincount(read.labels.pair[rows])))

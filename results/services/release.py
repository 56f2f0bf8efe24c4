"""What the release rests on, counted on the whole of the exports: queries by class, the exports
looked into, and how the runs score, with the pairs that were dropped at their worst and best.

Imports ir_measures: only workers and commands import this module.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.utils import timezone

from results.dropped import MEASURES
from results.inspection import inspect_qrels, inspect_table
from results.models import ReleaseReport
from results.selectors.labels import read_snapshot, stream_pair_labels
from results.selectors.release import RELEASE_FORMAT, read_basis
from results.services.exports.decisions import DecidedQuery, decide_queries
from results.services.exports.service import count_consensus, read_entry, read_lines
from results.services.retrieval import (
    Measuring,
    choose_measuring,
    list_runs,
    read_ranking,
)
from studies.models import Grade, Query, Run, Study

Json = dict[str, Any]
ReleaseStep = Callable[[str], None]


@dataclass(slots=True)
class Released:
    """The grades that are exported and the documents that were dropped, by query id. A query
    that was dropped whole is in `dropped` only; withheld ones are in neither."""

    qrels: dict[str, dict[str, int]] = field(default_factory=dict)
    dropped: dict[str, list[str]] = field(default_factory=dict)


def compute_release(study: Study, *, step: ReleaseStep = lambda name: None) -> ReleaseReport:
    """Count it all from one snapshot, and store it in the place of what was counted before."""
    with read_snapshot():
        # Read first: what arrives later makes the report look old, never too new.
        basis = read_basis(study)
        step("deciding")
        counts, released = _decide(study)
        step("looking")
        exports = list(_inspect_exports(study))
        step("scoring")
        payload = {
            "format": RELEASE_FORMAT,
            "counts": counts,
            "classes": _count_classes(study, released),
            "exports": exports,
            "systems": _score_runs(study, released),
        }
    report, _is_new = ReleaseReport.objects.update_or_create(
        study=study,
        defaults={"payload": payload, "basis": basis, "computed_at": timezone.now()},
    )
    return report


def _decide(study: Study) -> tuple[Json, Released]:
    """The counts that the manifest of the consensus has, and what they were counted from."""
    manifest = count_consensus(study)
    released = Released()
    queries = decide_queries(
        stream_pair_labels(study),
        minimum_votes=study.minimum_votes,
        of_one_annotator=False,
        policy=manifest.policy,
    )
    for query in queries:
        manifest.count_query(query)
        _keep(query, released)
    return {**manifest.counts, "dropped_share": manifest.dropped_share}, released


def _keep(query: DecidedQuery, released: Released) -> None:
    is_dropped_whole = all(pair.is_dropped for pair in query.pairs)
    if query.is_withheld and not is_dropped_whole:
        return
    if not is_dropped_whole:
        released.qrels[query.query_id] = {document: grade for _, document, grade in query.rows()}
    dropped = [pair.labels.document_id for pair in query.pairs if pair.is_dropped]
    if dropped:
        released.dropped[query.query_id] = dropped


def _count_classes(study: Study, released: Released) -> list[Json]:
    """Each class (None: no class) with its queries that are exported."""
    rows = Query.objects.filter(study=study).values_list("external_id", "query_class__name")
    judged = Counter(name for query_id, name in rows if query_id in released.qrels)
    return [{"class": name, "judged": count} for name, count in judged.items()]


def _inspect_exports(study: Study) -> Iterator[Json]:
    """The files of labels, made as a download makes them and looked into line by line."""
    values = Grade.objects.filter(rubric_version__study=study).values_list("value", flat=True)
    scale = frozenset(str(value) for value in values)
    lines, found = inspect_qrels(read_lines(study, "consensus-qrels"), scale)
    yield {"kind": "consensus-qrels", "lines": lines, "findings": found}
    lines, found = inspect_table("ground-truth", read_lines(study, "ground-truth"), scale)
    yield {"kind": "ground-truth", "lines": lines, "findings": found}
    try:
        lines, found = inspect_table("beir", read_entry(study, "beir", "qrels/test.tsv"), scale)
    except ValueError:
        # An id that BEIR cannot read: this kind cannot be exported at all, and says so there.
        return
    yield {"kind": "beir", "lines": lines, "findings": found}


def _score_runs(study: Study, released: Released) -> Json:
    by = choose_measuring(study)
    whole = released.dropped.keys() - released.qrels.keys()
    return {
        "k": by.k,
        "relevant_from": by.relevant,
        "queries": len(released.qrels),
        "queries_dropped": len(whole),
        "pairs_dropped": sum(len(found) for found in released.dropped.values()),
        "runs": [{"run": run.name, **_score_run(run, released, by)} for run in list_runs(study)],
    }


def _score_run(run: Run, released: Released, by: Measuring) -> Json:
    """Each measure as it stands; with dropped pairs also at its worst and its best."""
    ranking = read_ranking(run, released.qrels.keys() | released.dropped.keys())
    told = by.describe(ranking, released.qrels, released.dropped)
    worst, best = told["worst"] or {}, told["best"] or {}
    return {
        name: {"value": told[name], "worst": worst.get(name), "best": best.get(name)}
        for name in MEASURES
    }

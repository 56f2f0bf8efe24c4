"""Runs: a row for each query that a run ranks. A ranking may grow at its end, nowhere else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import count
from typing import NamedTuple

from django.db.backends.utils import CursorWrapper

from studies.formats.records import RunHit
from studies.formats.runs import rank_hits
from studies.models import Run, Study
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import (
    EXTERNAL_ID,
    Watch,
    count_of_no_query,
    execute,
    fetch,
    refresh_statistics,
    stage,
)

COLUMNS = {
    "place": "integer",
    "run_id": "bigint",
    "query_id": EXTERNAL_ID,
    "document_ids": 'text[] COLLATE "C"',
    "scores": "double precision[]",
}

KNOWN = """
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
LEFT JOIN studies_ranking known ON known.run_id = s.run_id AND known.query_id = q.id
"""

# Of two rankings that are one as far as both go, the longer one is the shorter one grown.
FIND_OTHERWISE = f"""
SELECT s.place, known.document_ids, known.scores
FROM staged_ranking s
{KNOWN}
CROSS JOIN LATERAL least(cardinality(s.document_ids), cardinality(known.document_ids)) AS shared
WHERE (s.document_ids[:shared], s.scores[:shared])
    <> (known.document_ids[:shared], known.scores[:shared])
ORDER BY s.place
"""  # noqa: S608 - put together from constants

COUNT_NEW = f"""
SELECT coalesce(sum(greatest(
    cardinality(s.document_ids) - coalesce(cardinality(known.document_ids), 0), 0)), 0)
FROM staged_ranking s
{KNOWN}
"""  # noqa: S608 - put together from constants

ADD_RANKINGS = """
INSERT INTO studies_ranking AS known (run_id, query_id, document_ids, scores)
SELECT s.run_id, q.id, s.document_ids, s.scores
FROM staged_ranking s
JOIN studies_query q ON q.study_id = %(study)s AND q.external_id = s.query_id
ON CONFLICT (run_id, query_id) DO UPDATE
SET document_ids = excluded.document_ids, scores = excluded.scores
WHERE cardinality(excluded.document_ids) > cardinality(known.document_ids)
"""


class _Given(NamedTuple):
    """What a file of runs says of one query: the hits in their order."""

    file: str
    run_id: int
    hits: list[RunHit]

    def row(self, place: int) -> tuple[object, ...]:
        return (
            place,
            self.run_id,
            self.hits[0].query_id,
            [hit.doc_id for hit in self.hits],
            [hit.score for hit in self.hits],
        )


def add_runs(
    cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport, watch: Watch
) -> None:
    """Add runs and their hits, all of them and not only those above the pool's depth.

    A hit that the study's run of this name has elsewhere is a conflict.
    """
    given = list(_list_given(plan, _add_run_rows(study, plan, report)))
    groups = ((len(one.hits), one.row(place)) for place, one in enumerate(given))
    stage(cursor, "staged_ranking", COLUMNS, watch.groups(groups, "runs"))
    moved, moved_below = _refuse_moved(cursor, study, given, report)
    ((longer,),) = fetch(cursor, COUNT_NEW, {"study": study.pk})
    if longer:
        execute(cursor, ADD_RANKINGS, {"study": study.pk})
        refresh_statistics(cursor, "studies_ranking (run_id, query_id)")
    hits = "coalesce(sum(cardinality(s.document_ids)), 0)"
    lost = count_of_no_query(cursor, "staged_ranking", study, counted=hits)
    read = sum(len(one.hits) for one in given)
    report.count("run hits", read=read, new=longer - moved_below, odd=moved + lost)


def _add_run_rows(study: Study, plan: StudyPlan, report: ImportReport) -> dict[str, int]:
    known = dict(study.runs.values_list("name", "pk"))
    new = [run for run in plan.runs if run.name not in known]
    made = Run.objects.bulk_create(Run(study=study, name=run.name, tag=run.tag) for run in new)
    report.count("runs", read=len(plan.runs), new=len(new))
    return known | {run.name: run.pk for run in made}


def _list_given(plan: StudyPlan, run_ids: dict[str, int]) -> Iterator[_Given]:
    for path, run in zip(plan.folder.runs, plan.runs, strict=True):
        for hits in rank_hits(run).values():
            yield _Given(f"runs/{path.name}", run_ids[run.name], hits)


def _refuse_moved(
    cursor: CursorWrapper, study: Study, given: Sequence[_Given], report: ImportReport
) -> tuple[int, int]:
    """Refuse hits that the study's run has otherwise, query by query. Returns how many they are,
    and how many of them stand below the end of the study's ranking."""
    total = below = 0
    for place, document_ids, scores in fetch(cursor, FIND_OTHERWISE, {"study": study.pk}):
        file, _, hits = given[place]
        moved = list(_list_moved(hits, document_ids, scores))
        reason = (
            f"the study's run of this name ranks {len(moved):,} of the hits for the query "
            f"{hits[0].query_id} otherwise; give another ranking another name"
        )
        line = min(hit.line for _, hit in moved)
        report.conflict("run hits", file, line, reason, rows=len(moved))
        total += len(moved)
        below += sum(rank > len(document_ids) for rank, _ in moved)
    return total, below


def _list_moved(
    hits: Sequence[RunHit], document_ids: Sequence[str], scores: Sequence[float]
) -> Iterator[tuple[int, RunHit]]:
    """The hits, with their ranks from 1, whose document the known ranking has elsewhere or with
    another score, or whose rank it gives to another document."""
    places = dict(zip(document_ids, zip(count(1), scores), strict=False))
    for rank, hit in enumerate(hits, start=1):
        place = places.get(hit.doc_id)
        if place != (rank, hit.score) if place else rank <= len(document_ids):
            yield rank, hit

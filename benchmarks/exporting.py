"""Exports of 20,000 judgments, as the page streams them; a bare COPY of the same rows beside it."""

from collections.abc import Iterator

from django.db import connection

from benchmarks.measuring import Measurement, cost_of
from benchmarks.scratch import make_scratch_study
from results.services.exports import stream_export
from studies.models import Study

QUERIES, DEPTH = 200, 50
KINDS = ("judgments", "consensus-qrels", "training-pairs")
COPY_ROWS = """
COPY (
    SELECT q.external_id, d.external_id, m.name, j.grade, dim.name, j.note, j.active_seconds,
        j.judged_at
    FROM annotation_judgment j
    JOIN studies_pair p ON p.id = j.pair_id
    JOIN studies_query q ON q.id = p.query_id
    JOIN studies_document d ON d.id = p.document_id
    JOIN studies_member m ON m.id = j.annotator_id
    JOIN studies_dimension dim ON dim.id = j.decided_by_id
    WHERE p.study_id = {study}
    ORDER BY q.external_id, d.external_id
) TO STDOUT
"""


def measure() -> Iterator[Measurement]:
    scratch = make_scratch_study(queries=QUERIES, depth=DEPTH)
    study, size = scratch.study, f"{scratch.judgments:,} judgments"
    cost, _ = cost_of(lambda: copy_rows(study))
    yield cost.measured("  beside it: the same rows copied out, bare", size)
    for kind in KINDS:
        cost, _ = cost_of(lambda kind=kind: drain(study, kind))
        yield cost.measured(f"export: {kind}", size)


def drain(study: Study, kind: str) -> int:
    """The export's bytes, each let go as soon as it is there."""
    return sum(len(chunk) for chunk in stream_export(study, kind))


def copy_rows(study: Study) -> int:
    statement = COPY_ROWS.format(study=study.pk)
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        return sum(len(chunk) for chunk in copy)

"""A million judgments: reading them, measuring them, and the naive way beside it."""

from collections.abc import Iterator

from annotation.models import Judgment
from benchmarks.measuring import Measurement, best_of
from benchmarks.scratch import make_scratch_study
from results.selectors.labels import read_snapshot
from results.services.agreement import compute_agreement
from results.services.columns import ScopeLabels, build_table, read_labels
from results.services.packed import copy_rows
from results.services.scopes import Scope, find_rounds
from results.statistics.report import describe_agreement
from studies.models import Study

ROW_BY_ROW = """
SELECT p.query_id, j.pair_id, j.annotator_id, j.grade, j.decided_by_id, j.clause_id
FROM annotation_judgment j
JOIN studies_pair p ON p.id = j.pair_id
WHERE p.study_id = {study}
"""
TYPES = ("int8", "int8", "int8", "int2", "int8", "int8")


def measure() -> Iterator[Measurement]:
    scratch = make_scratch_study()
    study, size = scratch.study, f"{scratch.judgments:,} judgments"

    def read() -> ScopeLabels:
        with read_snapshot():
            return read_labels(study, find_rounds(study, Scope()))

    seconds, labels = best_of(read)
    yield Measurement("agreement: read as columns, packed COPY", size, seconds)
    seconds, table = best_of(lambda: build_table(labels))
    yield Measurement("agreement: label table", size, seconds)
    for name, resamples in (("without intervals", 1), ("with intervals", 1000)):
        seconds, _ = best_of(
            lambda resamples=resamples: describe_agreement(
                table, unsure={}, active_seconds={}, timed={}, resamples=resamples
            )
        )
        yield Measurement(f"agreement: statistics {name}", size, seconds)
    seconds, _ = best_of(lambda: compute_agreement(study, scope=Scope()))
    yield Measurement("agreement: the whole report", size, seconds)
    yield from measure_other_ways(study, size)


def measure_other_ways(study: Study, size: str) -> Iterator[Measurement]:
    """What the packed COPY is compared with; once each, for they are slow."""
    seconds, _ = best_of(lambda: copy_rows(ROW_BY_ROW, {"study": study.pk}, TYPES), repeats=1)
    yield Measurement("  beside it: COPY row by row", size, seconds)
    rows = Judgment.objects.filter(pair__study=study)
    columns = ("pair__query", "pair", "annotator", "grade", "decided_by", "clause")
    seconds, _ = best_of(lambda: list(rows.values_list(*columns)), repeats=1)
    yield Measurement("  beside it: ORM, tuples", size, seconds)
    seconds, _ = best_of(lambda: list(rows.select_related("pair")), repeats=1)
    yield Measurement("  beside it: ORM, model instances", size, seconds)

"""A million judgments: reading them, measuring them, and the naive way beside it."""

import time
from collections.abc import Iterator
from http import HTTPStatus

from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.models import Judgment
from benchmarks.in_child import compute_apart
from benchmarks.measuring import Measurement, best_of
from benchmarks.scratch import make_scratch_study
from results.contexts import TABS
from results.selectors.labels import read_snapshot
from results.services.agreement import compute_agreement
from results.services.columns import ScopeLabels, build_table, read_labels
from results.services.export_accounts import run_account
from results.services.outcomes import update_outcomes
from results.services.packed import copy_rows
from results.services.reports import run_agreement
from results.services.scopes import Scope, find_rounds
from results.statistics.agreement import cohen_kappa, confusions, krippendorff_alpha
from results.statistics.report import describe_agreement
from studies.models import Member, Role, Study, User

RESAMPLES_ASKED = 2_000
# The labels of the scratch study are written past the triggers, which would have named these.
CHANGED_PAIRS = """
INSERT INTO results_changedpair (pair_id, study_id)
SELECT id, study_id FROM studies_pair WHERE study_id = %(study)s
"""

ROW_BY_ROW = """
SELECT p.query_id, j.pair_id, j.annotator_id, j.grade, j.decided_by_id, j.clause_id
FROM annotation_judgment j
JOIN studies_pair p ON p.id = j.pair_id
WHERE p.study_id = {study}
"""
TYPES = ("int8", "int8", "int8", "int2", "int8", "int8")


def measure() -> Iterator[Measurement]:
    scratch = make_scratch_study(annotators=[f"annotator {n}" for n in range(1, 21)])
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
    yield from measure_kappas(study, size)
    yield from measure_resamples(study, size)
    yield from measure_pages(study, size)
    yield from measure_other_ways(study, size)


def measure_kappas(study: Study, size: str) -> Iterator[Measurement]:
    """κ of every two of twenty annotators and α, from the database to the numbers."""

    def work() -> None:
        with read_snapshot():
            labels = read_labels(study, find_rounds(study, Scope()))
        table = build_table(labels)
        for confusion in confusions(table).values():
            cohen_kappa(confusion)
        krippendorff_alpha(table)

    before = time.process_time()
    seconds, _ = best_of(work)
    processor = (time.process_time() - before) / 3
    yield Measurement("agreement: κ of all pairs and α, from the database", size, seconds)
    yield Measurement("  the same, processor time of Python", size, processor)


def measure_resamples(study: Study, size: str) -> Iterator[Measurement]:
    spent = compute_apart(connection.settings_dict["NAME"], study.pk, RESAMPLES_ASKED)
    name = f"agreement: the whole report, {RESAMPLES_ASKED:,} resamples"
    yield Measurement(name, size, spent.wall)
    yield Measurement("  the same, processor time of Python", size, spent.processor)
    yield Measurement("  the same, peak of memory", size, spent.peak, unit="MiB")


def measure_pages(study: Study, size: str) -> Iterator[Measurement]:
    """Every tab of the results with what they show stored, through the test client."""
    run_agreement(study, scope=Scope())
    with connection.cursor() as cursor:
        cursor.execute(CHANGED_PAIRS, {"study": study.pk})
    update_outcomes(study)
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    run_account(study, None)
    lead = User.objects.create_user("lead of the benchmark")
    Member.objects.create(study=study, name="lead", user=lead, roles=[Role.LEAD])
    client = Client()
    client.force_login(lead)
    for view, label in (*TABS, ("results:pairs", "Pairs side by side")):
        url = reverse(view, args=[study.slug])
        seconds, response = best_of(lambda url=url: client.get(url), repeats=5)
        assert response.status_code == HTTPStatus.OK
        yield Measurement(f"agreement: the stored page, {label}", size, seconds * 1000, unit="ms")


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

"""Reports: their numbers, their age, the job that makes them, and the document."""

import json
import subprocess
import sys
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone, translation

from annotation.models import CarriedLabel, Judgment
from config.celery import app
from results import wording
from results.markdown import render_payload
from results.models import AgreementReport
from results.selectors.changes import count_changed_labels
from results.selectors.reports import COMPUTE_AGREEMENT
from results.services import agreement
from results.services.agreement import compute_agreement
from results.services.reports import (
    NoReport,
    is_stale,
    refresh,
    render_markdown,
    run_agreement,
)
from results.services.scopes import Scope
from studies.models import ControlPair, Job, Member, Study, Unblinding
from studies.services.jobs import run_job
from tests import factories as make
from tests.cast import Cast
from tests.conftest import ROOT
from tests.pages import log_in, post_form, read_forms
from tests.results.documented import list_undocumented_keys
from tests.results.exported import describe_json, judge
from tests.results.labelled import label, label_cast

KEYS = {
    "study", "rounds", "rubric_version", "queries", "queries_fully_judged", "pairs",
    "pairs_labelled_twice", "judgments", "unsure", "labels", "raw_agreement", "splits",
    "cohen_kappa", "krippendorff_alpha", "gwet_ac1", "classes", "annotators", "machine_kappa",
    "computed_at", "active_seconds", "leniency", "study_verdict", "study_advice",
    "study_sentences", "decided_by", "decided_by_on_splits", "missing", "controls_left_out",
    "splits_interval95", "self_agreement",
}  # fmt: skip


@pytest.fixture(autouse=True, scope="module")
def as_in_a_worker() -> None:
    """Find the kinds of jobs the way a worker finds them when it starts."""
    app.loader.import_default_modules()


def payload_of(cast: Cast, *, with_controls: bool = False) -> dict:
    return compute_agreement(cast.study, scope=Scope(with_controls=with_controls))


def test_report_has_every_documented_key_and_is_json(cast: Cast) -> None:
    label_cast(cast)
    payload = payload_of(cast)
    assert set(payload) >= KEYS
    assert json.loads(json.dumps(payload, allow_nan=False)) == payload
    assert list_undocumented_keys(payload) == []


def test_report_counts_what_was_judged(cast: Cast) -> None:
    label_cast(cast)
    payload = payload_of(cast)
    assert (payload["study"], payload["rounds"], payload["rubric_version"]) == (
        "alpha",
        ["main"],
        1,
    )
    assert (payload["queries"], payload["queries_fully_judged"], payload["pairs"]) == (3, 3, 9)
    assert (payload["judgments"], payload["pairs_labelled_twice"], payload["splits"]) == (18, 9, 2)
    assert payload["labels"] == {"0": 7, "1": 8, "2": 3}
    assert payload["raw_agreement"] == {"value": pytest.approx(7 / 9), "comparisons": 9}
    assert (payload["active_seconds"], payload["timed"]) == (36.0, 18)


def test_an_unknown_active_time_is_no_zero_and_in_no_sum(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [1, 1])
    make.make_judgment(cast.main, cast.pairs[2], cast.ana, 0, source="import", active_seconds=None)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 0, source="import", active_seconds=None)
    payload = payload_of(cast)
    assert (payload["active_seconds"], payload["timed"]) == (4.0, 2)
    times = {row["name"]: (row["active_seconds"], row["timed"]) for row in payload["annotators"]}
    assert (times["ana"], times["ben"]) == ((4.0, 2), (None, 0))


def test_a_study_without_any_known_time_says_so(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 0, source="import", active_seconds=None)
    assert payload_of(cast)["active_seconds"] is None
    run_agreement(cast.study, scope=Scope())
    page = log_in(cast.lia).get("/studies/alpha/results/").content.decode()
    assert "active time unknown" in page
    assert "0 s" not in page


def test_kappa_is_that_of_the_confusion_matrix(cast: Cast) -> None:
    label_cast(cast)
    (kappa,) = payload_of(cast)["cohen_kappa"]
    assert (kappa["a"], kappa["b"], kappa["pairs"]) == ("ana", "ben", 9)
    assert kappa["confusion"] == [[3, 1, 0], [0, 3, 0], [0, 1, 1]]
    # Observed 7/9; by chance (4*3 + 3*5 + 2*1)/81 = 29/81 (Cohen 1960).
    assert kappa["nominal"] == pytest.approx((63 - 29) / (81 - 29))


def test_class_stands_against_the_rest(cast: Cast) -> None:
    label_cast(cast)
    row = next(row for row in payload_of(cast)["classes"] if row["class"] == "procedural")
    assert (row["splits"], row["pairs"]) == (2, 3)
    assert (row["rest_splits"], row["rest_pairs"]) == (0, 6)


def test_one_more_split_moves_every_number(cast: Cast) -> None:
    label_cast(cast)
    before = payload_of(cast)
    judgment = cast.ben.judgments.get(pair=cast.pairs[8])
    judgment.grade = 2
    judgment.save()
    after = payload_of(cast)
    for key in ("labels", "raw_agreement", "splits", "cohen_kappa", "krippendorff_alpha",
                "gwet_ac1", "classes", "annotators"):  # fmt: skip
        assert before[key] != after[key], key


def test_unsure_counts_as_an_outcome_and_enters_no_table(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, None])
    label(cast.main, cast.ben, cast.pairs, [1, 1, 1, 0, 1, 2, 0, 0, 1])
    payload = payload_of(cast)
    assert (payload["unsure"], payload["pairs_labelled_twice"]) == (1, 8)
    assert (payload["queries_fully_judged"], payload["missing"]) == (3, 0)


def test_query_is_fully_judged_only_when_every_pair_is(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:6], [0] * 6)
    label(cast.main, cast.ben, cast.pairs[:5], [0] * 5)
    payload = payload_of(cast)
    assert payload["queries_fully_judged"] == 1
    assert payload["missing"] == 7


def test_machine_fills_no_place_and_stands_in_a_list_of_its_own(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, 1])
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    label(cast.main, machine, cast.pairs, [0] * 9)
    payload = payload_of(cast)
    assert (payload["queries_fully_judged"], payload["judgments"]) == (0, 9)
    assert payload["cohen_kappa"] == []
    assert [(row["a"], row["b"]) for row in payload["machine_kappa"]] == [("ana", "judge-llm")]


def test_more_labels_than_planned_count_and_are_told(cast: Cast) -> None:
    label_cast(cast)
    imported = make.make_member(cast.study, "zoe", with_account=False)
    label(cast.main, imported, cast.pairs[:2], [0, 1])
    payload = payload_of(cast)
    assert (payload["pairs_beyond_plan"], payload["judgments"]) == (2, 20)


def test_judgments_of_control_pairs_left_out_are_told_and_add_up_with_the_manifest(
    cast: Cast,
) -> None:
    label_cast(cast)
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    label(cast.main, machine, cast.pairs[:1], [0])
    hidden = make.make_pair(cast.pairs[0].query, pool_rank=None)
    label(cast.main, cast.ana, [hidden], [None])
    for pair in (cast.pairs[0], hidden):
        ControlPair.objects.create(pair=pair, grade=0, decided_by="answerability")
    payload, counts = payload_of(cast), describe_json(cast.study, "consensus-qrels")["counts"]
    assert (payload["controls_left_out"], payload["judgments"]) == (2, 16)
    assert counts["judgments"] == 18
    assert payload_of(cast, with_controls=True)["controls_left_out"] == 0
    assert "2 judgments of control pairs stay out of these numbers." in render_payload(payload)


def test_how_far_judging_is_does_not_hang_on_control_pairs(cast: Cast) -> None:
    label_cast(cast)
    hidden = make.make_pair(cast.pairs[0].query, pool_rank=None)
    ControlPair.objects.create(pair=hidden, grade=0, decided_by="answerability")
    for with_controls in (False, True):
        payload = payload_of(cast, with_controls=with_controls)
        told = [payload[key] for key in ("pairs", "missing", "queries_fully_judged")]
        assert told == [9, 0, 3]


def test_control_pair_moves_no_number_but_the_pool(cast: Cast) -> None:
    label_cast(cast)
    ControlPair.objects.create(pair=cast.pairs[0], grade=0, decided_by="recency")
    payload = payload_of(cast)
    assert (payload["pairs"], payload["pairs_labelled_twice"], payload["splits"]) == (9, 8, 1)
    assert payload_of(cast, with_controls=True)["splits"] == 2


def test_study_without_labels_is_undefined_with_reasons(cast: Cast) -> None:
    payload = payload_of(cast)
    assert payload["krippendorff_alpha"]["nominal"]["value"] is None
    assert payload["raw_agreement"]["reason"].startswith("nothing shared")
    assert payload["queries_fully_judged"] == 0


def test_new_label_makes_the_report_stale_and_a_run_refreshes_it(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    report = run_agreement(cast.study, scope=Scope())
    assert not is_stale(report)
    label(cast.main, cast.ben, cast.pairs[:2], [0, 1])
    assert is_stale(report)
    assert count_changed_labels(report) == 2
    again = run_agreement(cast.study, scope=Scope())
    assert (again.pk, again.payload["judgments"], is_stale(again)) == (report.pk, 4, False)


def test_labels_of_rounds_outside_of_a_scope_leave_its_report_fresh(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    others = [
        make.make_round(cast.study, f"a {kind}", kind=kind) for kind in ("calibration", "relabel")
    ]
    reports = [run_agreement(cast.study, scope=scope) for scope in (Scope(), Scope(round="main"))]
    for round in others:
        label(round, cast.ben, cast.pairs[:2], [0, 1])
    assert not any(map(is_stale, reports))
    assert not is_stale(run_agreement(cast.study, scope=Scope(round="a relabel")))
    label(make.make_round(cast.study, "again", kind="recheck"), cast.ana, cast.pairs[:1], [2])
    assert [is_stale(report) for report in reports] == [True, False]


def test_a_relabel_round_rests_on_the_earlier_labels_too(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    again = make.make_round(cast.study, "again", kind="relabel", position=1)
    label(again, cast.ana, cast.pairs[:2], [0, 1])
    report = run_agreement(cast.study, scope=Scope(round="again"))
    label(cast.main, cast.ana, cast.pairs[2:3], [2])
    assert (is_stale(report), count_changed_labels(report)) == (True, 1)


def test_labels_that_are_carried_make_the_report_of_their_version_old(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    newer = make.make_rubric(cast.study)
    scopes = Scope(rubric=newer.number), Scope()
    reports = [run_agreement(cast.study, scope=scope) for scope in scopes]
    assert not any(map(is_stale, reports))
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=given, rubric_version=newer) for given in Judgment.objects.all()
    )
    assert [is_stale(report) for report in reports] == [True, False]
    assert count_changed_labels(reports[0]) == 2
    assert not is_stale(run_agreement(cast.study, scope=scopes[0]))


def test_another_plan_makes_the_report_old(cast: Cast) -> None:
    label_cast(cast)
    report = run_agreement(cast.study, scope=Scope())
    cast.main.round_queries.filter(query=cast.pairs[0].query).update(annotators=None)
    assert is_stale(report)
    page = log_in(cast.lia).get("/studies/alpha/results/").content.decode()
    assert "How many annotators the queries are for has changed since." in page
    report = run_agreement(cast.study, scope=Scope())
    assert not is_stale(report)
    Member.objects.filter(pk=cast.uma.pk).update(is_active=False)
    assert is_stale(report)


def test_a_label_that_changes_often_has_changed_once(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    report = run_agreement(cast.study, scope=Scope())
    client = log_in(cast.ana)
    for grade in ("1", "2"):
        url = f"/studies/alpha/labels/{Judgment.objects.first().public_id}/"
        form = next(form for form in read_forms(client.get(url)).values() if "key" in form.fields)
        assert post_form(client, form, url, grade=grade, decided_by="recency").status_code == 302
    assert count_changed_labels(report) == 1
    page = log_in(cast.lia).get("/studies/alpha/results/").content.decode()
    assert "1 label has changed since." in page


def test_a_query_of_another_class_makes_the_report_old_and_no_label(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [0, 1])
    report = run_agreement(cast.study, scope=Scope())
    query = cast.pairs[0].query
    log_in(cast.max).post(
        "/studies/alpha/classes/assign/", {"queries": [query.public_id], "query_class": "factual"}
    )
    assert is_stale(report)
    page = log_in(cast.lia).get("/studies/alpha/results/").content.decode()
    assert "1 query has got another class since." in page
    assert "changed since" not in page


def test_label_that_arrives_while_reading_leaves_the_report_stale(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    read_labels = agreement.read_labels

    def read_and_meet_a_label(*args: object, **options: object) -> object:
        label(cast.main, cast.ben, cast.pairs[:1], [2])
        return read_labels(*args, **options)  # type: ignore[arg-type]  # hands on what it got

    monkeypatch.setattr(agreement, "read_labels", read_and_meet_a_label)
    assert is_stale(run_agreement(cast.study, scope=Scope()))


@pytest.mark.django_db(transaction=True)
def test_labels_are_read_from_one_snapshot(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make.make_study()
    make.make_round(study)
    seen = []

    def look_at_isolation(study: Study, scope: Scope) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SHOW transaction_isolation")
            seen.append(cursor.fetchone()[0])
        return 0

    monkeypatch.setattr(agreement, "count_label_changes", look_at_isolation)
    compute_agreement(study, scope=Scope())
    assert seen == ["repeatable read"]


def test_each_scope_has_a_report_of_its_own(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    run_agreement(cast.study, scope=Scope(round="main"))
    scopes = AgreementReport.objects.order_by("scope").values_list("scope", flat=True)
    assert list(scopes) == ["current", "round:main"]


def test_job_computes_and_stores(cast: Cast) -> None:
    label_cast(cast)
    job = refresh(cast.study, scope=Scope(), user=cast.lia.user)
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.kind, job.state, job.total) == (COMPUTE_AGREEMENT, Job.State.DONE, 4)
    assert AgreementReport.objects.get(study=cast.study).payload["judgments"] == 18


def test_job_run_twice_leaves_one_report(cast: Cast) -> None:
    job = refresh(cast.study, scope=Scope())
    run_job(job.pk)
    run_job(job.pk)
    assert AgreementReport.objects.count() == 1


def test_job_of_a_round_that_is_gone_fails_with_its_reason(cast: Cast) -> None:
    job = refresh(cast.study, scope=Scope(round="nope"))
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.FAILED
    assert "no round “nope”" in job.error


def test_job_of_a_study_without_a_rubric_fails_with_its_reason(cast: Cast) -> None:
    job = refresh(cast.other_study, scope=Scope())
    run_job(job.pk)
    job.refresh_from_db()
    assert "no rubric" in job.error


def test_document_tells_the_numbers_of_the_report(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    text = render_markdown(cast.study)
    assert text.startswith("# Agreement: Alpha help centre\n")
    assert "People split most on procedural queries: 2 of 3 pairs, against 0 of 6" in text
    assert "| ana | ben | 9 | 77.8% | 35.8% | 0.654 |" in text
    assert "| procedural | 3 | 2 | 66.7% |" in text
    assert text.endswith("\n")


def test_document_escapes_names(cast: Cast) -> None:
    Member.objects.filter(pk=cast.ana.pk).update(name="a|*na*")
    label_cast(cast)
    text = render_payload(payload_of(cast))
    assert r"| a\|\*na\* |" in text


def test_document_of_the_same_labels_is_the_same(cast: Cast) -> None:
    label_cast(cast)
    payload = payload_of(cast)
    assert render_payload(payload) == render_payload(json.loads(json.dumps(payload)))


def test_document_needs_numbers(cast: Cast) -> None:
    with pytest.raises(NoReport, match="results page"):
        render_markdown(cast.study)


def test_sentence_of_people_who_all_agree(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 1, 2] * 3)
    label(cast.main, cast.ben, cast.pairs, [0, 1, 2] * 3)
    assert wording.say_where_it_splits(payload_of(cast)).startswith("Nobody splits: each of the 9")


def test_every_band_and_reason_of_the_statistics_can_be_translated() -> None:
    from results.statistics import agreement as measures

    bands = {measures.kappa_band(value / 100) for value in range(-100, 101)}
    bands |= {measures.alpha_band(value / 100) for value in range(-100, 101)}
    assert bands <= set(wording.BANDS)
    reasons = {measures.NOTHING_SHARED, measures.NOTHING_TWICE, measures.ONE_LABEL}
    assert reasons <= set(wording.REASONS)


@pytest.mark.parametrize(
    ("value", "text"), [(0.8, "0.800"), (-0.0214, "−0.021"), (-0.0001, "0.000"), (None, "–")]
)
def test_measures_have_three_decimals(value: float | None, text: str) -> None:
    assert wording.as_ratio(value) == text


@pytest.mark.parametrize(("value", "text"), [(0.845, "84.5%"), (0, "0.0%"), (1.0, "100.0%")])
def test_shares_have_one_decimal(value: float, text: str) -> None:
    assert wording.as_share(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (59.4, "59 s"), (90, "2 min"), (3 * 3600 + 61, "3 h 01 min")]
)
def test_durations_are_told_to_the_minute(seconds: float, text: str) -> None:
    assert wording.as_duration(seconds) == text


def test_asking_for_a_report_and_showing_it_loads_no_numpy() -> None:
    code = (
        "import django; django.setup()\n"
        "import results.tasks, results.contexts, results.export_contexts, results.urls, sys\n"
        "assert 'numpy' not in sys.modules"
    )
    settings = {"DJANGO_SETTINGS_MODULE": "config.settings.test"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("splits", "unknown", "text"),
    [
        (
            1,
            0,
            "What the labels of the 1 split cite: different dimensions in 1, one dimension with "
            "different readings in 0, the same reading in 0.",
        ),
        (
            3,
            2,
            "What the labels of the 3 splits cite: different dimensions in 1, one dimension with "
            "different readings in 0, the same reading in 0. In 2 a label names no dimension: "
            "that tells nothing.",
        ),
    ],
)
def test_what_splits_cite_is_told_of_one_and_of_several(
    splits: int, unknown: int, text: str
) -> None:
    kinds = {"different_dimensions": 1, "different_clauses": 0, "same_reading": 0}
    payload = {"splits": splits, "split_kinds": {**kinds, "unknown_citation": unknown}}
    assert wording.say_citations(payload) == text


def test_labels_that_are_not_blind_count_and_are_told(cast: Cast) -> None:
    """Of ben's: one given before, one revised and one given after he could read others' labels."""
    at = timezone.now()
    before, after = at - timedelta(hours=1), at + timedelta(hours=1)
    judge(cast.main, cast.pairs[:3], cast.ana, [1, 1, 1], judged_at=after)
    judge(cast.main, cast.pairs[:2], cast.ben, [1, 2], judged_at=before)
    judge(cast.main, cast.pairs[2:3], cast.ben, [None], judged_at=after)
    Judgment.objects.filter(annotator=cast.ben, pair=cast.pairs[1]).update(revised_at=after)
    blind = describe_json(cast.study, "judgments")
    assert (blind["not_blind"], blind["not_blind_note"]) == (0, "")
    Unblinding.objects.create(member=cast.ben, round=cast.main, at=at)
    report = run_agreement(cast.study)
    assert (report.payload["judgments"], report.payload["not_blind"]) == (6, 2)
    told = {row["name"]: row["not_blind"] for row in report.payload["annotators"]}
    assert told == {"ana": 0, "ben": 2}
    page = log_in(cast.lia).get("/studies/alpha/results/people/").content.decode()
    assert "2 not blind" in page
    assert "2 judgments are not blind" in page
    assert "2 judgments are not blind" in render_markdown(cast.study)
    assert describe_json(cast.study, "consensus-qrels")["not_blind"] == 2
    own = describe_json(cast.study, "annotator-qrels", annotator="ana")
    assert (own["not_blind"], own["not_blind_note"]) == (0, "")
    with translation.override("id"):
        note = describe_json(cast.study, "study")["not_blind_note"]
    assert note.startswith("2 judgments are not blind")

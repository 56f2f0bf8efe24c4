"""The pages of the release: the gate, passing it, exporting in spite of it, the runs' scores."""

import html
import json
import re
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from config.celery import app
from results.models import ReleaseReport
from results.selectors.release import COMPUTE_RELEASE
from results.services.gate import read_gate
from studies.models import Action, Job, Run, Study
from studies.services.jobs import run_job
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, read_forms
from tests.results.exported import judge, read_manifest
from tests.results.releasable import REASON, compute, make_releasable

GATE = "/studies/alpha/results/gate/"
EXPORTS = "/studies/alpha/results/exports/"
SYSTEMS = "/studies/alpha/results/systems/"
GATED = ("consensus-qrels", "ground-truth", "training-pairs", "beir")


@pytest.fixture(autouse=True, scope="module")
def as_in_a_worker() -> None:
    app.loader.import_default_modules()


@pytest.fixture
def study(cast: Cast) -> Study:
    return make_releasable(cast)


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def read(client: Client, url: str, status: int = 200) -> str:
    response = client.get(url)
    assert response.status_code == status
    return " ".join(response.content.decode().split())


def test_each_line_shows_its_evidence_and_leads_to_its_cause(
    cast: Cast, study: Study, lead: Client
) -> None:
    judge(cast.main, cast.pairs[1:2], cast.uma, [2])
    make.make_rubric_draft(study)
    compute(study)
    page = read(lead, GATE)
    # High risk, the rubric, and the target: κ with uma, who labelled one pair, is undefined.
    assert "The gate is red: 3 of 9 lines" in page
    assert "procedural: 1 of 2 splits have no final label." in page
    assert 'href="/studies/alpha/results/final-labels/?class=procedural"' in page
    assert "A draft of the next version is being written." in page
    assert 'href="/studies/alpha/rubric/draft/"' not in page
    assert 'href="/studies/alpha/rubric/draft/"' in read(log_in(cast.max), GATE)
    causes = set(re.findall(r'<a href="(/[^"]+)">See it', page))
    assert len(causes) >= 6
    for url in causes:
        assert lead.get(html.unescape(url)).status_code == 200, url


def test_a_line_leads_an_admin_to_the_very_form_that_mends_it(cast: Cast, lead: Client) -> None:
    judge(cast.main, cast.pairs, cast.ana, [1] * 9)
    judge(cast.main, cast.pairs, cast.ben, [1] * 9)
    compute(cast.study)
    admin = log_in(cast.max)
    page = read(admin, GATE)
    for url, act in {
        "agreement/#target-form": "Set a target",
        "rounds/#next-round": "Open a calibration round",
    }.items():
        assert f'<a href="/studies/alpha/results/{url}">{act}' in page
        path, _, anchor = url.partition("#")
        assert f'id="{anchor}"' in read(admin, f"/studies/alpha/results/{path}")
    # A lead changes neither, and is shown where they stand.
    assert 'href="/studies/alpha/results/agreement/#target">See it' in read(lead, GATE)


def test_a_line_whose_numbers_are_old_is_to_be_computed_and_not_red(
    cast: Cast, study: Study, lead: Client
) -> None:
    judge(cast.main, cast.pairs[1:2], cast.uma, [2])
    page = read(lead, GATE)
    lines = re.findall(r'<li class="(\w+)" id="line-(\w+)">', page)
    stale = {key for state, key in lines if state == "stale"}
    assert {"queries", "holes", "targets", "dropped", "exports"} <= stale
    assert f"{len(stale)} lines rest on numbers that are missing or old" in page
    assert page.count("to be computed</span>") == len(stale)
    red = [key for state, key in lines if state == "red"]
    assert f"The gate is red: {len(red)} of 9 lines" in page
    assert not read_gate(study).is_open


def test_a_worker_computes_all_that_the_checklist_rests_on(cast: Cast, lead: Client) -> None:
    judge(cast.main, cast.pairs, cast.ana, [1] * 9)
    judge(cast.main, cast.pairs, cast.ben, [1] * 9)
    page = read(lead, GATE)
    assert "Nothing has been counted yet" in page
    # Calibrations are opened where they are compared, by leads too.
    assert re.search(r'there are 0\.</span> <a href="/studies/alpha/results/rounds/">', page)
    # A reason is for what was found, so nothing is overridden before.
    assert "wait until the checklist is computed" in read(lead, EXPORTS)
    waiting = read(lead, f"{EXPORTS}consensus-qrels/", status=409)
    assert "wait until the checklist is computed" in waiting
    refused = lead.post(f"{GATE}override/", {"reason": REASON})
    assert refused.status_code == 409
    assert "Compute the checklist first" in refused.content.decode()
    response = lead.post(f"{GATE}compute/")
    assert (response.status_code, response.url) == (302, GATE)
    kinds = set(Job.objects.values_list("kind", flat=True))
    assert kinds == {"results.compute_agreement", COMPUTE_RELEASE}
    assert "Waiting for a worker" in read(lead, GATE)
    for job in Job.objects.all():
        run_job(job.pk)
    assert not Job.objects.exclude(state="done").exists()
    assert "Nothing has been counted yet" not in read(lead, GATE)
    job = Job.objects.get(kind=COMPUTE_RELEASE)
    assert f'href="{GATE}"' in read(lead, f"/studies/alpha/results/jobs/{job.public_id}/")


def test_a_lead_passes_a_green_gate_for_a_reason(cast: Cast, study: Study, lead: Client) -> None:
    assert "pass-form" in read_forms(lead.get(GATE))
    assert "pass-form" not in read_forms(log_in(cast.max).get(GATE))
    empty = lead.post(f"{GATE}pass/", {"reason": "  "})
    assert empty.status_code == 422
    assert "Write the reason" in empty.content.decode()
    assert lead.post(f"{GATE}pass/", {"reason": REASON}).status_code == 302
    page = read(lead, GATE)
    assert "The gate is passed" in page
    assert REASON in page
    assert "The release gate is passed" in read(lead, EXPORTS)
    assert log_in(cast.max).post(f"{GATE}pass/", {"reason": REASON}).status_code == 404


def test_a_gate_that_turned_red_meanwhile_is_not_passed_and_the_words_are_kept(
    study: Study, lead: Client
) -> None:
    make.make_rubric_draft(study)
    response = lead.post(f"{GATE}pass/", {"reason": REASON})
    assert response.status_code == 409
    assert REASON in response.content.decode()
    assert not Action.objects.filter(name="gate.passed").exists()


@pytest.mark.parametrize("kind", GATED)
def test_a_red_gate_lets_no_labels_out_before_somebody_says_why(
    cast: Cast, study: Study, lead: Client, kind: str
) -> None:
    make.make_rubric_draft(study)
    page = read(lead, EXPORTS)
    assert "The release gate is red" in page
    assert f'class="button" href="{EXPORTS}{kind}/"' not in page
    assert "Say first why" in read(lead, f"{EXPORTS}{kind}/", status=409)
    assert lead.post(f"{GATE}override/", {"reason": ""}).status_code == 422
    assert not Action.objects.filter(name__in=["gate.overridden", "export.made"]).exists()
    response = lead.post(f"{GATE}override/", {"reason": REASON})
    assert (response.status_code, response.url) == (302, EXPORTS)
    assert b"".join(lead.get(f"{EXPORTS}{kind}/").streaming_content)
    told = json.loads(lead.get(f"{EXPORTS}{kind}/manifest/").content)
    assert (told["gate_state"], told["gate_override"]["by"]) == ("red", "lia")
    made = Action.objects.get(name="export.made")
    assert made.data["gate"] == {
        "state": "red",
        "red": ["rubric"],
        "reason": REASON,
        "reason_given": True,
    }
    assert REASON in read(lead, EXPORTS)
    assert lead.post(f"{GATE}override/", {"reason": REASON}).status_code == 302


@pytest.mark.parametrize("kind", ["judgments", "action-log", "agreement-report", "study"])
def test_what_hands_no_labels_over_asks_for_nothing(study: Study, lead: Client, kind: str) -> None:
    make.make_rubric_draft(study)
    assert b"".join(lead.get(f"{EXPORTS}{kind}/").streaming_content)


def test_a_green_gate_asks_for_no_reason(study: Study, lead: Client) -> None:
    assert b"".join(lead.get(f"{EXPORTS}consensus-qrels/").streaming_content)
    assert lead.post(f"{GATE}override/", {"reason": REASON}).status_code == 409


def test_who_still_judges_sees_neither_gate_nor_scores(cast: Cast) -> None:
    judge(cast.main, cast.pairs[:1], cast.ana, [1])
    client = log_in(cast.uma)
    for url in (GATE, SYSTEMS):
        assert "You are still judging" in read(client, url)
    assert client.post(f"{GATE}pass/", {"reason": REASON}).status_code == 409
    assert client.post(f"{GATE}override/", {"reason": REASON}).status_code == 409
    assert not Action.objects.filter(name__startswith="gate.").exists()


def test_the_export_command_writes_through_a_red_gate_and_says_whether_a_reason_was_given(
    study: Study, tmp_path: Path
) -> None:
    make.make_rubric_draft(study)
    path = tmp_path / "alpha.qrels"
    call_command("export", "alpha", "consensus-qrels", output=path)
    told = read_manifest(path)
    assert told["gate_state"] == "red"
    assert (told["gate_override"], told["gate_reason_given"]) == (None, False)
    lines = {row["line"]: row for row in told["gate_lines"]}
    assert lines["rubric"] == {
        "line": "rubric",
        "state": "red",
        "found": ["A draft of the next version is being written."],
    }
    logged = Action.objects.get(name="export.made").data["gate"]
    assert logged == {"state": "red", "red": ["rubric"], "reason": None, "reason_given": False}
    call_command("export", "alpha", "consensus-qrels", output=path, reason=REASON)
    told = read_manifest(path)
    assert (told["gate_state"], told["gate_reason_given"]) == ("red", True)
    assert told["gate_override"]["reason"] == REASON
    logged = Action.objects.filter(name="export.made").latest("id").data["gate"]
    assert (logged["reason"], logged["reason_given"]) == (REASON, True)
    assert read_gate(study).asks_for_reason


def test_the_gate_command_computes_prints_and_tells_by_its_status(
    cast: Cast, study: Study, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("gate", "alpha", format="json")
    assert json.loads(capsys.readouterr().out)["gate_state"] == "green"
    make.make_rubric_draft(study)
    with pytest.raises(SystemExit) as ended:
        call_command("gate", "alpha")
    assert ended.value.code == 1
    printed = capsys.readouterr().out
    assert printed.startswith("# Release gate of Alpha help centre: red\n")
    assert "- **red** The rubric is fixed" in printed


def test_runs_are_scored_by_the_consensus(cast: Cast, study: Study, lead: Client) -> None:
    """q1 has the grades 2, 1, 2 (a final label first), q2 and q3 have 0, 1, 2; bm25 ranks them
    so, dense the other way round."""
    systems = ReleaseReport.objects.get().payload["systems"]
    assert (systems["queries"], systems["k"], systems["relevant_from"]) == (3, 5, 1)
    scores = {row["run"]: row for row in systems["runs"]}
    # bm25 finds a relevant document first for q1, second for q2 and q3.
    assert scores["bm25"]["mrr"]["value"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert scores["dense"]["mrr"]["value"] == pytest.approx(1.0)
    assert scores["dense"]["success_at_k"] == {"value": 1.0, "worst": None, "best": None}
    page = read(lead, SYSTEMS)
    assert "3 queries scored" in page
    assert 'data-label="MRR">0.667</td>' in page
    assert "<code>Success(rel=1)@5</code>, <code>nDCG@5</code>, <code>RR(rel=1)</code>" in page
    assert "0 pairs dropped (0.0%" in page


def test_dropped_pairs_stand_beside_each_score_with_what_they_could_do_to_it(
    cast: Cast, study: Study, lead: Client
) -> None:
    """q2-d2 and q2-d3 are dropped, so that of q2 only an irrelevant document is left."""
    for pair in cast.pairs[4:6]:
        make.make_final_label(pair, None)
    compute(study)
    bm25 = ReleaseReport.objects.get().payload["systems"]["runs"][0]
    assert bm25["mrr"]["value"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert bm25["mrr"]["worst"] == pytest.approx((1 + 0 + 0.5) / 3)
    assert bm25["mrr"]["best"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    page = read(lead, SYSTEMS)
    assert "2 pairs dropped (22.2% of those decided)" in page
    assert "message error" in page
    assert "0.500 … 0.667" in page


def test_a_query_that_was_dropped_whole_counts_in_the_bounds(
    cast: Cast, study: Study, lead: Client
) -> None:
    for pair in cast.pairs[6:9]:
        make.make_final_label(pair, None)
    compute(study)
    systems = ReleaseReport.objects.get().payload["systems"]
    assert (systems["queries"], systems["queries_dropped"]) == (2, 1)
    success = systems["runs"][0]["success_at_k"]
    assert success == {"value": 1.0, "worst": pytest.approx(2 / 3), "best": 1.0}
    assert "1 query dropped whole" in read(lead, SYSTEMS)


def test_pages_without_numbers_or_runs_say_so(cast: Cast, lead: Client) -> None:
    assert "Nothing has been computed yet" in read(lead, SYSTEMS)
    compute_nothing = lead.post(f"{GATE}compute/", {"page": "systems"})
    assert compute_nothing.url == SYSTEMS
    run_job(Job.objects.get(kind=COMPUTE_RELEASE).pk)
    assert "The study holds no run" in read(lead, SYSTEMS)
    make.make_run(cast.study, "bm25", {"q1": ["q1-d1"]})
    assert "has changed since" in read(lead, SYSTEMS)
    run_job(Job.objects.create(study=cast.study, kind=COMPUTE_RELEASE).pk)
    assert "No query is fully judged yet" in read(lead, SYSTEMS)


def test_queries_do_not_grow_with_runs(cast: Cast, study: Study, lead: Client) -> None:
    def count() -> int:
        lead.get(SYSTEMS)
        with CaptureQueriesContext(connection) as queries:
            lead.get(SYSTEMS)
        return len(queries)

    before = count()
    for number in range(5):
        make.make_run(study, f"run{number}", {"q1": ["q1-d1"]})
    compute(study)
    assert Run.objects.count() == 7
    assert count() == before
    assert read_gate(study).is_open

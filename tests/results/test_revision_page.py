"""The account of a revision in the browser: asked for, computed by the worker, taken along."""

import json
from datetime import timedelta

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import results.tasks  # noqa: F401 - registers the work of this room's jobs
from annotation.models import CarriedLabel, Judgment
from results.models import RevisionAccount
from results.services.revision_accounts import is_old, run_account
from results.services.scopes import Comparison
from studies.models import Job, Role, Round
from studies.services.jobs import run_job
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.revised import Revised, make_revised
from tests.results.taken import find_files, read_csv
from tests.results.test_revision import make_ranking

pytestmark = pytest.mark.django_db
PAGE = "/studies/revised/results/revision/"
VERSIONS = Comparison.of_versions(1, 2)


@pytest.fixture
def revised(db: None) -> Revised:
    return make_revised()


@pytest.fixture
def lead(revised: Revised) -> Client:
    return log_in(make.make_member(revised.study, "lia", Role.LEAD))


def test_the_account_is_computed_by_a_worker_and_kept(revised: Revised, lead: Client) -> None:
    page = lead.get(PAGE)
    assert page.context["page"].names == ("rubric 1", "rubric 2")
    assert page.context["page"].status.state == "empty"
    answer = post_form(lead, read_forms(page)["compute-form"], "")
    assert answer.url == f"{PAGE}?from=1&to=2"
    job = Job.objects.get()
    assert lead.get(answer.url).context["page"].status.state == "computing"
    run_job(job.pk)
    page = lead.get(answer.url)
    assert page.context["page"].status.state == "fresh"
    text = page.content.decode()
    for expected in ("0.845", "0.960", "27 of 76", "4 of 124"):
        assert expected in text
    kappa = page.context["page"].figures.measures[3]
    assert (kappa.before[:4], round(float(kappa.after), 2)) == ("0.61", 0.89)
    assert "31 pairs lost “relevant”" in text
    assert page.context["page"].figures.moves.changed == 31
    job.refresh_from_db()
    assert lead.get(f"/studies/revised/results/jobs/{job.public_id}/").status_code == 200


def test_an_account_whose_worker_died_can_be_asked_for_again(
    revised: Revised, lead: Client
) -> None:
    url = post_form(lead, read_forms(lead.get(PAGE))["compute-form"], "").url
    long_ago = timezone.now() - timedelta(hours=1)
    Job.objects.update(state=Job.State.RUNNING, attempts=1, heartbeat_at=long_ago)
    page = lead.get(url)
    assert page.context["page"].status.state == "failed"
    assert "worker that had this has stopped" in page.content.decode()
    post_form(lead, read_forms(page)["compute-form"], "")
    assert lead.get(url).context["page"].status.state == "computing"


def test_the_matrix_tells_what_became_of_each_grade(revised: Revised, lead: Client) -> None:
    run_account(revised.study, VERSIONS)
    moves = lead.get(PAGE).context["page"].figures.moves
    by_grade = {row.grade: [cell.count for cell in row.cells] for _name, row in moves.rows}
    assert by_grade["2"][:2] == [7, 24]
    assert [column for column, _name in moves.columns] == [0, 1, 2]


def test_two_rounds_can_be_compared(revised: Revised, lead: Client) -> None:
    query = "?from_round=main&to_round=recheck"
    form = read_forms(lead.get(PAGE + query))["compute-form"]
    assert post_form(lead, form, "").url == PAGE + query
    run_job(Job.objects.get().pk)
    page = lead.get(PAGE + query).context["page"]
    assert page.figures.is_of_rounds
    assert page.names == ("round “main”", "round “recheck”")


def test_a_broken_bound_is_told_as_an_error(revised: Revised, lead: Client) -> None:
    make_ranking(revised, "finder")
    first_of_query = [pair.pk for pair in revised.pairs[:32:2]]
    rest = [pair.pk for pair in revised.pairs[1:32:2]]
    Judgment.objects.filter(round=revised.recheck, pair__in=first_of_query).delete()
    Judgment.objects.filter(pair__in=rest).update(grade=0)
    run_account(revised.study, VERSIONS)
    page = lead.get(PAGE)
    assert page.context["page"].figures.runs[0].is_beyond
    text = page.content.decode()
    assert 'class="alert"' in text
    assert "something other than the relabelling changed" in text
    assert "beyond its bound" in text


def test_a_moved_chance_agreement_is_flagged(revised: Revised, lead: Client) -> None:
    Judgment.objects.filter(round=revised.recheck, grade=1).update(grade=0)
    run_account(revised.study, VERSIONS)
    page = lead.get(PAGE)
    assert any(row.moved for row in page.context["page"].figures.measures)
    assert "the label mix shifted" in page.content.decode()


def test_changed_labels_carried_labels_and_runs_make_it_old(revised: Revised, lead: Client) -> None:
    account = run_account(revised.study, VERSIONS)
    assert not is_old(account)
    make_ranking(revised, "finder")
    assert is_old(account)
    account = run_account(revised.study, VERSIONS)
    CarriedLabel.objects.create(
        judgment=Judgment.objects.filter(round=revised.main).first(), rubric_version=revised.second
    )
    assert is_old(account)
    account = run_account(revised.study, VERSIONS)
    make.make_judgment(revised.main, revised.pairs[0], make.make_member(revised.study), 1)
    assert is_old(account)
    page = lead.get(PAGE)
    assert page.context["page"].status.state == "stale"
    assert "have changed since" in page.content.decode()
    assert RevisionAccount.objects.count() == 1


def test_downloads_are_what_the_command_prints(revised: Revised, lead: Client, capsys) -> None:
    run_account(revised.study, VERSIONS)
    text = lead.get(PAGE + "account.md?from=1&to=2")
    call_command("revision", "revised", "--from", "1", "--to", "2", "--format", "md")
    assert text.content.decode() == capsys.readouterr().out
    found = lead.get(PAGE + "account.json?from=1&to=2")
    call_command("revision", "revised", "--from", "1", "--to", "2")
    assert json.loads(found.content) == json.loads(capsys.readouterr().out)


def test_a_download_without_an_account_says_what_to_do(revised: Revised, lead: Client) -> None:
    answer = lead.get(PAGE + "account.md")
    assert answer.status_code == 409
    assert "have it computed first" in answer.content.decode()


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("?from=1&to=9", 404),
        ("?from=x&to=2", 404),
        ("?from=1", 404),
        ("?from_round=main&to_round=nowhere", 404),
        ("?from=1&to=1", 422),
        ("?from_round=main&to_round=main", 422),
    ],
)
def test_what_cannot_be_compared_is_refused(
    revised: Revised, lead: Client, query: str, status: int
) -> None:
    assert lead.get(PAGE + query).status_code == status
    assert lead.get(f"{PAGE}account.json{query}").status_code in {404, 409, 422}


def test_an_open_calibration_round_is_neither_offered_nor_compared(
    revised: Revised, lead: Client
) -> None:
    calibration = make.make_round(
        revised.study, "calibration-1", kind=Round.Kind.CALIBRATION, rubric_version=revised.second
    )
    assert "calibration-1" not in lead.get(PAGE).content.decode()
    asked = {"from_round": "main", "to_round": "calibration-1"}
    told = lead.get(PAGE, asked)
    assert (told.status_code, "its numbers come once" in told.content.decode()) == (400, True)
    assert lead.post(f"{PAGE}compute/", asked).status_code == 400
    assert lead.get(f"{PAGE}account.json", asked).status_code == 400
    calibration.closed_at = timezone.now()
    calibration.save()
    assert lead.get(PAGE, asked).status_code == 200


def test_asking_for_nothing_changes_nothing(revised: Revised, lead: Client) -> None:
    assert lead.post(PAGE + "compute/", {"from": "1", "to": "1"}).status_code == 422
    assert lead.post(PAGE + "compute/", {"from": "1", "to": "8"}).status_code == 404
    assert not Job.objects.exists()


def test_with_one_version_the_page_says_so(cast: Cast) -> None:
    page = log_in(cast.lia).get("/studies/alpha/results/revision/")
    assert page.context["page"].comparison is None
    assert "Nothing to compare yet" in page.content.decode()
    assert log_in(cast.lia).post("/studies/alpha/results/revision/compute/").status_code == 409


def test_who_still_judges_sees_no_account(cast: Cast) -> None:
    second = make.make_rubric(cast.study)
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    run_account(cast.study, VERSIONS)
    page = log_in(cast.uma).get("/studies/alpha/results/revision/?from=1&to=2")
    assert "You are still judging" in page.content.decode()
    download = log_in(cast.uma).get("/studies/alpha/results/revision/account.json?from=1&to=2")
    assert download.status_code == 409
    assert "kappa" not in download.content.decode()
    assert second.number == 2


def test_queries_do_not_grow_with_classes(revised: Revised, lead: Client) -> None:
    run_account(revised.study, VERSIONS)
    lead.get(PAGE)
    with CaptureQueriesContext(connection) as few:
        lead.get(PAGE)
    for number in range(5):
        make.make_query(revised.study, query_class=f"class-{number}", rounds=[])
        make_ranking(revised, f"run-{number}")
    run_account(revised.study, VERSIONS)
    with CaptureQueriesContext(connection) as many:
        lead.get(PAGE)
    assert len(many) == len(few)


def test_every_table_of_the_account_has_its_file_beside_it(revised: Revised, lead: Client) -> None:
    make_ranking(revised, "finder")
    run_account(revised.study, VERSIONS)
    found = find_files(lead.get(PAGE))
    assert len(found) == 5
    assert [name for name, files in found.items() if len(files) != 1] == []
    for (address,) in found.values():
        assert read_csv(lead, address), address
    moves = read_csv(lead, "/studies/revised/results/tables/pair-moves.csv")
    assert {"before": "2", "after": "1", "pairs": "24"} in moves

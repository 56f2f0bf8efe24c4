"""The results pages: who sees them, what they say, how they are refreshed."""

import re
from datetime import timedelta
from html import unescape
from urllib.parse import parse_qs

import pytest
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation

import results.tasks  # noqa: F401 - registers the work of this room's jobs
from annotation.models import Claim
from results.models import AgreementReport
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import Action, Job, Round
from studies.services.jobs import run_job
from studies.services.rounds import close_round
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import add_pairs, label, label_cast
from tests.site.addresses import ask, fill_in, watch_parameters
from tests.site.test_permissions import MATRIX
from tests.studies.test_study_settings import fill_in as fill_in_settings

URL = "/studies/alpha/results/"
PAGES = [URL, *(f"{URL}{tab}/" for tab in ("agreement", "splits", "queries", "people"))]
SENTENCE = "Too little is labelled twice to say where people split."


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def read(client: Client, url: str = URL) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return response.content.decode()


def compute(cast: Cast) -> AgreementReport:
    label_cast(cast)
    return run_agreement(cast.study, scope=Scope())


@pytest.mark.parametrize("url", PAGES)
@pytest.mark.parametrize("person", ["ana", "ada", "sid", "sue"])
def test_who_is_not_in_charge_gets_404(cast: Cast, url: str, person: str) -> None:
    assert log_in(cast.user(person)).get(url).status_code == 404


@pytest.mark.parametrize("url", PAGES)
@pytest.mark.parametrize("person", ["lia", "max"])
def test_leads_and_admins_read_the_results(cast: Cast, url: str, person: str) -> None:
    compute(cast)
    assert SENTENCE in read(log_in(cast.user(person)))
    assert log_in(cast.user(person)).get(url).status_code == 200


def test_page_without_numbers_offers_to_compute_them(cast: Cast, lead: Client) -> None:
    page = read(lead)
    assert "No numbers yet" in page
    assert "Compute agreement" in page
    assert not Job.objects.exists()


@pytest.mark.parametrize("url", PAGES)
def test_page_computes_nothing_by_itself(cast: Cast, lead: Client, url: str) -> None:
    lead.get(url)
    assert not Job.objects.exists()
    assert not AgreementReport.objects.exists()


def test_overview_tells_each_number_with_its_size(cast: Cast, lead: Client) -> None:
    compute(cast)
    page = " ".join(read(lead).split())
    for words in (
        "2 of 3 pairs, against 0 of 6 elsewhere",
        "Computed from 18 judgments, a moment ago.",
        "77.8%",
        "of 9 comparisons agree",
        "2 of 9 pairs split (22.2%)",
        "nominal, 9 pairs",
        "no interval: fewer than 10 queries to draw from",
        "36 s of active time",
    ):
        assert words in page


def test_overview_shows_kappa_with_chance_and_confusion(cast: Cast, lead: Client) -> None:
    compute(cast)
    page = " ".join(read(lead).split())
    assert "<bdi>ana</bdi> × <bdi>ben</bdi>" in page
    for words in ("0.654", "35.8%", "substantial", "fewer than 10 queries to draw from"):
        assert words in page
    assert re.search(r'<td class="num heat-9"><a href="[^"]*alike=1">3</a></td>', page)
    cell = re.search(r'<td class="num heat-6 split"><a href="([^"]*)">1</a>', page)
    assert cell
    assert {"by=ana&grade=0", "by=ben&grade=1"} == set(
        parse_qs(unescape(cell[1]).partition("?")[2])["label"]
    )


def test_of_many_twos_the_overview_names_ten_and_agreement_leafs_through_all(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    for number in range(5):
        identity = make.make_member(cast.study, f"name{number}", with_account=False)
        label(cast.main, identity, cast.pairs[:2], [0, 1])
    run_agreement(cast.study, scope=Scope())

    def count_twos(url: str) -> tuple[int, int]:
        page = read(lead, url)
        kappas = page[page.index('<table class="kappas') :].partition("</table>")[0]
        return kappas.count("<tr>") - 1, page.count('<table class="heat">')

    assert count_twos(URL) == (10, 3)
    assert count_twos(f"{URL}agreement/") == (20, 20)
    assert count_twos(f"{URL}agreement/?page=2") == (1, 1)
    assert 'rel="next" href="?page=2"' in read(lead, f"{URL}agreement/")


def test_alpha_card_is_green_from_080(cast: Cast, lead: Client) -> None:
    report = compute(cast)
    for value, is_green in ((0.80, True), (0.7999, False)):
        report.payload["krippendorff_alpha"]["nominal"]["value"] = value
        report.save()
        assert ('class="card good"' in read(lead)) is is_green


@pytest.mark.parametrize("url", PAGES[:2])
def test_alpha_and_kappa_that_read_apart_are_explained(cast: Cast, lead: Client, url: str) -> None:
    """κ is 0.654 here, which is substantial."""
    report = compute(cast)
    for value, is_told in ((0.60, True), (0.70, False)):
        report.payload["krippendorff_alpha"]["nominal"]["value"] = value
        report.save()
        assert ("κ and α are read by scales of their own" in read(lead, url)) is is_told


def test_one_of_a_kind_is_told_in_the_singular(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    label(cast.main, cast.ben, cast.pairs[:1], [1])
    run_agreement(cast.study, scope=Scope())
    page = " ".join(read(lead).split())
    for words in (
        "of the one comparison agrees",
        "1 of 1 pair splits (100.0%)",
        "nominal, 1 pair<",
    ):
        assert words in page
    tab = " ".join(read(lead, f"{URL}final-labels/").split())
    assert "Ties and splits with a majority are the 1 split that the results speak of." in tab


def test_undefined_measure_is_told_in_words(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs, [0] * 9)
    label(cast.main, cast.ben, cast.pairs, [0] * 9)
    run_agreement(cast.study, scope=Scope())
    page = read(lead)
    assert "one label used: chance alone would agree everywhere" in page
    assert "nan" not in page.lower().split()


def test_numbers_follow_the_language(cast: Cast, lead: Client) -> None:
    compute(cast)
    with translation.override("id"):
        lead.cookies["django_language"] = "id"
        assert "0,654" in read(lead)


def test_stale_numbers_stay_and_say_how_many_labels_changed(cast: Cast, lead: Client) -> None:
    compute(cast)
    label(cast.main, cast.ana, add_pairs(cast, "factual", 2), [0, 1])
    page = read(lead)
    assert "2 labels have changed since." in page
    assert "Computed from 18 judgments" in page


def test_refresh_queues_one_job_and_leads_back(cast: Cast, lead: Client) -> None:
    form = read_forms(lead.get(URL))["refresh-form"]
    for _ in range(2):
        response = post_form(lead, form, URL)
        assert (response.status_code, response.url) == (302, URL)
    job = Job.objects.get()
    assert (job.arguments, job.requested_by) == ({"scope": "current"}, cast.lia.user)


def test_refresh_keeps_the_scope_of_the_page(cast: Cast, lead: Client) -> None:
    form = read_forms(lead.get(f"{URL}?round=main"))["refresh-form"]
    assert post_form(lead, form, URL).url == f"{URL}?round=main"
    assert Job.objects.get().arguments == {"scope": "round:main"}


def test_refresh_of_an_unknown_round_is_404(cast: Cast, lead: Client) -> None:
    assert lead.post(f"{URL}refresh/", {"round": "nope"}).status_code == 404
    assert not Job.objects.exists()


def test_refresh_takes_no_get(cast: Cast, lead: Client) -> None:
    assert lead.get(f"{URL}refresh/").status_code == 405


def test_page_of_a_computing_report_polls_and_has_a_plain_link(cast: Cast, lead: Client) -> None:
    job = make.make_job(cast.study, arguments={"scope": "current"}, state=Job.State.RUNNING)
    page = read(lead)
    assert f'hx-get="{URL}jobs/{job.public_id}/"' in page
    assert 'hx-trigger="every 1s"' in page
    assert f'<a href="{URL}">Look again</a>' in page


@pytest.mark.parametrize(
    ("state", "words"),
    [(Job.State.RUNNING, "worker that had this has stopped"), (Job.State.QUEUED, "No worker")],
)
def test_a_job_that_lost_its_worker_is_told_and_can_be_started_again(
    cast: Cast, lead: Client, state: str, words: str
) -> None:
    long_ago = timezone.now() - timedelta(hours=1)
    lost = make.make_job(
        cast.study, arguments={"scope": "current"}, state=state, attempts=1, heartbeat_at=long_ago
    )
    page = read(lead)
    assert words in page
    assert "refresh-form" in page
    assert "every 1s" not in page
    poll = lead.get(f"{URL}jobs/{lost.public_id}/", headers={"HX-Request": "true"})
    assert poll.headers["HX-Refresh"] == "true"
    assert lead.post(f"{URL}refresh/").status_code == 302
    assert "every 1s" in read(lead)
    for pk in Job.objects.filter(state=Job.State.QUEUED).values_list("pk", flat=True):
        run_job(pk)
    assert "Computed from" in read(lead)


def test_older_numbers_stay_while_new_ones_are_computed(cast: Cast, lead: Client) -> None:
    compute(cast)
    make.make_job(cast.study, arguments={"scope": "current"})
    page = read(lead)
    assert "People split most" in page
    assert "Waiting for a worker" in page


def test_failed_job_tells_its_reason_and_offers_another_try(cast: Cast, lead: Client) -> None:
    make.make_job(
        cast.study, arguments={"scope": "current"}, state=Job.State.FAILED, error="It broke."
    )
    page = read(lead)
    assert "It broke." in page
    assert "refresh-form" in page


def test_failure_is_forgotten_once_the_numbers_are_there(cast: Cast, lead: Client) -> None:
    make.make_job(
        cast.study, arguments={"scope": "current"}, state=Job.State.FAILED, error="It broke."
    )
    compute(cast)
    assert "It broke." not in read(lead)


def test_job_fragment_shows_progress_only(cast: Cast, lead: Client) -> None:
    job = make.make_job(
        cast.study,
        arguments={"scope": "current"},
        state=Job.State.RUNNING,
        progress=1,
        total=3,
        message="Reading the labels",
    )
    response = lead.get(f"{URL}jobs/{job.public_id}/", headers={"HX-Request": "true"})
    fragment = response.content.decode()
    assert "<html" not in fragment
    assert 'value="2" max="4"' in fragment
    assert "Reading the labels" in fragment
    assert "HX-Request" in response.headers["Vary"]


@pytest.mark.parametrize("state", [Job.State.DONE, Job.State.FAILED])
def test_job_that_is_over_reloads_the_page(cast: Cast, lead: Client, state: str) -> None:
    job = make.make_job(cast.study, arguments={"scope": "current"}, state=state)
    response = lead.get(f"{URL}jobs/{job.public_id}/", headers={"HX-Request": "true"})
    assert response.headers["HX-Refresh"] == "true"


def test_job_page_without_scripts_leads_to_the_results(cast: Cast, lead: Client) -> None:
    job = make.make_job(cast.study, arguments={"scope": "round:main"}, state=Job.State.DONE)
    page = read(lead, f"{URL}jobs/{job.public_id}/")
    assert "The numbers are there" in page
    assert f'href="{URL}?round=main"' in page


def test_job_of_another_study_is_404(cast: Cast, lead: Client) -> None:
    job = make.make_job(cast.other_study)
    assert lead.get(f"{URL}jobs/{job.public_id}/").status_code == 404


def test_round_can_be_chosen(cast: Cast, lead: Client) -> None:
    calibration = make.make_round(cast.study, "calibration-1", kind=Round.Kind.CALIBRATION)
    assert f'href="{URL}?round=calibration-1"' not in read(lead)
    calibration.closed_at = calibration.opens_at
    calibration.save()
    assert f'href="{URL}?round=calibration-1"' in read(lead)
    assert "No numbers yet" in read(lead, f"{URL}?round=calibration-1")


@pytest.mark.parametrize("query", ["?round=nope", "?rubric=9", "?rubric=two"])
def test_unknown_scope_is_404(cast: Cast, lead: Client, query: str) -> None:
    assert lead.get(f"{URL}{query}").status_code == 404


def test_report_of_an_earlier_format_is_as_good_as_none(cast: Cast, lead: Client) -> None:
    report = compute(cast)
    report.payload = {"judgments": 3}
    report.save()
    assert "No numbers yet" in read(lead)


@pytest.mark.parametrize("url", PAGES)
def test_lead_who_still_judges_sees_no_numbers(cast: Cast, url: str) -> None:
    compute(cast)
    page = read(log_in(cast.uma), url)
    assert "You are still judging" in page
    assert "0.654" not in page
    assert "People split" not in page.replace("Where people split", "")


def test_results_open_once_the_round_is_closed(cast: Cast) -> None:
    compute(cast)
    cast.main.closed_at = cast.main.opens_at
    cast.main.save()
    assert "People split most" in read(log_in(cast.uma))


def take_all_places(cast: Cast, state: str = Claim.State.FINISHED) -> None:
    for round_query in cast.main.round_queries.all():
        for slot, annotator in enumerate((cast.ana, cast.ben), start=1):
            make.make_claim(round_query, annotator, slot=slot, state=state)


def test_results_open_once_no_place_is_left(cast: Cast) -> None:
    compute(cast)
    take_all_places(cast)
    assert "People split most" in read(log_in(cast.uma))


def test_results_stay_closed_while_a_query_is_held(cast: Cast) -> None:
    compute(cast)
    take_all_places(cast)
    held = Claim.objects.filter(annotator=cast.ben).first()
    assert held
    held.annotator, held.state = cast.uma, Claim.State.HELD
    held.save()
    assert "You are still judging" in read(log_in(cast.uma))


def test_who_reads_once_no_place_is_left_judges_no_longer_blind(cast: Cast) -> None:
    """Nothing is recorded while nothing is shown, and once where it is; what is labelled then in a
    place that became free is told as not blind."""
    client = log_in(cast.uma)
    take_all_places(cast)
    read(client)
    read(client, f"{URL}final-labels/")
    assert not cast.uma.unblindings.exists()
    compute(cast)
    for url in (URL, f"{URL}splits/pairs/"):
        assert "You judge no longer blind" in read(client, url)
    assert [one.round for one in cast.uma.unblindings.all()] == [cast.main]
    logged = Action.objects.get(name="member.unblinded")
    assert logged.user == cast.uma.user
    assert logged.data == {"member": "uma", "rounds": ["main"], "by": "results"}
    Claim.objects.filter(annotator=cast.ben).update(state=Claim.State.LAPSED, slot=None)
    label(cast.main, cast.uma, cast.pairs[:1], [2])
    assert run_agreement(cast.study, scope=Scope()).payload["not_blind"] == 1
    assert "You are still judging" in read(client)
    assert "You judge no longer blind" not in read(log_in(cast.lia))


def test_who_reads_imported_labels_of_a_round_to_come_judges_it_no_longer_blind(
    cast: Cast,
) -> None:
    """Not so where nobody has labelled what is to come."""
    compute(cast)
    cast.main.opens_at = timezone.now() + timedelta(days=1)
    cast.main.save()
    new = make.make_round(cast.study, "new", position=1, opens_at=cast.main.opens_at)
    make.make_pair(make.make_query(cast.study, "q9", rounds=[new]))
    assert "People split most" in read(log_in(cast.uma))
    assert [one.round for one in cast.uma.unblindings.all()] == [cast.main]


def test_a_study_may_let_people_read_while_they_judge_and_marks_them(cast: Cast) -> None:
    compute(cast)
    client, settings = log_in(cast.uma), "/studies/alpha/settings/"
    assert "You are still judging" in read(client)
    assert not cast.uma.unblindings.exists()
    assert "You judge no longer blind" not in read(client)
    client.post(settings, fill_in_settings(client, settings, judges_read_results="on"))
    changed = Action.objects.get(name="study.changed").data
    assert changed["judges_read_results"] == {"before": False, "now": True}
    page = read(client)
    assert "People split most" in page
    assert "You judge no longer blind" in page
    assert cast.uma.unblindings.get().round == cast.main
    cast.study.refresh_from_db()
    label(cast.main, cast.uma, cast.pairs[:1], [2])
    assert run_agreement(cast.study, scope=Scope()).payload["not_blind"] == 1
    assert "The study lets people read results while they still judge." in read(client)
    manifest = client.get(f"{URL}exports/judgments/manifest/").json()
    assert (manifest["judges_read_results"], manifest["not_blind"]) == (True, 1)


def test_results_stay_closed_when_a_hold_of_theirs_has_run_out(cast: Cast) -> None:
    compute(cast)
    take_all_places(cast)
    own = Claim.objects.filter(annotator=cast.ben).first()
    assert own
    own.annotator, own.state = cast.uma, Claim.State.HELD
    own.expires_at = timezone.now() - timedelta(minutes=1)
    own.save()
    assert "You are still judging" in read(log_in(cast.uma))


def test_open_calibration_hides_its_own_results_only(cast: Cast) -> None:
    compute(cast)
    take_all_places(cast)
    calibration = make.make_round(cast.study, "calibration-1", kind=Round.Kind.CALIBRATION)
    make.RoundQuery.objects.create(round=calibration, query=cast.pairs[0].query, annotators=2)
    client = log_in(cast.uma)
    assert "People split most" in read(client)
    told = client.get(f"{URL}?round=calibration-1")
    assert told.status_code == 400
    assert "its numbers come once it is closed" in told.content.decode()


def list_scoped_addresses(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses of results that take a scope."""
    client, parameters = log_in(cast.lia), watch_parameters(monkeypatch)
    scoped = []
    for name, (path, method, allowed) in MATRIX.items():
        if name.startswith("results:") and method == "get" and "lia" in allowed:
            url = fill_in(cast, path).partition("?")[0]
            parameters.clear()
            ask(client, f"{url}?something=else")
            if "round" in parameters:
                scoped.append(url)
    assert len(scoped) >= 9
    return scoped


@pytest.mark.parametrize("kind", [Round.Kind.RELABEL, Round.Kind.RECHECK])
def test_pairs_given_back_hide_every_result(
    cast: Cast, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compute(cast)
    take_all_places(cast)
    run_agreement(cast.study, scope=Scope(round="main"))
    scoped, client = list_scoped_addresses(cast, monkeypatch), log_in(cast.uma)
    scopes = ("", "?round=main", "?rubric=1", "?round=main&annotator=ana")
    urls = [url + scope for url in scoped for scope in scopes]
    again = make.make_round(cast.study, "again-1", kind=kind, position=1)
    make.RoundQuery.objects.create(round=again, query=cast.pairs[0].query, annotators=None)
    told = {url: client.get(url) for url in urls}
    assert [url for url, page in told.items() if is_shown(page, "again-1")] == []
    close_round(round=again, user=None)
    assert not is_hidden(client.get(f"{URL}splits/pairs.csv?round=main"))


def is_shown(page: HttpResponse, round_name: str) -> bool:
    return not is_hidden(page) or round_name not in page.content.decode()


def is_hidden(page: HttpResponse) -> bool:
    return page.status_code == 409 or (
        not page.streaming and "You are still judging" in page.content.decode()
    )


def test_main_round_to_do_hides_the_rounds_that_hold_its_queries(cast: Cast) -> None:
    compute(cast)
    later = make.make_round(cast.study, "recheck-2", kind=Round.Kind.RECHECK, position=1)
    client, url = log_in(cast.uma), f"{URL}splits/pairs.csv?round=recheck-2"
    assert client.get(url).status_code == 200
    make.RoundQuery.objects.create(round=later, query=cast.pairs[0].query, annotators=1)
    close_round(round=later, user=None)
    refused = client.get(url)
    assert refused.status_code == 409
    assert "blind in: main." in refused.content.decode()


@pytest.mark.parametrize("url", PAGES)
def test_queries_do_not_grow_with_the_study(cast: Cast, lead: Client, url: str) -> None:
    compute(cast)
    lead.get(url)
    with CaptureQueriesContext(connection) as few:
        lead.get(url)
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    for query_class in ("procedural", "policy", "definition"):
        pairs = add_pairs(cast, query_class, 4)
        label(cast.main, cast.ana, pairs, [0, 1, 2, 0])
        label(cast.main, zoe, pairs, [0, 1, 1, 0])
    run_agreement(cast.study, scope=Scope())
    with CaptureQueriesContext(connection) as many:
        lead.get(url)
    assert len(many) == len(few)

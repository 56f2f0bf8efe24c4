"""The page of exports: counts first, then downloads with their manifests."""

import hashlib
import json
import re
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from results.services.exports import KINDS
from results.services.gate import Gate
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import Action, User
from studies.services.log import record_action
from studies.services.rounds import close_round
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.calibrated import add_calibration, judge_calibration
from tests.results.labelled import add_pairs, label, label_cast

URL = "/studies/alpha/results/exports/"
WITHOUT_ANNOTATOR = sorted(name for name, kind in KINDS.items() if not kind.needs_annotator)


@pytest.fixture
def lead(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The lead, of whom a red gate asks nothing: `test_release_pages` is about that."""
    monkeypatch.setattr(Gate, "asks_for_reason", False)
    return log_in(cast.lia)


def read(client: Client, url: str = URL) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("path", ["", "consensus-qrels/", "consensus-qrels/manifest/"])
@pytest.mark.parametrize("person", ["ana", "ada", "sid"])
def test_who_is_not_in_charge_gets_404(cast: Cast, path: str, person: str) -> None:
    assert log_in(cast.user(person)).get(f"{URL}{path}").status_code == 404


def test_page_counts_what_would_leave_and_what_is_withheld(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    page = read(lead)
    assert "2 of 3 queries would leave the study" in page
    assert "By consensus 6 of 9 pairs have a label that is exported" in page
    assert "1 query withheld" in page
    assert (
        '<th scope="row">a tie to settle</th><td class="num">1</td><td class="num">2</td>' in page
    )
    assert '<code dir="auto">q1</code></a> Tied votes on 2 pairs.' in page
    assert '<th scope="row">unanimous</th><td class="num">6</td><td class="num">100.0%</td>' in page


def test_page_counts_single_votes(cast: Cast, lead: Client) -> None:
    cast.main.round_queries.update(annotators=1)
    label(cast.main, cast.ana, cast.pairs, [0] * 9)
    assert '<th scope="row">on a single vote</th><td class="num">9</td>' in read(lead)


def test_every_withheld_query_is_linked_on_some_page(
    cast: Cast, lead: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.export_contexts.WITHHELD_PER_PAGE", 10)
    for _ in range(12):
        add_pairs(cast, "factual", 1)
    pages = [read(lead), read(lead, f"{URL}?page=2")]
    assert "15 queries withheld" in pages[0]
    assert f'rel="next" href="{URL}?page=2#withheld"' in pages[0]
    link = r'<li><a href="/studies/alpha/results/final-labels/\?query=([^"]+)">'
    linked = [re.findall(link, page) for page in pages]
    assert [len(ids) for ids in linked] == [10, 5]
    assert {*linked[0], *linked[1]} == {*cast.study.queries.values_list("external_id", flat=True)}


def test_page_offers_every_kind_with_its_manifest(cast: Cast, lead: Client) -> None:
    run_agreement(cast.study, scope=Scope())
    page = read(lead)
    for name in WITHOUT_ANNOTATOR:
        assert f'href="{URL}{name}/"' in page
        assert f'href="{URL}{name}/manifest/"' in page


def test_page_of_one_annotator_counts_their_labels(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs[:6], [0] * 6)
    page = read(lead, f"{URL}?annotator=ana")
    assert "2 of 3 queries would leave the study" in page
    assert "ana’s own labels: 6 of 9 pairs" in page


def test_page_of_an_unknown_annotator_is_404(cast: Cast, lead: Client) -> None:
    assert lead.get(f"{URL}?annotator=nobody").status_code == 404


@pytest.mark.parametrize("kind", WITHOUT_ANNOTATOR)
def test_download_is_streamed_under_its_name(cast: Cast, lead: Client, kind: str) -> None:
    label_cast(cast)
    record_action(cast.study, "study.looked-at")
    run_agreement(cast.study, scope=Scope())
    response = lead.get(f"{URL}{kind}/")
    assert response.status_code == 200
    assert response.streaming
    name = f"alpha-{kind}{KINDS[kind].ending}"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    assert b"".join(response.streaming_content)


def test_consensus_download_holds_the_lines_counted_on_the_page(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    lines = b"".join(lead.get(f"{URL}consensus-qrels/").streaming_content).decode().splitlines()
    assert len(lines) == 6
    assert lines[0] == "q2 0 q2-d1 0"


def test_annotator_download_takes_the_name(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    response = lead.get(f"{URL}annotator-qrels/?annotator=ben")
    assert b"".join(response.streaming_content).startswith(b"q1 0 q1-d1 1\n")


def test_each_download_has_a_file_name_of_its_own_that_every_system_can_carry(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    names = ["ana", "Ana", "../ana", "安娜", "安"]
    kinds = ["annotator-qrels/?annotator=" + quote(name) for name in names]
    for name in names[1:]:
        make.make_member(cast.study, name, with_account=False)
    asked = [*kinds, "training-pairs/", "training-pairs/?with_texts=1"]
    found = [read_file_name(lead, f"{URL}{kind}") for kind in asked]
    assert found[0] == "alpha-annotator-qrels-ana.qrels"
    assert found[-1] == "alpha-training-pairs-with-texts.jsonl"
    assert len(set(found)) == len(found)
    assert all(re.fullmatch(r"[a-z0-9-]+\.[a-z]+", name) for name in found)


def read_file_name(client: Client, url: str) -> str:
    response = client.get(url)
    b"".join(response.streaming_content)
    return response.headers["Content-Disposition"].partition('filename="')[2].rstrip('"')


def test_why_a_query_stays_is_said_in_the_language_of_the_page_and_in_english_files(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    User.objects.update(language="id")
    assert "Suara seri pada 2 pasangan." in lead.get(URL).content.decode()
    manifest = lead.get(f"{URL}consensus-qrels/manifest/").json()
    assert manifest["withheld"][0]["message"].startswith("Tied votes on")


def test_download_is_logged_with_who_asked(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    b"".join(lead.get(f"{URL}consensus-qrels/").streaming_content)
    action = Action.objects.get(name="export.made")
    assert (action.user, action.data["kind"]) == (cast.lia.user, "consensus-qrels")


@pytest.mark.django_db(transaction=True)
def test_download_given_up_leaves_no_trace(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    lead.get(f"{URL}consensus-qrels/").close()
    assert not Action.objects.filter(name="export.made").exists()


def test_manifest_names_withheld_queries_and_the_checksum(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    response = lead.get(f"{URL}consensus-qrels/manifest/")
    name = "alpha-consensus-qrels.qrels.manifest.json"
    assert response.headers["Content-Disposition"] == f'attachment; filename="{name}"'
    manifest = json.loads(response.content)
    assert [query["query_id"] for query in manifest["withheld"]] == ["q1"]
    assert manifest["counts"]["pairs_exported"] == manifest["lines"] == 6
    assert len(manifest["sha256"]) == 64


def test_manifest_of_training_pairs_with_texts_is_offered_and_is_of_that_file(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    address = f"{URL}training-pairs/manifest/?with_texts=1"
    assert f'href="{address}"' in read(lead)
    manifest = json.loads(lead.get(address).content)
    content = b"".join(lead.get(f"{URL}training-pairs/?with_texts=1").streaming_content)
    assert manifest["with_texts"] is True
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize("kind", ["action-log", "study"])
def test_manifest_is_of_the_last_download_although_that_is_in_the_log_by_now(
    cast: Cast, lead: Client, kind: str
) -> None:
    label_cast(cast)
    client = log_in(cast.max)
    before = Action.objects.filter(study=cast.study).count()
    content = b"".join(lead.get(f"{URL}{kind}/").streaming_content)
    manifest = json.loads(lead.get(f"{URL}{kind}/manifest/").content)
    assert manifest["log_until"] == manifest["counts"]["actions"] == before
    assert manifest["sha256"] == hashlib.sha256(content).hexdigest()
    assert json.loads(lead.get(f"{URL}{kind}/manifest/").content)["sha256"] == manifest["sha256"]
    assert client.get(f"{URL}{kind}/manifest/").json()["log_until"] == before + 1


def test_a_log_downloaded_again_ends_where_it_is_told_to(cast: Cast, lead: Client) -> None:
    end = Action.objects.filter(study=cast.study).count()
    first = b"".join(lead.get(f"{URL}action-log/").streaming_content)
    later = b"".join(lead.get(f"{URL}action-log/").streaming_content)
    assert later.startswith(first)
    assert later.count(b"\n") == first.count(b"\n") + 1 == end + 1
    assert b"".join(lead.get(f"{URL}action-log/?until={end}").streaming_content) == first
    assert lead.get(f"{URL}action-log/manifest/?until=1").json()["log_until"] == 1


def test_making_a_manifest_gives_nobody_an_export_and_logs_none(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    assert lead.get(f"{URL}consensus-qrels/manifest/").status_code == 200
    assert not Action.objects.filter(name="export.made").exists()


def test_unknown_kind_is_404(cast: Cast, lead: Client) -> None:
    assert lead.get(f"{URL}everything/").status_code == 404


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("annotator-qrels/", "needs the name of an annotator"),
        ("annotator-qrels/?annotator=nobody", "no annotator named"),
        ("annotator-qrels/manifest/", "needs the name of an annotator"),
        ("agreement-report/", "No agreement has been computed"),
        ("consensus-qrels/?annotator=ana", "takes no annotator"),
        ("consensus-qrels/?until=3", "holds no log"),
        ("action-log/?until=0", "a number from 1 on"),
        ("action-log/manifest/?until=x", "a number from 1 on"),
    ],
)
def test_export_that_cannot_be_made_says_why(
    cast: Cast, lead: Client, path: str, words: str
) -> None:
    response = lead.get(f"{URL}{path}")
    assert response.status_code == 409
    assert words in response.content.decode()


@pytest.mark.parametrize("kind", ["consensus-qrels", "judgments", "study"])
def test_lead_who_still_judges_gets_no_export(cast: Cast, kind: str) -> None:
    label_cast(cast)
    client = log_in(cast.uma)
    assert "You are still judging" in read(client)
    for path in (f"{kind}/", f"{kind}/manifest/"):
        response = client.get(f"{URL}{path}")
        assert response.status_code == 409
        assert "judge blind" in response.content.decode()


def test_who_still_judges_a_calibration_gets_no_file_with_its_labels(cast: Cast) -> None:
    """The consensus leaves it out, and the files that hold every label do not."""
    label_cast(cast)
    close_round(round=cast.main, user=None)
    judge_calibration(cast, add_calibration(cast))
    client = log_in(cast.uma)
    for kind in ("judgments", "action-log", "study"):
        refused = client.get(f"{URL}{kind}/")
        assert refused.status_code == 409
        assert "judge blind in: calibration." in refused.content.decode()
    assert b"".join(client.get(f"{URL}annotator-qrels/?annotator=ana")).startswith(b"q1 0 ")


def test_queries_do_not_grow_with_the_study(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    label(cast.main, zoe, add_pairs(cast, "factual", 3), [0, 1, None])
    lead.get(URL)
    with CaptureQueriesContext(connection) as few:
        lead.get(URL)
    for _ in range(4):
        label(cast.main, zoe, add_pairs(cast, "factual", 3), [0, 1, None])
    lead.get(URL)  # brings the outcomes of the new pairs up to date
    with CaptureQueriesContext(connection) as many:
        lead.get(URL)
    assert len(many) == len(few)


def test_page_and_manifest_say_where_relevance_begins(cast: Cast, lead: Client) -> None:
    told = json.loads(lead.get(f"{URL}training-pairs/manifest/").content)
    assert (told["relevant_from"], told["positives_from"]) == (1, 1)
    assert "Positives are pairs of grade" not in read(lead)
    stricter = make.make_rubric(cast.study, publish=False)
    stricter.grades.filter(value=1).update(is_relevant=False)
    stricter.published_at = cast.rubric.published_at
    stricter.save()
    told = json.loads(lead.get(f"{URL}training-pairs/manifest/").content)
    assert (told["relevant_from"], told["positives_from"]) == (2, 1)
    told = json.loads(lead.get(f"{URL}consensus-qrels/manifest/").content)
    assert (told["relevant_from"], told["positives_from"]) == (2, None)
    assert "Positives are pairs of grade 1 or more; the rubric calls a document relevant" in read(
        lead
    )

"""The page of exports of a large pool: what a worker counted is kept, and marked when it is old."""

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.services.claims import count_label_changes
from config.celery import app
from results.models import ExportAccount
from results.selectors.export_accounts import COUNT_EXPORTS
from results.selectors.release import read_basis
from results.services.export_accounts import run_account
from results.services.gate import Gate
from studies.models import ControlPair, Job, Pair, RoundQuery
from studies.services.jobs import run_job
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.labelled import add_pairs, label, label_cast

URL = "/studies/alpha/results/exports/"
OLD = "What it was counted from has changed since."


@pytest.fixture(autouse=True, scope="module")
def as_in_a_worker() -> None:
    app.loader.import_default_modules()


@pytest.fixture
def lead(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> Client:
    """The lead of a study whose nine pairs are more than are counted at each visit."""
    monkeypatch.setattr("results.services.export_accounts.COUNTED_AT_ONCE", 8)
    monkeypatch.setattr(Gate, "asks_for_reason", False)
    label_cast(cast)
    return log_in(cast.lia)


def read(client: Client, url: str = URL) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def count(client: Client, **asked: str) -> None:
    """Ask for the counts, as the form of the page does, and let a worker make them."""
    assert client.post(f"{URL}count/", asked).status_code == 302
    job = Job.objects.filter(kind=COUNT_EXPORTS).latest("pk")
    run_job(job.pk)
    job.refresh_from_db()
    assert job.state == Job.State.DONE, job.error


def test_a_large_pool_is_counted_by_a_worker_to_the_same_page(
    cast: Cast, lead: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = read(lead)
    assert "has not been counted yet" in page
    assert "withheld</h2>" not in page
    assert "6 lines" not in page
    lead.post(f"{URL}count/")
    assert "Waiting for a worker" in read(lead)
    count(lead)
    counted = read(lead)
    assert OLD not in counted
    with monkeypatch.context() as patch:
        patch.setattr("results.services.export_accounts.COUNTED_AT_ONCE", 9)
        at_once = read(lead)
    body = '<section class="verdict calm">'
    assert below(body, counted) == below(body, at_once)
    assert "2 of 3 queries would leave the study" in counted
    assert "Tied votes on 2 pairs." in counted


def below(place: str, page: str) -> str:
    """What follows this, without the tokens that are new on every page."""
    return re.sub(r'name="csrfmiddlewaretoken" value="\w+"', "", page.partition(place)[2])


def test_one_annotators_labels_are_counted_apart(cast: Cast, lead: Client) -> None:
    count(lead)
    assert "has not been counted yet" in read(lead, f"{URL}?annotator=ben")
    count(lead, annotator="ben")
    assert "ben’s own labels: 9 of 9 pairs" in read(lead, f"{URL}?annotator=ben")
    assert "By consensus 6 of 9 pairs" in read(lead)
    count(lead, annotator="ben")
    assert ExportAccount.objects.count() == 2
    assert lead.post(f"{URL}count/", {"annotator": "nobody"}).status_code == 404


def revise_a_label(cast: Cast) -> None:
    cast.main.judgments.filter(annotator=cast.ana, pair=cast.pairs[8]).update(grade=0)
    count_label_changes({(cast.main.pk, cast.ana.pk): 1})


def add_a_label(cast: Cast) -> None:
    label(cast.main, cast.uma, cast.pairs[:1], [2])


def settle_a_pair(cast: Cast) -> None:
    make.make_final_label(cast.pairs[0], 2, by=cast.ada)


def ask_for_unanimous_votes(cast: Cast) -> None:
    cast.study.consensus = "unanimous"
    cast.study.save()


def plan_more(cast: Cast) -> None:
    RoundQuery.objects.filter(round=cast.main).update(annotators=3)


def add_to_the_pool(cast: Cast) -> None:
    add_pairs(cast, "factual", 1)


@pytest.mark.parametrize(
    "change",
    [
        revise_a_label,
        add_a_label,
        settle_a_pair,
        ask_for_unanimous_votes,
        plan_more,
        add_to_the_pool,
    ],
)
def test_whatever_changes_the_counts_marks_them_as_old(
    cast: Cast, lead: Client, change: Callable[[Cast], None]
) -> None:
    count(lead)
    assert OLD not in read(lead)
    change(cast)
    page = read(lead)
    assert OLD in page
    assert "6 lines" not in page
    count(lead)
    assert OLD not in read(lead)


def test_a_control_pair_that_joins_the_pool_makes_what_was_counted_old(cast: Cast) -> None:
    pair = cast.pairs[0]
    Pair.objects.filter(pk=pair.pk).update(pool_rank=None)
    ControlPair.objects.create(pair=pair, grade=1, decided_by="recency")
    before = read_basis(cast.study)
    Pair.objects.filter(pk=pair.pk).update(pool_rank=1)
    assert read_basis(cast.study) != before


def test_a_manifest_is_counted_as_it_is_made_whatever_is_stored(cast: Cast, lead: Client) -> None:
    count(lead)
    settle_a_pair(cast)
    make.make_final_label(cast.pairs[2], 2, by=cast.ada)
    manifest = lead.get(f"{URL}consensus-qrels/manifest/").json()
    assert manifest["counts"]["pairs_exported"] == 9
    assert "6 of 9 pairs" in read(lead)


def test_queries_of_a_counted_page_do_not_grow(cast: Cast, lead: Client) -> None:
    counts = []
    for _ in range(2):
        label(cast.main, cast.uma, add_pairs(cast, "factual", 3), [0, 1, None])
        run_account(cast.study, None)
        read(lead)
        with CaptureQueriesContext(connection) as queries:
            read(lead)
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_worker_that_fell_silent_leaves_a_page_on_which_it_can_be_asked_again(
    cast: Cast, lead: Client
) -> None:
    Job.objects.create(
        kind=COUNT_EXPORTS, study=cast.study, state=Job.State.RUNNING, heartbeat_at=timezone.now()
    )
    assert 'id="count-form"' not in read(lead)
    Job.objects.update(
        heartbeat_at=timezone.now() - timedelta(days=1),
        created_at=timezone.now() - timedelta(days=1),
    )
    page = read(lead)
    assert "The numbers could not be computed." in page
    assert 'id="count-form"' in page

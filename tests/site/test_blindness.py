"""Nothing a judge's browser receives tells what a judge must not know.

Markers are planted in every forbidden field of the database; every response of every address of
the site, as an annotator's browser gets it, is searched for them: pages, fragments, headers,
redirects, errors. The addresses are those of the permission matrix, so that none is forgotten.
"""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.models import Claim, Judgment
from results.models import CalibrationNote
from studies.models import ControlPair, Document, Member, Pair, Query, Ranking, Run
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.site.visits import HTMX, list_unanswered, visit_matrix

JUDGE = "/studies/alpha/judge/"
MARK = "zzleak"


@pytest.fixture
def planted(cast: Cast) -> Cast:
    """The cast's study with a marker in each field that no judge may see."""
    for document in Document.objects.all():
        document.external_id = f"{MARK}-doc-{document.pk}"
        document.metadata = {f"{MARK}-key": f"{MARK}-value"}
        document.superseded_by = f"{MARK}-newer"
        document.url = f"https://{MARK}.example/"
        document.save()
    for query in Query.objects.all():
        query.external_id = f"{MARK}-query-{query.pk}"
        query.metadata = {"origin": f"{MARK}-origin"}
        query.save()
    Pair.objects.update(pool_rank=918273)
    run = Run.objects.create(study=cast.study, name=f"{MARK}-run", tag=f"{MARK}-tag")
    for query in Query.objects.all():
        documents = [pair.document.external_id for pair in query.pairs.all()]
        scores = [0.918273] * len(documents)
        Ranking.objects.create(run=run, query=query, document_ids=documents, scores=scores)
    for pair in cast.pairs:
        ControlPair.objects.create(
            pair=pair, grade=2, decided_by=f"{MARK}-dimension", purpose=f"{MARK}-purpose"
        )
    wanda = make.make_member(cast.study, f"{MARK}-wanda", with_account=False)
    for pair in cast.pairs:
        make.make_judgment(cast.main, pair, wanda, 0, note=f"{MARK}-note", source="import")
        CalibrationNote.objects.create(
            round=cast.main, pair=pair, kind="undecided", note=f"{MARK}-calibration", by=wanda
        )
        make.make_final_label(pair, 2, by=wanda, reason=f"{MARK}-reason", cause="chunking")
    Member.objects.filter(pk=cast.ben.pk).update(name=f"{MARK}-ben")
    return cast


def visit_everything(client: Client, cast: Cast) -> Iterator[HttpResponse]:
    """What an annotator's browser asks for, well-behaved and otherwise."""
    yield from visit_judging(client, cast)
    yield from visit_matrix(cast, cast.ana)
    yield client.get("/studies/alpha/no-such-page/")
    Claim.objects.filter(annotator=cast.ana).update(
        expires_at=timezone.now() - timedelta(minutes=1)
    )
    yield client.get(JUDGE)


def visit_judging(client: Client, cast: Cast) -> Iterator[HttpResponse]:
    for headers in ({}, HTMX):
        response = client.get(JUDGE, headers=headers)
        yield response
        form = read_forms(response)["judgment-form"]
        yield post_form(client, form, JUDGE, headers=headers)
        yield post_form(client, form, JUDGE, grade="99", decided_by="nothing", headers=headers)
        choice = {"grade": "1", "decided_by": "recency", "note": "mine"}
        yield post_form(client, form, JUDGE, **choice, headers=headers)
        yield post_form(client, form, JUDGE, **choice | {"grade": "0"}, headers=headers)
        yield client.post(
            JUDGE + "report/",
            {"token": form.fields["token"], "kind": "other", "note": "odd"},
            headers=headers,
        )
        yield client.post(JUDGE + "report/", {"token": "x", "kind": "other"}, headers=headers)
    first, last = Judgment.objects.filter(annotator=cast.ana).order_by("pk")
    revised = {"grade": "2", "decided_by": "recency", "note": "changed"}
    form = read_forms(client.get(f"/studies/alpha/labels/{first.public_id}/"))["judgment-form"]
    yield post_form(client, form, f"/studies/alpha/labels/{first.public_id}/", **revised)
    yield client.post(JUDGE + "undo/", {"judgment": last.public_id})
    yield client.post(JUDGE + "undo/", {"judgment": "nonsense"}, headers=HTMX)
    yield client.get("/studies/alpha/results/comparison/?round=main")


def test_no_planted_marker_reaches_an_annotator(planted: Cast) -> None:
    responses = list(visit_everything(log_in(planted.ana), planted))
    assert list_unanswered(responses, "ana") == []
    for response in responses:
        received = response.content.decode() + str(response.headers)
        assert MARK not in received
        assert "918273" not in received


def test_the_search_finds_a_marker_that_is_shown(planted: Cast) -> None:
    """The sweep above would notice: a marker put where judges do look is received."""
    Document.objects.update(title=f"{MARK}-title")
    responses = visit_everything(log_in(planted.ana), planted)
    assert any(MARK in response.content.decode() for response in responses)


def test_addresses_hold_only_random_ids(planted: Cast) -> None:
    client = log_in(planted.ana)
    form = read_forms(client.get(JUDGE))["judgment-form"]
    post_form(client, form, JUDGE, grade="1", decided_by="recency")
    page = client.get("/studies/alpha/labels/").content.decode()
    own = Judgment.objects.get(annotator=planted.ana)
    assert str(own.public_id) in page
    assert f"/labels/{own.pk}/" not in page


def test_order_is_not_the_order_of_the_pool(db: None) -> None:
    """Over many annotators the best-ranked document comes first no more often than chance."""
    study = make.make_study("order", seed="d" * 32)
    make.make_round(study)
    query = make.make_query(study, annotators=None)
    best, *_ = [make.make_pair(query) for _ in range(5)]
    firsts = 0
    for _ in range(40):
        annotator = make.make_member(study, "", make.Role.ANNOTATOR)
        response = log_in(annotator).get("/studies/order/judge/")
        firsts += response.context["judge"].item.pair_id == str(best.public_id)
    assert 1 <= firsts <= 18

"""Nothing an adjudicator's browser receives tells who labelled what, nor rank or run.

Markers are planted in every such field; every answer of the adjudicators' pages is searched.
"""

from collections.abc import Iterator
from datetime import timedelta

import html5lib
import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from results.models import Lease
from studies.models import ControlPair, Document, Member, Pair, Query, Ranking, Run
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.settling import ADJUDICATE, HTMX, contest, settle
from tests.site.visits import list_unanswered, visit_matrix

MARK = "zzleak"
RANK = 918273


@pytest.fixture
def planted(cast: Cast) -> Cast:
    """Contested pairs, with a marker in each field that an adjudicator may not see."""
    contest(cast, pairs=9)
    for name in ("ana", "ben"):
        Member.objects.filter(name=name).update(name=f"{MARK}-{name}")
        cast.user(name).__class__.objects.filter(username=name).update(
            username=f"{MARK}-user-{name}", first_name=f"{MARK}-first", email=f"{MARK}@x.example"
        )
    machine = make.make_member(cast.study, f"{MARK}-llm", with_account=False, is_machine=True)
    for pair in cast.pairs:
        make.make_judgment(cast.main, pair, machine, 1, note=f"{MARK}-machine-note")
    for document in Document.objects.all():
        document.external_id = f"{MARK}-doc-{document.pk}"
        document.metadata = {f"{MARK}-key": f"{MARK}-value"}
        document.url = f"https://{MARK}.example/"
        document.save()
    for query in Query.objects.all():
        query.external_id = f"{MARK}-query-{query.pk}"
        query.metadata = {"origin": f"{MARK}-origin"}
        query.save()
    Pair.objects.update(pool_rank=RANK)
    run = Run.objects.create(study=cast.study, name=f"{MARK}-run", tag=f"{MARK}-tag")
    for query in Query.objects.all():
        documents = [pair.document.external_id for pair in query.pairs.all()]
        scores = [0.918273] * len(documents)
        Ranking.objects.create(run=run, query=query, document_ids=documents, scores=scores)
    for pair in cast.pairs:
        ControlPair.objects.create(
            pair=pair, grade=2, decided_by=f"{MARK}-dimension", purpose=f"{MARK}-purpose"
        )
    return cast


def visit_everything(client: Client, cast: Cast) -> Iterator[HttpResponse]:
    """What an adjudicator's browser asks for, well-behaved and otherwise."""
    yield from visit_settling(client, cast)
    yield from visit_matrix(cast, cast.ada)


def visit_settling(client: Client, cast: Cast) -> Iterator[HttpResponse]:
    for headers in ({}, HTMX):
        page = client.get(ADJUDICATE, headers=headers)
        yield page
        forms = read_forms(page)
        yield settle(client, page, reason="", headers=headers)
        yield post_form(client, forms["later-form"], ADJUDICATE, headers=headers)
        yield settle(client, page, headers=headers)
        yield settle(client, page, grade="0", headers=headers)
        yield settle(client, page, token="forged", headers=headers)
        yield client.get(f"{ADJUDICATE}{page.context['case'].pair_id}/", headers=headers)
        yield client.get(f"{ADJUDICATE}?class=factual&kind=tie", headers=headers)
        yield client.get(f"{ADJUDICATE}?kind=unsure", headers=headers)
    eve = make.make_member(cast.study, "eve")
    left = Pair.objects.filter(final_labels=None).first()
    Lease.objects.filter(pair=left).delete()
    Lease.objects.create(pair=left, holder=eve, expires_at=timezone.now() + timedelta(minutes=5))
    yield client.get(f"{ADJUDICATE}{left.public_id}/")
    yield client.get(f"{ADJUDICATE}images/{left.public_id}/")
    yield client.get("/studies/alpha/no-such-page/")
    yield client.post(f"/studies/alpha/results/final-labels/{left.public_id}/names/")


def test_no_name_rank_or_run_reaches_an_adjudicator(planted: Cast) -> None:
    responses = list(visit_everything(log_in(planted.ada), planted))
    statuses = {response.status_code for response in responses}
    assert {200, 302, 404, 409, 422} <= statuses
    assert list_unanswered(responses, "ada") == []
    for response in responses:
        received = response.content.decode() + str(response.headers)
        assert MARK not in received
        assert str(RANK) not in received


def test_the_search_finds_a_marker_that_is_shown(planted: Cast) -> None:
    """The sweep above would notice: a marker put where adjudicators do look is received."""
    Document.objects.update(title=f"{MARK}-title")
    responses = visit_everything(log_in(planted.ada), planted)
    assert any(MARK in response.content.decode() for response in responses)


def test_the_pages_hold_no_keys_of_people_or_labels(planted: Cast) -> None:
    page = log_in(planted.ada).get(ADJUDICATE).content.decode()
    for label in planted.main.judgments.all():
        assert str(label.public_id) not in page


def test_the_pages_are_valid_html(planted: Cast) -> None:
    for response in visit_settling(log_in(planted.ada), planted):
        if response.status_code in {302, 404} or b"<html" not in response.content:
            continue
        parser = html5lib.HTMLParser(strict=False)
        parser.parse(response.content.decode())
        assert [code for _, code, _ in parser.errors] == []
    client = log_in(planted.max)
    for path in ("", f"{planted.pairs[0].public_id}/", "?kind=tie"):
        page = client.get(f"/studies/alpha/results/final-labels/{path}").content.decode()
        parser = html5lib.HTMLParser(strict=False)
        parser.parse(page)
        assert [code for _, code, _ in parser.errors] == []
        assert page.count("<h1") == 1

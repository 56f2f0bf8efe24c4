"""What a person typed outlives their session: the same on every page where people decide."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.models import Judgment, KeptForm
from results.models import FinalLabel
from studies.models import Member
from tests import factories as make
from tests.cast import Cast
from tests.pages import Form, read_forms
from tests.results.settling import DECISION, contest

HTMX = {"HX-Request": "true"}
LABEL = {"grade": "2", "decided_by": "recency", "note": "kept word for word"}
WORDS = "kept word for word"


@dataclass(frozen=True)
class Page:
    """A page with a form: whose it is, what is typed, and whether it was recorded."""

    url: str
    person: Member
    stranger: Member
    typed: dict[str, str]
    is_recorded: Callable[[], bool]


def judging(cast: Cast) -> Page:
    def is_recorded() -> bool:
        return Judgment.objects.filter(annotator=cast.ana, note=WORDS).count() == 1

    return Page("/studies/alpha/judge/", cast.ana, cast.ben, LABEL, is_recorded)


def revising(cast: Cast) -> Page:
    own = make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    url = f"/studies/alpha/labels/{own.public_id}/"
    return Page(url, cast.ana, cast.ben, LABEL, judging(cast).is_recorded)


def adjudicating(cast: Cast) -> Page:
    def is_recorded() -> bool:
        return FinalLabel.objects.filter(by=person, reason=WORDS).count() == 1

    contest(cast)
    person = cast.ada
    typed = DECISION | {"reason": WORDS}
    return Page("/studies/alpha/adjudicate/", person, cast.ben, typed, is_recorded)


def finalising(cast: Cast) -> Page:
    def is_recorded() -> bool:
        return FinalLabel.objects.filter(by=cast.max, reason=WORDS).count() == 1

    contest(cast)
    url = f"/studies/alpha/results/final-labels/{cast.pairs[0].public_id}/"
    return Page(url, cast.max, cast.ben, DECISION | {"reason": WORDS}, is_recorded)


@pytest.fixture(
    params=[judging, revising, adjudicating, finalising], ids=lambda make: make.__name__
)
def page(cast: Cast, request: pytest.FixtureRequest) -> Page:
    found: Page = request.param(cast)
    return found


def log_in(client: Client, who: Member, url: str = "/login/") -> HttpResponse:
    """Log in as a browser does, which renews the CSRF token."""
    forms = read_forms(client.get(url)).values()
    form = next(one for one in forms if "username" in one.fields)
    return client.post(url, form.fields | {"username": who.name, "password": make.PASSWORD})


def open_form(client: Client, page: Page) -> Form:
    return read_forms(client.get(page.url))["judgment-form"]


def send(client: Client, page: Page, form: Form, **changes: Any) -> HttpResponse:
    headers = changes.pop("headers", None)
    return client.post(page.url, form.fields | page.typed | changes, headers=headers)


def browser() -> Client:
    return Client(enforce_csrf_checks=True)


def end_session(client: Client) -> None:
    """As time does: the cookies stay, what they speak of is gone."""
    client.session.flush()


@pytest.mark.parametrize("headers", [None, HTMX], ids=["plain", "htmx"])
def test_what_was_sent_after_the_session_ended_is_recorded_at_the_next_login(
    page: Page, headers: dict[str, str] | None
) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    end_session(client)
    answer = send(client, page, form, headers=headers)
    target = answer["HX-Redirect"] if headers else answer["Location"]
    assert target == f"/login/?next={page.url}"
    assert not page.is_recorded()
    assert log_in(client, page.person, target)["Location"] == page.url
    client.get(page.url)
    assert page.is_recorded()
    assert not KeptForm.objects.exists()


def test_a_colleague_who_logs_in_first_neither_sees_nor_loses_it(page: Page) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    end_session(client)
    send(client, page, form)
    log_in(client, page.stranger)
    assert WORDS not in client.get(page.url).content.decode()
    assert not page.is_recorded()
    token = client.cookies["csrftoken"].value
    client.post("/logout/", {"csrfmiddlewaretoken": token})
    answer = log_in(client, page.person)
    assert answer["Location"] == page.url
    client.get(page.url)
    assert page.is_recorded()


@pytest.mark.parametrize("headers", [None, HTMX], ids=["plain", "htmx"])
def test_after_a_login_in_another_tab_it_is_shown_again_and_sent_by_one_key(
    page: Page, headers: dict[str, str] | None
) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    client.cookies.pop("sessionid")
    log_in(client, page.person)
    answer = send(client, page, form, headers=headers)
    assert answer.status_code == 409
    assert "press Enter to send it" in answer.content.decode()
    assert not page.is_recorded()
    again = read_forms(answer)["judgment-form"]
    assert page.typed.items() <= again.fields.items()
    client.post(page.url, again.fields, headers=headers)
    assert page.is_recorded()


def test_with_the_session_ended_and_the_token_renewed_it_is_shown_after_the_login(
    page: Page,
) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    client.cookies.pop("sessionid")
    client.cookies.pop("csrftoken")
    client.get("/login/")
    answer = send(client, page, form)
    assert answer["Location"] == f"/login/?next={page.url}"
    log_in(client, page.person)
    shown = client.get(page.url)
    assert not page.is_recorded()
    again = read_forms(shown)["judgment-form"]
    assert page.typed.items() <= again.fields.items()
    client.post(page.url, again.fields)
    assert page.is_recorded()


def test_a_form_of_somebody_else_is_kept_for_them_when_another_account_sends_it(page: Page) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    end_session(client)
    log_in(client, page.stranger)
    answer = send(client, page, form)
    assert (answer.status_code, answer["Location"]) == (302, "/")
    told = client.get("/").content.decode()
    assert "made for another account" in told
    assert WORDS not in told
    end_session(client)
    log_in(client, page.person)
    again = read_forms(client.get(page.url))["judgment-form"]
    assert page.typed.items() <= again.fields.items()
    assert not page.is_recorded()


def test_it_stays_in_its_browser(page: Page) -> None:
    client, elsewhere = browser(), browser()
    log_in(client, page.person)
    form = open_form(client, page)
    end_session(client)
    send(client, page, form)
    log_in(elsewhere, page.person)
    assert WORDS not in elsewhere.get(page.url).content.decode()
    assert not page.is_recorded()


def test_it_expires(page: Page) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    end_session(client)
    send(client, page, form)
    KeptForm.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    log_in(client, page.person)
    client.get(page.url)
    assert not page.is_recorded()
    end_session(client)
    send(client, page, form)
    assert KeptForm.objects.count() == 1


def test_a_form_that_was_made_for_nobody_is_not_kept(page: Page) -> None:
    client = browser()
    log_in(client, page.person)
    form = open_form(client, page)
    forged = send(client, page, form, csrfmiddlewaretoken="", token="forged")
    assert forged.status_code == 403
    end_session(client)
    answer = send(client, page, form, token="forged")
    assert answer["Location"].startswith("/login/")
    assert not KeptForm.objects.exists()


def test_two_tabs_of_an_ended_session_are_both_kept(cast: Cast) -> None:
    """Whatever was typed first stands, and the second is told so."""
    page = judging(cast)
    client = browser()
    log_in(client, page.person)
    forms = [open_form(client, page) for _ in range(2)]
    end_session(client)
    for form in forms:
        send(client, page, form)
    log_in(client, page.person)
    assert client.get(page.url).status_code == 302
    assert client.get(page.url).status_code == 302
    assert page.is_recorded()
    assert not KeptForm.objects.exists()

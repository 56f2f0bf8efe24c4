"""A form that is refused says why, and names a setting only where the setting is the reason."""

import re
from typing import Any

import pytest
from django.test import Client

from tests import factories as make
from tests.cast import Cast
from tests.conftest import ROOT
from tests.pages import read_forms

LOGIN = {"username": "ana", "password": "irrelevant"}

pytestmark = pytest.mark.django_db


def test_an_outdated_token_says_to_load_the_page_again() -> None:
    response = Client(enforce_csrf_checks=True).post("/login/", LOGIN)
    assert response.status_code == 403
    page = response.content.decode()
    assert "load it again" in page
    assert "BASE_URL" not in page


@pytest.mark.parametrize(
    ("headers", "is_secure"),
    [
        ({"Origin": "https://judge.example.org"}, False),
        ({"Referer": "https://judge.example.org/login/"}, True),
    ],
)
def test_a_foreign_address_names_the_setting_and_both_addresses(
    headers: dict[str, str], is_secure: bool
) -> None:
    client = Client(enforce_csrf_checks=True)
    client.get("/login/")
    token = client.cookies["csrftoken"].value
    response = client.post(
        "/login/", LOGIN | {"csrfmiddlewaretoken": token}, headers=headers, secure=is_secure
    )
    assert response.status_code == 403
    page = response.content.decode()
    assert "BASE_URL" in page
    assert "https://judge.example.org" in page
    assert "http://localhost:8000" in page
    assert "load it again" not in page


FORM = re.compile(r"<form\b.*?</form>", re.DOTALL)


def test_no_form_that_can_be_asked_by_its_address_holds_the_token_as_a_field() -> None:
    forms = [
        (path.name, form)
        for path in sorted((ROOT / "templates").rglob("*.html"))
        for form in FORM.findall(path.read_text())
        if 'method="get"' in form
    ]
    assert len(forms) > 5
    assert [name for name, form in forms if "csrf_token %}" in form] == []


@pytest.mark.parametrize(
    ("url", "form_id", "typed"),
    [
        ("/studies/alpha/rubric/recheck/", "recheck-form", {"change": "clause:recency:steps"}),
        ("/studies/alpha/results/rounds/?queries=2", "calibrate-form", {"queries": "2"}),
    ],
)
def test_a_form_that_counts_by_its_address_sends_the_token_with_its_other_button(
    cast: Cast, url: str, form_id: str, typed: dict[str, Any]
) -> None:
    make.make_rubric(cast.study, clauses={"recency": {"steps": ("procedural",)}})
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, decided_by="recency")
    client = Client(enforce_csrf_checks=True)
    client.force_login(cast.max.user)
    form = read_forms(client.get(url))[form_id]
    assert "csrfmiddlewaretoken" not in form.fields
    assert client.post(form.action, form.fields | typed).status_code == 403
    answer = client.post(form.action, form.fields | form.buttons | typed)
    assert answer.status_code == 302, answer.content.decode()

"""A form that is refused says why, and names a setting only where the setting is the reason."""

import pytest
from django.test import Client

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

"""Logging in and out, and the throttle."""

import pytest
from django.test import Client, override_settings

from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in


@pytest.mark.django_db
def test_login_leads_to_my_studies() -> None:
    make.make_user("ana")
    client = Client()
    response = client.post("/login/", {"username": "ana", "password": make.PASSWORD})
    assert response.status_code == 302
    assert response.url == "/"


@pytest.mark.django_db
def test_wrong_password_is_told_without_saying_which_part_was_wrong() -> None:
    make.make_user("ana")
    pages = [
        Client().post("/login/", {"username": name, "password": "wrong"}).content.decode()
        for name in ("ana", "nobody")
    ]
    assert "logout" not in pages[0]
    assert pages[0].replace("ana", "X").count("X") >= 1
    assert len(pages[0]) == len(pages[1].replace("nobody", "ana"))


@pytest.mark.django_db
@override_settings(AXES_ENABLED=True)
def test_login_is_throttled_by_account_and_address(caplog: pytest.LogCaptureFixture) -> None:
    make.make_user("ana")
    make.make_user("ben")
    client = Client()
    for _ in range(8):
        client.post("/login/", {"username": "ana", "password": "wrong"})
    # The server's log tells of the lock alone, and names nobody.
    assert [record.name for record in caplog.records] == ["studies.signals"]
    assert "ana" not in caplog.text
    right = client.post("/login/", {"username": "ana", "password": make.PASSWORD})
    assert right.status_code == 429
    other = Client().post("/login/", {"username": "ben", "password": make.PASSWORD})
    assert other.status_code == 302


def test_logout_needs_a_post(cast: Cast) -> None:
    client = log_in(cast.ana)
    assert client.get("/logout/").status_code == 405
    assert client.post("/logout/").status_code == 302
    assert client.get("/").status_code == 302

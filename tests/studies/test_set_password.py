"""`manage.py set_password NAME` reads a password from standard input."""

import io

import pytest
from django.core.management import CommandError, call_command

from studies.models import User
from studies.services.people import find_or_create_account

pytestmark = pytest.mark.django_db


def give(monkeypatch: pytest.MonkeyPatch, name: str, typed: str) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    call_command("set_password", name, stdout=io.StringIO())


def test_an_account_without_a_password_gets_one(monkeypatch: pytest.MonkeyPatch) -> None:
    find_or_create_account("ana")
    give(monkeypatch, "ana", "velvet-lamp-42\r\n")
    assert User.objects.get(username="ana").check_password("velvet-lamp-42")


def test_blanks_within_a_password_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    find_or_create_account("ana")
    give(monkeypatch, "ana", " velvet lamp 42 \n")
    assert User.objects.get(username="ana").check_password(" velvet lamp 42 ")


@pytest.mark.parametrize(
    ("name", "typed", "reason"),
    [
        ("nobody", "velvet-lamp-42\n", "There is no account 'nobody'"),
        ("ana", "\n", "No password came in"),
        ("ana", "short\n", "too short"),
        ("ana", "password\n", "too common"),
    ],
)
def test_what_cannot_be_a_password_changes_nothing(
    monkeypatch: pytest.MonkeyPatch, name: str, typed: str, reason: str
) -> None:
    account = find_or_create_account("ana")
    with pytest.raises(CommandError, match=reason) as caught:
        give(monkeypatch, name, typed)
    assert "Nothing was changed" in str(caught.value)
    account.refresh_from_db()
    assert not account.has_usable_password()

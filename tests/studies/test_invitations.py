"""Joining by a link: once, in time, until it is taken back; with a new or an own account."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from studies.models import Action, Invitation, Member, Role, Study, User
from studies.services.invitations import create_invitation
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in

PEOPLE = "/studies/alpha/people/"
PASSWORD = "long-and-odd-enough"


def invite(study: Study, *roles: Role, **fields) -> str:
    """The address behind a fresh link."""
    admin = study.members.filter(roles__contains=["admin"]).first()
    _, token = create_invitation(
        study=study,
        roles=roles or [Role.ANNOTATOR],
        valid_for=fields.pop("valid_for", timedelta(days=1)),
        user=admin.user,
        **fields,
    )
    return f"/join/{token}/"


def create_account(link: str, username: str, client: Client | None = None):
    data = {"username": username, "password1": PASSWORD, "password2": PASSWORD}
    return (client or Client()).post(link, data)


def test_admin_makes_a_link_that_is_shown_once_and_stored_as_a_hash(cast: Cast) -> None:
    client = log_in(cast.max)
    data = {"roles": ["annotator", "lead"], "days": "7", "note": "for Nia"}
    made = client.post(PEOPLE + "invite/", data)
    link = read_link(made.content.decode())
    token = link.rstrip("/").rsplit("/", 1)[1]
    assert link.startswith("http://testserver/join/")
    assert token not in client.get(PEOPLE).content.decode()
    invitation = Invitation.objects.get()
    assert token not in str(vars(invitation))
    assert token not in str(Action.objects.get(name="invitation.created").data)
    assert timedelta(days=6) < invitation.expires_at - timezone.now() <= timedelta(days=7)


def read_link(page: str) -> str:
    return page.split('id="invitation-link"', 1)[1].split('value="', 1)[1].split('"', 1)[0]


def test_link_without_a_role_is_refused(cast: Cast) -> None:
    response = log_in(cast.max).post(PEOPLE + "invite/", {"days": "7"})
    assert response.status_code == 422
    assert "at least one role" in response.content.decode()
    assert not Invitation.objects.exists()


def test_new_person_creates_an_account_and_can_judge_at_once(cast: Cast) -> None:
    link = invite(cast.study, Role.ANNOTATOR, Role.LEAD)
    client = Client()
    assert "Alpha help centre" in client.get(link).content.decode()
    response = create_account(link, "nia", client)
    assert response.status_code == 302
    assert client.get("/studies/alpha/judge/").status_code == 200
    nia = Member.objects.get(study=cast.study, user__username="nia")
    assert nia.roles == ["annotator", "lead"]
    assert Action.objects.get(name="invitation.accepted").data["member"] == "nia"


def test_account_by_a_link_keeps_the_password_rules(cast: Cast) -> None:
    link = invite(cast.study)
    data = {"username": "nia", "password1": "nia", "password2": "nia"}
    assert Client().post(link, data).status_code == 422
    assert create_account(link, "ana").status_code == 422
    assert not User.objects.filter(username="nia").exists()
    assert Invitation.objects.get().state == "open"


def test_person_with_an_account_joins_with_it(cast: Cast) -> None:
    link = invite(cast.study, Role.ADJUDICATOR)
    client = log_in(cast.sid)
    assert "Join with this account" in client.get(link).content.decode()
    assert client.post(link).status_code == 302
    assert Member.objects.get(study=cast.study, user=cast.sid.user).roles == ["adjudicator"]


def test_visitor_can_log_in_on_the_way(cast: Cast) -> None:
    link = invite(cast.study)
    page = Client().get(link).content.decode()
    assert f"/login/?next={link}" in page


def test_member_who_accepts_gains_the_roles_and_loses_none(cast: Cast) -> None:
    log_in(cast.ana).post(invite(cast.study, Role.LEAD))
    cast.ana.refresh_from_db()
    assert cast.ana.roles == ["annotator", "lead"]


def test_used_revoked_and_expired_links_say_why_they_no_longer_work(cast: Cast) -> None:
    used, revoked, expired = invite(cast.study), invite(cast.study), invite(cast.study)
    create_account(used, "nia")
    _, second, third = Invitation.objects.order_by("pk")
    log_in(cast.max).post(f"{PEOPLE}invitations/{second.public_id}/revoke/")
    third.expires_at = timezone.now() - timedelta(seconds=1)
    third.save()
    for link, words in ((used, "already"), (revoked, "taken it back"), (expired, "run out")):
        for response in (Client().get(link), create_account(link, "ola")):
            assert response.status_code == 410
            assert words in response.content.decode()
    assert not User.objects.filter(username="ola").exists()


def test_unknown_link_is_not_found(cast: Cast) -> None:
    assert Client().get("/join/no-such-token/").status_code == 404


def test_used_link_cannot_be_taken_back(cast: Cast) -> None:
    create_account(invite(cast.study), "nia")
    url = f"{PEOPLE}invitations/{Invitation.objects.get().public_id}/revoke/"
    assert log_in(cast.max).post(url).status_code == 409
    assert Invitation.objects.get().state == "accepted"


def test_only_admins_of_the_study_take_links_back(cast: Cast) -> None:
    invite(cast.study)
    url = f"{PEOPLE}invitations/{Invitation.objects.get().public_id}/revoke/"
    assert log_in(cast.lia).post(url).status_code == 404
    assert log_in(cast.sid).post(url).status_code == 404
    assert Invitation.objects.get().state == "open"


def test_name_of_an_identity_does_not_make_its_author(cast: Cast) -> None:
    wanda = make.make_member(cast.study, "wanda", with_account=False)
    create_account(invite(cast.study), "wanda")
    wanda.refresh_from_db()
    assert wanda.user is None
    assert Member.objects.get(user__username="wanda").name == "wanda-2"


def test_link_for_an_identity_gives_its_labels_to_who_joins(cast: Cast) -> None:
    wanda = make.make_member(cast.study, "wanda", with_account=False)
    create_account(invite(cast.study, identity=wanda), "w.smith")
    wanda.refresh_from_db()
    assert wanda.user.username == "w.smith"
    assert wanda.roles == ["annotator"]


def test_deactivated_member_does_not_come_back_by_a_link(cast: Cast) -> None:
    cast.ana.is_active = False
    cast.ana.save()
    assert log_in(cast.ana).post(invite(cast.study)).status_code == 422
    assert Invitation.objects.get().state == "open"


@pytest.mark.django_db(transaction=True)
def test_link_used_by_eight_browsers_at_once_lets_one_account_join() -> None:
    study = make.make_study("alpha")
    make.make_member(study, "max", Role.ADMIN)
    link = invite(study)
    answers = run_together(
        [lambda number=number: create_account(link, f"nia{number}") for number in range(8)]
    )
    assert sorted(one.status_code for one in answers) == [302] + [410] * 7
    assert study.members.count() == 2
    assert User.objects.filter(username__startswith="nia").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_links_used_for_the_same_new_name_at_once_make_one_account() -> None:
    study = make.make_study("alpha")
    make.make_member(study, "max", Role.ADMIN)
    links = [invite(study) for _ in range(4)]
    answers = run_together([lambda link=link: create_account(link, "nia") for link in links])
    assert sorted(one.status_code for one in answers) == [302, 422, 422, 422]
    states = sorted(one.state for one in Invitation.objects.all())
    assert states == ["accepted", "open", "open", "open"]

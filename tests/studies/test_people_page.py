"""The people page: roles, activity, identities; the last admin; the log."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from studies.models import Action, Member, Role, Unblinding
from studies.services.invitations import accept_invitation, create_invitation
from studies.services.memberships import change_roles, deactivate_member
from studies.services.people import PersonRefused, ensure_member
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in

PEOPLE = "/studies/alpha/people/"


def set_roles(client: Client, member: Member, *roles: Role):
    return client.post(PEOPLE + "roles/", {"member": member.pk, "roles": [*roles]})


def test_admin_gives_several_roles_and_the_log_says_so(cast: Cast) -> None:
    response = set_roles(log_in(cast.max), cast.ana, Role.ANNOTATOR, Role.LEAD)
    assert response.status_code == 302
    cast.ana.refresh_from_db()
    assert cast.ana.roles == ["annotator", "lead"]
    action = Action.objects.get(name="member.roles_changed")
    assert action.user == cast.max.user
    assert action.data == {"member": "ana", "before": ["annotator"], "roles": ["annotator", "lead"]}


def test_saving_the_same_roles_logs_nothing(cast: Cast) -> None:
    set_roles(log_in(cast.max), cast.ana, Role.ANNOTATOR)
    assert not Action.objects.filter(name="member.roles_changed").exists()


def test_unknown_role_and_unknown_member_are_refused(cast: Cast) -> None:
    client = log_in(cast.max)
    unknown_role = client.post(PEOPLE + "roles/", {"member": cast.ana.pk, "roles": ["king"]})
    foreign = client.post(PEOPLE + "roles/", {"member": cast.sid.pk, "roles": ["lead"]})
    assert unknown_role.status_code == foreign.status_code == 422
    assert not Action.objects.filter(name="member.roles_changed").exists()


def test_last_active_admin_keeps_the_role_and_stays_active(cast: Cast) -> None:
    client = log_in(cast.max)
    set_roles(client, cast.uma, Role.ANNOTATOR)
    refused = set_roles(client, cast.max, Role.LEAD)
    also = client.post(PEOPLE + "activity/", {"member": cast.max.pk, "active": "no"})
    assert refused.status_code == also.status_code == 422
    assert "last active admin" in refused.content.decode()
    cast.max.refresh_from_db()
    assert cast.max.has_role(Role.ADMIN)


def test_admin_who_gives_the_role_away_is_led_to_a_page_they_may_open(cast: Cast) -> None:
    client = log_in(cast.uma)
    response = set_roles(client, cast.uma, Role.ANNOTATOR)
    assert client.get(response.url).status_code == 200
    gone = log_in(cast.max).post(PEOPLE + "activity/", {"member": cast.max.pk, "active": "no"})
    assert gone.status_code == 422


def test_deactivated_member_is_shut_out_and_comes_back_with_the_roles(cast: Cast) -> None:
    client = log_in(cast.max)
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    client.post(PEOPLE + "activity/", {"member": cast.ana.pk, "active": "no"})
    assert log_in(cast.ana).get("/studies/alpha/").status_code == 404
    client.post(PEOPLE + "activity/", {"member": cast.ana.pk, "active": "yes"})
    assert log_in(cast.ana).get("/studies/alpha/judge/").status_code == 200
    assert cast.ana.judgments.count() == 1
    names = Action.objects.filter(name__in=["member.deactivated", "member.reactivated"])
    assert names.count() == 2


def test_identity_is_linked_to_an_account_that_is_no_member(cast: Cast) -> None:
    wanda = make.make_member(cast.study, "wanda", with_account=False)
    client = log_in(cast.max)
    response = client.post(PEOPLE + "link/", {"member": wanda.pk, "account": "sid"})
    assert response.status_code == 302
    wanda.refresh_from_db()
    assert wanda.user == cast.sid.user


def test_linking_refuses_machines_members_and_unknown_accounts(cast: Cast) -> None:
    wanda = make.make_member(cast.study, "wanda", with_account=False)
    robot = make.make_member(cast.study, "robot", with_account=False, is_machine=True)
    client = log_in(cast.max)
    for member, account in ((robot, "sid"), (wanda, "ana"), (wanda, "nobody"), (cast.ana, "sid")):
        data = {"member": member.pk, "account": account}
        assert client.post(PEOPLE + "link/", data).status_code == 422
    assert not Member.objects.filter(pk__in=[wanda.pk, robot.pk], user__isnull=False).exists()


def test_identity_without_account_gets_no_role(cast: Cast) -> None:
    wanda = make.make_member(cast.study, "wanda", with_account=False)
    assert set_roles(log_in(cast.max), wanda, Role.LEAD).status_code == 422


def test_people_page_takes_as_many_queries_for_many_as_for_few(cast: Cast) -> None:
    client = log_in(cast.max)
    make.make_member(cast.study, "wanda", with_account=False)
    with CaptureQueriesContext(connection) as few:
        client.get(PEOPLE)
    for number in range(20):
        make.make_member(cast.study, f"more{number}", Role.ANNOTATOR)
        make.make_member(cast.study, f"identity{number}", with_account=False)
    with CaptureQueriesContext(connection) as many:
        page = client.get(PEOPLE).content.decode()
    assert "more19" in page
    assert "identity19" in page
    assert len(many) == len(few)


@pytest.mark.django_db(transaction=True)
def test_two_admins_who_remove_each_other_at_once_leave_one() -> None:
    study = make.make_study("alpha")
    admins = [make.make_member(study, name, Role.ADMIN) for name in ("max", "mia")]

    def remove(admin: Member, other: Member) -> bool:
        try:
            change_roles(member=other, roles=[Role.LEAD], user=admin.user)
            deactivate_member(member=admin, user=other.user)
        except PersonRefused:
            return False
        return True

    run_together([lambda: remove(admins[0], admins[1]), lambda: remove(admins[1], admins[0])] * 4)
    left = [one for one in study.members.all() if one.has_role(Role.ADMIN)]
    assert len(left) == 1


def test_who_reads_between_two_times_as_annotator_is_marked_as_not_blind(cast: Cast) -> None:
    later = make.make_round(cast.study, "main-2", opens_at=timezone.now() + timedelta(days=1))
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    client = log_in(cast.max)
    for roles in ([Role.ANNOTATOR, Role.LEAD], [Role.LEAD], [], [Role.ANNOTATOR]):
        assert not cast.ben.unblindings.exists()
        set_roles(client, cast.ben, *roles)
    marked = cast.ben.unblindings.get()
    assert marked.round == cast.main != later
    action = Action.objects.get(name="member.unblinded")
    assert (action.user, action.data) == (
        cast.max.user,
        {"member": "ben", "rounds": ["main"], "by": "roles"},
    )
    assert "not blind in main" in client.get(PEOPLE).content.decode()
    set_roles(client, cast.ben, Role.LEAD)
    set_roles(client, cast.ben, Role.ANNOTATOR)
    assert cast.ben.unblindings.get().at == marked.at


def test_who_could_read_imported_labels_of_a_round_to_come_is_marked_too(cast: Cast) -> None:
    cast.main.opens_at = timezone.now() + timedelta(days=1)
    cast.main.save()
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    client = log_in(cast.max)
    for roles in ([Role.LEAD], [], [Role.ANNOTATOR]):
        set_roles(client, cast.ben, *roles)
    assert cast.ben.unblindings.get().round == cast.main


@pytest.mark.parametrize("others", [0, 1])
def test_roles_make_nobody_unblind_who_could_read_no_label(cast: Cast, others: int) -> None:
    """Nobody else has labelled, or who has labelled could read nothing before."""
    make.make_judgment(cast.main, cast.pairs[0], cast.ana if others else cast.lia, 1)
    client = log_in(cast.max)
    member = cast.ben if others else cast.lia
    for roles in ([], [Role.ANNOTATOR], [Role.ANNOTATOR, Role.LEAD], [Role.ANNOTATOR]):
        set_roles(client, member, *roles)
    assert not Unblinding.objects.exists()


def test_a_reader_who_joins_as_annotator_by_a_link_or_a_file_is_marked(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    invitation, _token = create_invitation(
        study=cast.study,
        roles=[Role.ANNOTATOR],
        valid_for=timedelta(days=1),
        user=cast.max.user,
    )
    accept_invitation(invitation=invitation, user=cast.lia.user)
    ensure_member(study=cast.study, name="ada", roles=[Role.ANNOTATOR])
    assert {one.member.name for one in Unblinding.objects.all()} == {"ada", "lia"}
    assert Action.objects.filter(name="member.unblinded").count() == 2

"""What the people page shows."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from studies.access import StudyAccess
from studies.models import Invitation, Member, Role, Study
from studies.people_forms import InvitationForm

INVITATIONS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class RoleChoice:
    value: str
    label: str
    is_held: bool


@dataclass(frozen=True, slots=True)
class Person:
    """A member; `account` is the name they log in with, "" for an identity or a machine.

    `unblinded` names the rounds that they do not judge blind."""

    id: int
    name: str
    account: str
    roles: Sequence[RoleChoice]
    is_active: bool
    is_self: bool
    unblinded: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class InvitationRow:
    """`state` is one of open, accepted, revoked, expired."""

    id: str
    roles: Sequence[str]
    note: str
    identity: str
    state: str
    expires_at: datetime
    accepted_by: str


@dataclass(frozen=True, slots=True)
class PeoplePage:
    """`link` is shown once, right after it was made."""

    study: Study
    people: Sequence[Person]
    identities: Sequence[Person]
    machines: Sequence[Person]
    invitations: Sequence[InvitationRow]
    form: InvitationForm
    link: str = ""
    problem: str = ""


def show_people(
    access: StudyAccess,
    *,
    form: InvitationForm | None = None,
    link: str = "",
    problem: str = "",
) -> PeoplePage:
    study = access.study
    members = list(
        study.members.select_related("user")
        .prefetch_related("unblindings__round")
        .order_by("-is_active", "name")
    )
    with_account = [member for member in members if member.user_id is not None]
    without = [member for member in members if member.user_id is None]
    return PeoplePage(
        study=study,
        people=[show_person(member, access.member) for member in with_account],
        identities=[show_person(one, access.member) for one in without if not one.is_machine],
        machines=[show_person(one, access.member) for one in without if one.is_machine],
        invitations=list_invitations(study),
        form=form or InvitationForm(study=study),
        link=link,
        problem=problem,
    )


def show_person(member: Member, viewer: Member) -> Person:
    return Person(
        id=member.pk,
        name=member.name,
        account=member.user.username if member.user else "",
        roles=[RoleChoice(role.value, str(role.label), role in member.roles) for role in Role],
        is_active=member.is_active,
        is_self=member.pk == viewer.pk,
        unblinded=[one.round.name for one in member.unblindings.all()],
    )


def list_invitations(study: Study) -> list[InvitationRow]:
    latest = Invitation.objects.filter(study=study).select_related("identity", "accepted_by")
    return [
        InvitationRow(
            id=str(one.public_id),
            roles=[str(Role(role).label) for role in one.roles],
            note=one.note,
            identity=one.identity.name if one.identity else "",
            state=one.state,
            expires_at=one.expires_at,
            accepted_by=one.accepted_by.name if one.accepted_by else "",
        )
        for one in latest[:INVITATIONS_SHOWN]
    ]

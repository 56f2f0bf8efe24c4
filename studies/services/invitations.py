"""Joining a study by a link that works once. Only the hash of its token is stored."""

import secrets
from collections.abc import Collection
from datetime import timedelta
from hashlib import sha256

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from studies.models import Invitation, Member, Role, Study, User
from studies.services.log import record_action
from studies.services.people import PersonRefused, link_account
from studies.services.unblinding import mark_unblinded

TOKEN_BYTES = 32


class InvitationClosed(Exception):
    """The link was used, taken back or has run out; `state` says which."""

    def __init__(self, state: str) -> None:
        super().__init__(state)
        self.state = state


class NameTaken(PersonRefused):
    """Another account has this name."""


@transaction.atomic
def create_invitation(
    *,
    study: Study,
    roles: Collection[Role | str],
    valid_for: timedelta,
    user: User,
    note: str = "",
    identity: Member | None = None,
) -> tuple[Invitation, str]:
    """Return a new invitation and its token, which cannot be read again later."""
    token = secrets.token_urlsafe(TOKEN_BYTES)
    invitation = Invitation.objects.create(
        study=study,
        token_hash=hash_token(token),
        roles=[Role(role).value for role in roles],
        identity=identity,
        note=note,
        created_by=user,
        expires_at=timezone.now() + valid_for,
    )
    record_action(study, "invitation.created", user=user, data=describe_invitation(invitation))
    return invitation, token


def find_invitation(token: str) -> Invitation | None:
    return (
        Invitation.objects.select_related("study", "identity", "created_by")
        .filter(token_hash=hash_token(token))
        .first()
    )


@transaction.atomic
def revoke_invitation(*, invitation: Invitation, user: User) -> None:
    """Make the link useless. Raises InvitationClosed when it is so already."""
    locked = lock_open_invitation(invitation)
    locked.revoked_at = timezone.now()
    locked.save(update_fields=["revoked_at"])
    record_action(locked.study, "invitation.revoked", user=user, data=describe_invitation(locked))


@transaction.atomic
def accept_invitation(*, invitation: Invitation, user: User) -> Member:
    """Make the account a member with the invitation's roles, once.

    Raises InvitationClosed, and PersonRefused for who was deactivated or, where the link is for
    an identity, has a name in the study already.
    """
    locked = lock_open_invitation(invitation)
    member = join(locked, user)
    locked.accepted_at = timezone.now()
    locked.accepted_by = member
    locked.save(update_fields=["accepted_at", "accepted_by"])
    record_action(
        locked.study,
        "invitation.accepted",
        user=user,
        member=member,
        data=describe_invitation(locked) | {"member": member.name, "account": user.username},
    )
    return member


@transaction.atomic
def join_with_new_account(*, invitation: Invitation, username: str, password: str) -> Member:
    """Create an account and let it accept: both or neither. The password is checked already.

    Raises NameTaken and whatever `accept_invitation` raises.
    """
    lock_open_invitation(invitation)
    try:
        with transaction.atomic():
            user = User.objects.create_user(username=username, password=password)
    except IntegrityError as error:
        raise NameTaken(_("An account of this name exists already.")) from error
    return accept_invitation(invitation=invitation, user=user)


def lock_open_invitation(invitation: Invitation) -> Invitation:
    """The invitation as it is now, locked, so that of two browsers one finds it used."""
    locked = (
        Invitation.objects.select_for_update(of=("self",))
        .select_related("study", "identity")
        .get(pk=invitation.pk)
    )
    if locked.state != "open":
        raise InvitationClosed(locked.state)
    return locked


def join(invitation: Invitation, user: User) -> Member:
    study, identity = invitation.study, invitation.identity
    if identity is not None and identity.user_id != user.pk:
        member = link_account(member=identity, account=user, user=user)
    else:
        member = find_own_member(study, user) or Member.objects.create(
            study=study, user=user, name=find_free_name(study, user.username)
        )
    if not member.is_active:
        raise PersonRefused(
            _("You are a member of this study already, but not active. Ask an admin of it.")
        )
    mark_unblinded(member, invitation.roles, user=user)
    member.roles = [role.value for role in Role if role in {*member.roles, *invitation.roles}]
    member.save(update_fields=["roles"])
    return member


def find_own_member(study: Study, user: User) -> Member | None:
    return study.members.filter(user=user).first()


def find_free_name(study: Study, wanted: str) -> str:
    """`wanted`, with a number after it where an identity of the study has the name: a link never
    makes somebody the author of labels imported under their name."""
    taken = set(study.members.filter(name__startswith=wanted).values_list("name", flat=True))
    names = (f"{wanted}-{number}" for number in range(2, len(taken) + 3))
    return wanted if wanted not in taken else next(name for name in names if name not in taken)


def hash_token(token: str) -> str:
    """A token has 256 random bits, so that a plain hash of it cannot be guessed."""
    return sha256(token.encode()).hexdigest()


def describe_invitation(invitation: Invitation) -> dict[str, object]:
    return {
        "invitation": str(invitation.public_id),
        "roles": invitation.roles,
        "identity": invitation.identity.name if invitation.identity else None,
        "note": invitation.note,
        "expires_at": invitation.expires_at.isoformat(),
    }

"""Accounts, and the identities that people have within a study."""

from __future__ import annotations

from collections.abc import Collection

from django.contrib.auth.password_validation import validate_password
from django.contrib.auth.validators import UnicodeUsernameValidator
from django.core.exceptions import ValidationError
from django.db import transaction

from studies.models import Member, Role, Study, User
from studies.services.log import record_action
from studies.services.unblinding import mark_unblinded


class PersonRefused(Exception):
    """Something about a person cannot be done, for a reason that an admin can act on."""


def account_fault(name: str) -> str | None:
    """Why nobody can log in by this name, or None when somebody can."""
    try:
        UnicodeUsernameValidator()(name)
        User._meta.get_field("username").run_validators(name)
    except ValidationError:
        return (
            f"{name!r} cannot be the name of an account: it takes letters, digits and @ . + - _, "
            "without blanks, 150 at most"
        )
    if User.normalize_username(name) != name:
        return f"{name!r} is not in Unicode's NFKC form, which account names are kept in"
    return None


def find_or_create_account(name: str) -> User:
    """The account of this name, created without a password if missing.

    Nobody can log in to a new one until a password is set. Raises PersonRefused.
    """
    if fault := account_fault(name):
        raise PersonRefused(fault)
    user = User.objects.filter(username=name).first()
    return user or User.objects.create_user(username=name)


def find_or_create_identity(study: Study, name: str, *, is_machine: bool = False) -> Member:
    """The study's member of this name, created as an identity without account if missing."""
    member, _ = Member.objects.get_or_create(
        study=study, name=name, defaults={"is_machine": is_machine}
    )
    return member


@transaction.atomic
def ensure_member(
    *,
    study: Study,
    name: str,
    roles: Collection[Role | str],
    user: User | None = None,
    is_logged: bool = True,
) -> tuple[Member, bool]:
    """Give the person `name` (account and member alike) these roles in the study.

    Creates what is missing; an identity of that name without account is linked to the account;
    roles already held are kept. `user` is who asked for it; `is_logged` is False where the study's
    log tells of it already. Returns the member and whether anything changed. Raises PersonRefused,
    for a machine too.
    """
    account = find_or_create_account(name)
    member = study.members.filter(user=account).first()
    member = member or find_or_create_identity(study, name)
    linked = _link(member, account)
    wanted = [Role(role).value for role in roles]
    mark_unblinded(member, wanted, user=user, is_logged=is_logged)
    added = _add_roles(member, wanted)
    if linked and is_logged:
        _record_link(member, account, user)
    if added and is_logged:
        _record(member, "member.roles_added", {"roles": added}, user)
    return member, linked or bool(added)


def link_account(*, member: Member, account: User, user: User | None = None) -> Member:
    """Let an account speak for an identity of the study, whose labels become theirs.

    Raises PersonRefused when either is linked already, and for a machine.
    """
    with transaction.atomic():
        locked = Member.objects.select_for_update().get(pk=member.pk)
        if _link(locked, account):
            _record_link(locked, account, user)
    member.refresh_from_db()
    return member


def _link(member: Member, account: User) -> bool:
    if member.user_id == account.pk:
        return False
    if member.is_machine:
        raise PersonRefused(f"{member.name} is a machine; a machine has no account and no role")
    if member.user_id is not None:
        raise PersonRefused(f"{member.name} belongs to another account in this study")
    if member.study.members.filter(user=account).exists():
        raise PersonRefused(f"the account {account.username} has another name in this study")
    member.user = account
    member.save(update_fields=["user"])
    return True


def _add_roles(member: Member, roles: Collection[Role | str]) -> list[str]:
    """Returns the roles that the member had not."""
    wanted = dict.fromkeys(Role(role).value for role in roles)
    added = [role for role in wanted if role not in member.roles]
    if added:
        member.roles = [*member.roles, *added]
        member.save(update_fields=["roles"])
    return added


def _record_link(member: Member, account: User, user: User | None) -> None:
    _record(member, "member.linked", {"account": account.username}, user)


def _record(member: Member, action: str, data: dict[str, object], user: User | None) -> None:
    record_action(member.study, action, user=user, data={"member": member.name, **data})


def set_password(*, name: str, password: str) -> User:
    """Give an account a password, checked by the site's rules. Raises PersonRefused."""
    user = User.objects.filter(username=name).first()
    if user is None:
        raise PersonRefused(
            f"There is no account {name!r}. Accounts come from study.yaml (people) or are "
            "created by a superuser."
        )
    try:
        validate_password(password, user)
    except ValidationError as error:
        raise PersonRefused(" ".join(error.messages)) from None
    user.set_password(password)
    user.save(update_fields=["password"])
    return user

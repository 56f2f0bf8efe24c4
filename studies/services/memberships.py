"""What members may do, and whether they are active. Nobody is ever deleted."""

from collections.abc import Collection

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _

from studies.models import Member, Role, Study, User
from studies.services.log import record_action
from studies.services.people import PersonRefused
from studies.services.unblinding import mark_unblinded


@transaction.atomic
def change_roles(*, member: Member, roles: Collection[Role | str], user: User) -> Member:
    """Give the member exactly these roles.

    Who could read others' labels before is marked as not blind where they annotate from now on
    (see `studies.services.unblinding`). Raises PersonRefused for who has no account, and when no
    active admin would be left.
    """
    locked = lock_member(member)
    if locked.user_id is None:
        raise PersonRefused(
            _("%(name)s has no account and can have no role.") % {"name": locked.name}
        )
    wanted = [role.value for role in Role if role in set(roles)]
    if wanted == locked.roles:
        return locked
    if Role.ADMIN not in wanted:
        refuse_without_admin(locked)
    mark_unblinded(locked, wanted, user=user)
    before, locked.roles = locked.roles, wanted
    locked.save(update_fields=["roles"])
    data = {"member": locked.name, "roles": wanted, "before": before}
    record_action(locked.study, "member.roles_changed", user=user, data=data)
    return locked


@transaction.atomic
def deactivate_member(*, member: Member, user: User) -> Member:
    """Shut the member out; labels and name stay. Raises PersonRefused for the last admin."""
    locked = lock_member(member)
    if locked.is_active:
        refuse_without_admin(locked)
        set_activity(locked, is_active=False, user=user)
    return locked


@transaction.atomic
def reactivate_member(*, member: Member, user: User) -> Member:
    locked = lock_member(member)
    if not locked.is_active:
        set_activity(locked, is_active=True, user=user)
    return locked


def set_activity(member: Member, *, is_active: bool, user: User) -> None:
    member.is_active = is_active
    member.save(update_fields=["is_active"])
    name = "member.reactivated" if is_active else "member.deactivated"
    record_action(member.study, name, user=user, data={"member": member.name})


def lock_member(member: Member) -> Member:
    """The member as it is now, under a lock of the study: two admins who take each other's role
    at once come one after the other. Inserts that name the study go on meanwhile."""
    Study.objects.select_for_update(no_key=True).get(pk=member.study_id)
    return Member.objects.select_related("study").get(pk=member.pk)


def refuse_without_admin(member: Member) -> None:
    others = list_active_admins(member.study).exclude(pk=member.pk)
    if member.has_role(Role.ADMIN) and not others.exists():
        raise PersonRefused(
            _("%(name)s is the last active admin. Make somebody else an admin first.")
            % {"name": member.name}
        )


def list_active_admins(study: Study) -> QuerySet[Member]:
    return study.members.filter(
        is_active=True, user__is_active=True, roles__contains=[Role.ADMIN.value]
    )

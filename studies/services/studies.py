"""Creating a study, and changing how it collects."""

from collections.abc import Mapping
from typing import Any

from django.db import transaction

from studies.models import Member, Role, Study, User
from studies.services.log import record_action


@transaction.atomic
def create_study(*, fields: Mapping[str, Any], user: User) -> Study:
    """Create a study whose first member and admin is the account that asks for it.

    Raises ValidationError for fields that the model refuses.
    """
    study = Study(**fields)
    study.full_clean()
    study.save()
    member = Member.objects.create(
        study=study, user=user, name=user.username, roles=[Role.ADMIN.value]
    )
    record_action(study, "study.created", user=user, member=member, data=dict(fields))
    return study


@transaction.atomic
def change_settings(*, study: Study, fields: Mapping[str, Any], user: User) -> Study:
    """Change some settings; the log keeps what each was before."""
    locked = Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    before = {name: getattr(locked, name) for name in fields}
    changed = {name: value for name, value in fields.items() if value != before[name]}
    if not changed:
        return locked
    for name, value in changed.items():
        setattr(locked, name, value)
    locked.full_clean()
    locked.save(update_fields=list(changed))
    data = {name: {"before": before[name], "now": value} for name, value in changed.items()}
    record_action(locked, "study.changed", user=user, data=data)
    return locked

"""Writing to the append-only log."""

import uuid
from typing import Any

from studies.models import Action, Member, Study, User
from studies.rows import insert_row


def record_action(
    study: Study,
    name: str,
    *,
    user: User | None = None,
    member: Member | None = None,
    data: dict[str, Any] | None = None,
    active_seconds: float | None = None,
    away_seconds: float | None = None,
    key: uuid.UUID | None = None,
) -> Action:
    """Append one line to the study's log, within the caller's transaction.

    `name` is dotted, object first, past tense: `judgment.recorded`. Raises IntegrityError when
    `key`, a form's one-time key, has been used before.
    """
    action = Action(
        study=study,
        name=name,
        user=user,
        member=member,
        data=data or {},
        active_seconds=active_seconds,
        away_seconds=away_seconds,
        key=key,
    )
    insert_row(action)
    return action

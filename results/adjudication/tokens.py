"""The signed slip that ties a settling form to what it was shown with."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.core import signing
from django.utils import timezone

from annotation.tokens import BadToken, measure_time

SALT = "results.shown-case"


@dataclass(frozen=True, slots=True)
class ShownCase:
    """Who was shown which pair, under which rubric version, when, and with which final label
    standing ("" for none)."""

    member_id: int
    pair_id: uuid.UUID
    rubric_version_id: int
    final_id: str
    shown_at: datetime

    def sign(self) -> str:
        return signing.dumps(
            [
                self.member_id,
                str(self.pair_id),
                self.rubric_version_id,
                self.final_id,
                self.shown_at.timestamp(),
            ],
            salt=SALT,
        )

    def measure_time(self) -> tuple[float, float]:
        """Return the active and the away seconds since the pair was shown."""
        return measure_time(self.shown_at)


def read_member(token: str) -> int:
    """The key of the member who was shown the pair. Raises BadToken."""
    return read_token(token).member_id


def read_token(token: str) -> ShownCase:
    """Raises BadToken when the slip was not signed by this installation."""
    try:
        member, pair, version, final, shown_at = signing.loads(token, salt=SALT)
        return ShownCase(
            member_id=member,
            pair_id=uuid.UUID(pair),
            rubric_version_id=version,
            final_id=final,
            shown_at=datetime.fromtimestamp(shown_at, tz=timezone.get_default_timezone()),
        )
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise BadToken("This form does not come from this site, or was changed.") from error

"""The signed slip that ties a judging form to what it was shown with.

It says who was shown which pair, in which round, under which rubric version and when, so that a
form cannot label another pair, be sent by somebody else, or claim another time. It is signed, not
secret; it holds nothing that a judge may not know.
"""

import uuid
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.core import signing
from django.utils import timezone

SALT = "annotation.shown-pair"
# Time beyond this between showing a pair and recording its label counts as away.
ACTIVE_LIMIT = timedelta(minutes=5)


class BadToken(ValueError):
    """The slip was not made here, or was changed."""


@dataclass(frozen=True, slots=True)
class ShownPair:
    """`judgment_id` and `state` are set when an own label was shown for revision: which one,
    and what it said then."""

    annotator_id: int
    round_id: int
    rubric_version_id: int
    pair_id: uuid.UUID
    shown_at: datetime
    judgment_id: str = ""
    state: str = ""

    def sign(self) -> str:
        return signing.dumps(
            [
                self.annotator_id,
                self.round_id,
                self.rubric_version_id,
                str(self.pair_id),
                self.shown_at.timestamp(),
                self.judgment_id,
                self.state,
            ],
            salt=SALT,
        )

    def measure_time(self) -> tuple[float, float]:
        """Return the active and the away seconds since the pair was shown."""
        elapsed = max(timezone.now() - self.shown_at, timedelta())
        active = min(elapsed, ACTIVE_LIMIT)
        return active.total_seconds(), (elapsed - active).total_seconds()


def read_token(token: str) -> ShownPair:
    """Raises BadToken when the slip was not signed by this installation."""
    try:
        annotator, round_, version, pair, shown_at, judgment, state = signing.loads(
            token, salt=SALT
        )
        return ShownPair(
            annotator_id=annotator,
            round_id=round_,
            rubric_version_id=version,
            pair_id=uuid.UUID(pair),
            shown_at=datetime.fromtimestamp(shown_at, tz=timezone.get_default_timezone()),
            judgment_id=judgment,
            state=state,
        )
    except (signing.BadSignature, ValueError, TypeError) as error:
        raise BadToken("This form does not come from this site, or was changed.") from error

"""The signed slip that ties a judging form to what it was shown with.

It says who was shown which pair, in which round, under which rubric version and when, so that a
form cannot label another pair, be sent by somebody else, or claim another time. It is signed, not
secret; it holds nothing that a judge may not know.
"""

import uuid
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.core import signing
from django.utils import timezone

SALT = "annotation.shown-pair"
# Time beyond this between showing a pair and recording its label counts as away.
ACTIVE_LIMIT = timedelta(minutes=5)
AWAY_DIGITS = 12  # milliseconds: about thirty years


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
    # What the browser says it was away for; not signed, and bounded where time is measured.
    reported_away: timedelta = timedelta()

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
        return measure_time(self.shown_at, self.reported_away)


def measure_time(shown_at: datetime, reported_away: timedelta = timedelta()) -> tuple[float, float]:
    """Return the active and the away seconds since then.

    Away is what the browser reports, at most what has passed; of the rest, what is beyond the
    limit is away as well.
    """
    elapsed = max(timezone.now() - shown_at, timedelta())
    away = min(max(reported_away, timedelta()), elapsed)
    active = min(elapsed - away, ACTIVE_LIMIT)
    return active.total_seconds(), (elapsed - active).total_seconds()


@dataclass(frozen=True, slots=True)
class Slip:
    """What a form was shown with, and its one-time key."""

    shown: ShownPair
    key: uuid.UUID


def read_slip(data: Mapping[str, str], *, annotator_id: int) -> Slip:
    """The slip of a submitted form, with the time that its browser says it was away.

    Raises BadToken where it was not made by this installation, or not for this annotator.
    """
    shown = read_token(data.get("token", ""))
    try:
        key = uuid.UUID(data.get("key", ""))
    except ValueError as error:
        raise BadToken("This form has lost its key.") from error
    if shown.annotator_id != annotator_id:
        raise BadToken("This form was made for somebody else.")
    return Slip(replace(shown, reported_away=read_away(data.get("away", ""))), key)


def read_away(said: str) -> timedelta:
    """What is no number of milliseconds, whatever it is, counts as nothing: no label is refused
    for its time."""
    is_number = said.isascii() and said.isdigit() and len(said) <= AWAY_DIGITS
    return timedelta(milliseconds=int(said) if is_number else 0)


def read_annotator(token: str) -> int:
    """The key of the member who was shown the pair. Raises BadToken."""
    return read_token(token).annotator_id


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

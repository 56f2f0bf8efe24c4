"""How long judging takes: seconds for a pair, hours for many."""

from collections.abc import Iterable

from annotation.progress.counts import Labels

# Assumed before anything was measured.
SECONDS_PER_PAIR = 17.5


def measure_pace(labels: Iterable[Labels]) -> float:
    """Mean active seconds of the labels given here; the assumption where there are none."""
    seconds = timed = 0.0
    for one in labels:
        seconds += one.seconds
        timed += one.timed
    return seconds / timed if timed and seconds else SECONDS_PER_PAIR


def count_hours(pairs: float, seconds_per_pair: float) -> float:
    return pairs * seconds_per_pair / 3600

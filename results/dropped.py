"""How much a study has shed: the share of dropped pairs, and from where on it is told.

A set without its hardest pairs reports a recall that no system reproduces, so the share stands
beside whatever is told of the set. Nothing here knows Django or the database.
"""

from typing import Literal

Level = Literal["", "warning", "alarm"]

WARNING_FROM = 0.05
ALARM_FROM = 0.15


def judge_dropped_share(share: float | None) -> Level:
    """Whether a share of dropped pairs (0 to 1; None where nothing is decided) is to be warned of.

    Judged on the unrounded share: a warning from 5%, an alarm from 15%.
    """
    if share is None or share < WARNING_FROM:
        return ""
    return "alarm" if share >= ALARM_FROM else "warning"

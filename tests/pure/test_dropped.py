"""When the share of dropped pairs is warned of."""

import pytest

from results.dropped import judge_dropped_share


@pytest.mark.parametrize(
    ("share", "level"),
    [
        (None, ""),
        (0.0, ""),
        (0.0499, ""),
        (0.05, "warning"),
        (0.1499, "warning"),
        (0.15, "alarm"),
        (1.0, "alarm"),
    ],
)
def test_a_warning_from_five_percent_and_an_alarm_from_fifteen(
    share: float | None, level: str
) -> None:
    assert judge_dropped_share(share) == level

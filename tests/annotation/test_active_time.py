"""Active and away time: what the browser reports, bounded by what the server has measured."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.http import HttpResponse
from django.utils import timezone

from annotation.models import Judgment
from annotation.tokens import ShownPair, read_token
from studies.models import Action
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

JUDGE = "/studies/alpha/judge/"


def measure(seconds: float, away: float = 0) -> tuple[int, int]:
    """Active and away time, in whole seconds, of a pair shown `seconds` ago."""
    since = timezone.now() - timedelta(seconds=seconds)
    shown = ShownPair(1, 1, 1, None, since, reported_away=timedelta(seconds=away))
    active, gone = shown.measure_time()
    return round(active), round(gone)


@pytest.mark.parametrize(
    ("seconds", "away", "measured"),
    [
        (40, 0, (40, 0)),
        (40, 30, (10, 30)),
        (40, 4000, (0, 40)),
        (40, -30, (40, 0)),
        (1000, 0, (300, 700)),
        (1000, 900, (100, 900)),
        (1000, 200, (300, 700)),
        (-5, 10, (0, 0)),
    ],
)
def test_time_away_is_bounded_by_what_has_passed(
    seconds: float, away: float, measured: tuple[int, int]
) -> None:
    assert measure(seconds, away) == measured


def judge(cast: Cast, *, shown_before: timedelta, away: str, **changes: str) -> HttpResponse:
    """Judge a pair that was shown some time ago, with what the browser says it was away for."""
    client = log_in(cast.ana)
    form = read_forms(client.get(JUDGE))["judgment-form"]
    slip = client.get(JUDGE).context["judge"].token
    form.fields["token"] = age(slip, shown_before)
    return post_form(client, form, JUDGE, grade="1", decided_by="recency", away=away, **changes)


def age(slip: str, by: timedelta) -> str:
    shown = read_token(slip)
    return replace(shown, shown_at=shown.shown_at - by).sign()


def test_time_away_is_told_apart_in_the_label_and_the_log(cast: Cast) -> None:
    assert judge(cast, shown_before=timedelta(seconds=100), away="70000").status_code == 302
    action = Action.objects.get(name="judgment.recorded")
    assert Judgment.objects.get().active_seconds == pytest.approx(30, abs=5)
    assert action.active_seconds == pytest.approx(30, abs=5)
    assert action.away_seconds == pytest.approx(70, abs=0.1)


@pytest.mark.parametrize("away", ["", "x", "-5", "1e9", "٣", "9" * 400, "NaN"])
def test_no_label_is_refused_for_its_time(cast: Cast, away: str) -> None:
    assert judge(cast, shown_before=timedelta(seconds=10), away=away).status_code == 302
    assert Judgment.objects.get().active_seconds == pytest.approx(10, abs=5)


def test_browser_cannot_make_time_negative_or_longer(cast: Cast) -> None:
    judge(cast, shown_before=timedelta(seconds=10), away="999999999999")
    action = Action.objects.get(name="judgment.recorded")
    assert action.active_seconds == 0
    assert action.away_seconds == pytest.approx(10, abs=5)

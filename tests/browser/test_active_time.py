"""Time away, as a real browser reports it: hidden tabs and idle spans."""

import pytest
from playwright.sync_api import Page, expect

from studies.models import Action
from tests.browser.conftest import LogIn
from tests.cast import Cast

pytestmark = pytest.mark.django_db(transaction=True)
HIDE = """(hidden) => {
  Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
  document.dispatchEvent(new Event("visibilitychange"));
}"""


@pytest.fixture
def judge(cast: Cast, log_in: LogIn) -> Page:
    """The judging screen under a clock that the test turns."""
    page = log_in(cast.ana)
    page.clock.install()
    page.goto("/studies/alpha/judge/")
    return page


def send_and_read(page: Page) -> int:
    """Record a label; returns the milliseconds away that went with it."""
    with page.expect_request(lambda request: request.method == "POST") as sent:
        for key in ("1", "A", "Enter"):
            page.keyboard.press(key)
    expect(page.get_by_role("status")).to_contain_text("Recorded")
    return int(sent.value.post_data.split("away=", 1)[1].split("&", 1)[0])


def test_hidden_tab_is_away_from_its_first_moment(judge: Page) -> None:
    judge.evaluate(HIDE, True)
    judge.clock.fast_forward(40_000)
    judge.evaluate(HIDE, False)
    assert 40_000 <= send_and_read(judge) < 55_000
    assert Action.objects.get(name="judgment.recorded").away_seconds < 30


def test_first_minute_without_a_sign_is_reading(judge: Page) -> None:
    judge.clock.fast_forward(50_000)
    assert send_and_read(judge) == 0


def test_time_beyond_a_minute_without_a_sign_is_away(judge: Page) -> None:
    judge.clock.fast_forward(100_000)
    assert 40_000 <= send_and_read(judge) < 55_000


def test_each_pair_starts_anew(judge: Page) -> None:
    judge.clock.fast_forward(100_000)
    send_and_read(judge)
    assert send_and_read(judge) == 0

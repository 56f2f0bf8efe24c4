"""Debian's chromium, driven by Playwright against pytest-django's live server.

Playwright's synchronous interface runs an event loop in the thread of the test, which makes
Django refuse database work there; within this folder it is told that nothing is shared.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from studies.models import Member
from tests import factories as make

HERE = Path(__file__).parent
LogIn = Callable[[Member], Page]


def find_chromium() -> Path:
    return Path(os.environ.get("DISSENSUS_TEST_CHROMIUM", "/usr/bin/chromium"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    missing = not find_chromium().is_file()
    for item in items:
        if HERE not in item.path.parents:
            continue
        item.add_marker(pytest.mark.browser)
        if missing:
            reason = f"browser: no chromium at {find_chromium()}; set DISSENSUS_TEST_CHROMIUM"
            item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="session", autouse=True)
def _database_work_beside_playwright() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
        yield


@pytest.fixture(scope="session")
def base_url(live_server: LiveServer) -> str:
    """Where relative addresses lead; pytest-base-url's own fixture warns under this pytest."""
    return live_server.url


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_type_launch_args,
        "executable_path": str(find_chromium()),
        "args": ["--no-sandbox", "--disable-gpu"],
    }


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any]) -> dict[str, Any]:
    return {
        **browser_context_args,
        "viewport": {"width": 1280, "height": 720},
        "reduced_motion": "reduce",
    }


@pytest.fixture
def log_in(page: Page) -> LogIn:
    """Log a member in through the login page; returns the page, at "my studies"."""

    def go(member: Member) -> Page:
        page.goto("/login/")
        page.get_by_label("User name").fill(member.name)
        page.get_by_label("Password").fill(make.PASSWORD)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("My studies")
        return page

    return go


class RequestsUnderWay:
    """Counts what the server has begun and not yet answered."""

    def __init__(self) -> None:
        self.count = 0
        self.lock = threading.Lock()

    def begin(self, **kwargs: object) -> None:
        with self.lock:
            self.count += 1

    def end(self, **kwargs: object) -> None:
        with self.lock:
            self.count -= 1


@pytest.fixture(autouse=True)
def idle_server(page: Page, transactional_db: None) -> Iterator[None]:
    """Ends a test only when the server has answered all that the browser asked: a request that
    outlives its test would meet the next one's database."""
    under_way = RequestsUnderWay()
    request_started.connect(under_way.begin)
    request_finished.connect(under_way.end)
    yield
    if not page.is_closed():
        page.goto("about:blank")
    for _ in range(500):
        if under_way.count <= 0:
            break
        time.sleep(0.02)
    request_started.disconnect(under_way.begin)
    request_finished.disconnect(under_way.end)


@pytest.fixture(autouse=True)
def complaints(page: Page) -> Any:
    """What the browser complains of (scripts, the content security policy) fails the test."""
    heard: list[str] = []
    page.on("pageerror", lambda error: heard.append(str(error)))
    page.on(
        "console",
        lambda line: heard.append(line.text) if "Content Security Policy" in line.text else None,
    )
    yield heard
    assert heard == []

"""Dates and times: one way on every page, in every language."""

import re
from datetime import UTC, date, datetime

import pytest
from django.utils import translation

from studies.templatetags.moments import day, moment
from tests.conftest import ROOT

EVENING = datetime(2026, 11, 30, 23, 5, 9, 120, tzinfo=UTC)


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("en", "30 Nov 2026, 23:05 UTC"),
        ("id", "30 Nov 2026, 23:05 UTC"),
        ("zh-hant", "2026年11月30日 23:05 UTC"),
    ],
)
def test_a_moment_says_its_time_zone_and_machines_read_it_too(language: str, text: str) -> None:
    with translation.override(language):
        assert moment(EVENING) == f'<time datetime="2026-11-30T23:05:09+00:00">{text}</time>'


def test_a_day_is_written_as_the_day_of_a_moment_is() -> None:
    assert day(date(2026, 11, 30)) == '<time datetime="2026-11-30">30 Nov 2026</time>'


def test_what_never_was_is_nothing() -> None:
    assert moment(None) == day(None) == ""


def test_no_template_writes_dates_in_another_way() -> None:
    others = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "templates").rglob("*.html")
        if re.search(r"\|\s*(date|time)\b", path.read_text())
    }
    assert others == set()

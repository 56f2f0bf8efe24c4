"""On a phone: the document stands in the first screen, and nothing has to be moved sideways."""

import pytest
from playwright.sync_api import Page, expect

from results.services.reports import run_agreement
from results.services.scopes import Scope
from tests import factories as make
from tests.browser.conftest import LogIn
from tests.cast import Cast

pytestmark = pytest.mark.django_db(transaction=True)
PHONE = {"width": 390, "height": 844}
HEADER = 120
LABEL = "#judgment-form"


def find_wide(page: Page) -> list[str]:
    """Boxes whose content is wider than they are."""
    found: list[str] = page.evaluate(
        """() => [document.documentElement, ...document.querySelectorAll(".table-scroll")]
            .filter((box) => box.scrollWidth > box.clientWidth + 1)
            .map((box) => box.className || box.tagName)"""
    )
    return found


def open_on_phone(log_in: LogIn, cast: Cast, name: str, path: str) -> Page:
    page = log_in(getattr(cast, name))
    page.set_viewport_size(PHONE)
    page.goto(path)
    return page


def test_the_document_is_read_in_the_first_screen(cast: Cast, log_in: LogIn) -> None:
    page = open_on_phone(log_in, cast, "ana", "/studies/alpha/judge/")
    document, form = page.locator("#document-body").bounding_box(), page.locator(LABEL)
    box = form.bounding_box()
    assert document is not None
    assert box is not None
    assert document["y"] < PHONE["height"] / 3
    assert box["y"] + box["height"] <= PHONE["height"] + 1


def test_the_test_of_the_chosen_dimension_stands_whole(cast: Cast, log_in: LogIn) -> None:
    page = open_on_phone(log_in, cast, "ana", "/studies/alpha/judge/")
    dimension = page.locator(".dimensions > .options > .option").first
    dimension.click()
    words = dimension.locator("small")
    assert words.is_visible()
    assert words.evaluate("(one) => one.scrollWidth <= one.clientWidth + 1")


def test_note_and_navigation_are_there_and_the_chosen_definition_stands_whole(
    cast: Cast, log_in: LogIn
) -> None:
    page = open_on_phone(log_in, cast, "ana", "/studies/alpha/judge/")
    expect(page.get_by_label("Why?")).to_be_in_viewport(ratio=1)
    expect(page.get_by_role("link", name="My labels")).to_be_in_viewport(ratio=1)
    grade = page.locator(".grades .option").first
    grade.click()
    whole = "(one) => one.scrollWidth <= one.clientWidth + 1 && one.clientHeight > 0"
    assert grade.locator("small").evaluate(whole)
    page.get_by_label("full texts").check()
    for words in page.locator(".options > .option small").all():
        expect(words).to_be_visible()


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("ana", "/studies/alpha/labels/"),
        ("max", "/studies/alpha/people/"),
        ("max", "/studies/alpha/progress/"),
        ("max", "/studies/alpha/classes/"),
        ("max", "/studies/alpha/import/"),
        ("max", "/studies/alpha/results/final-labels/"),
        ("max", "/studies/alpha/results/queries/"),
        ("max", "/studies/alpha/results/people/"),
    ],
)
def test_lists_fit_and_headers_are_low(cast: Cast, log_in: LogIn, name: str, path: str) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, note="a note of some words")
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 0)
    run_agreement(cast.study, scope=Scope())
    page = open_on_phone(log_in, cast, name, path)
    assert find_wide(page) == []
    header = page.locator(".bar").bounding_box()
    assert header is not None
    assert header["height"] < HEADER

"""The image to judge: zoom and pan by wheel, drag and keys; a broken one says so."""

import io
from typing import Any

import pytest
from django.core.files.base import ContentFile
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from annotation.models import ProblemReport
from studies.models import DocumentText
from tests.browser.conftest import LogIn
from tests.cast import Cast


@pytest.fixture
def cast_of_pictures(transactional_db: None, settings: Any, tmp_path: Any) -> Cast:
    """The cast's documents as images of 1600 × 1200 pixels."""
    from tests.cast import make_cast

    settings.MEDIA_ROOT = tmp_path / "media"
    cast = make_cast()
    buffer = io.BytesIO()
    Image.new("RGB", (1600, 1200), "teal").save(buffer, "PNG")
    for text in DocumentText.objects.select_related("document"):
        text.image.save("picture.png", ContentFile(buffer.getvalue()))
        text.document.format = "image"
        text.document.save()
    return cast


@pytest.fixture
def picture(cast_of_pictures: Cast, log_in: LogIn) -> Locator:
    page = log_in(cast_of_pictures.ana)
    page.goto("/studies/alpha/judge/")
    image = page.get_by_alt_text("The image to judge")
    expect(image).to_be_visible()
    page.wait_for_function("document.querySelector('.picture-view img').naturalWidth > 0")
    return image


def width(image: Locator) -> float:
    box = image.bounding_box()
    assert box
    return box["width"]


def test_a_click_shows_the_full_size_and_another_all_of_it(picture: Locator, page: Page) -> None:
    fitted = width(picture)
    picture.click()
    assert width(picture) == 1600
    picture.click()
    assert width(picture) == fitted


def test_keys_zoom_pan_and_fit(picture: Locator, page: Page) -> None:
    fitted = width(picture)
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert width(picture) == pytest.approx(fitted * 1.25**2, rel=0.01)
    view = page.locator(".picture-view")
    before = view.evaluate("view => view.scrollLeft")
    page.keyboard.press("ArrowRight")
    assert view.evaluate("view => view.scrollLeft") > before
    page.keyboard.press("-")
    page.keyboard.press("Escape")
    assert width(picture) == fitted
    assert page.locator("#judgment-form input:checked").count() == 0


def test_the_wheel_zooms_where_the_pointer_is_once_zoomed(picture: Locator, page: Page) -> None:
    picture.hover()
    page.keyboard.down("Control")
    page.mouse.wheel(0, -100)
    page.keyboard.up("Control")
    expect(page.locator(".picture-view")).to_have_class("picture-view is-zoomed")
    once = width(picture)
    page.mouse.wheel(0, -100)
    expect(page.locator(".zoom-tools output")).to_have_text("156%")
    assert width(picture) > once


def test_dragging_pans_and_is_no_click(picture: Locator, page: Page) -> None:
    picture.click()
    view = page.locator(".picture-view")
    before = view.evaluate("view => view.scrollLeft")
    box = view.bounding_box()
    assert box
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 120, y, steps=4)
    page.mouse.up()
    assert view.evaluate("view => view.scrollLeft") == before + 120
    assert width(picture) == 1600


def test_the_tools_zoom_too(picture: Locator, page: Page) -> None:
    fitted = width(picture)
    page.get_by_role("button", name="Larger").click()
    assert width(picture) > fitted
    page.get_by_role("button", name="Fit").click()
    assert width(picture) == fitted


def test_grades_keep_their_digits_beside_an_image(picture: Locator, page: Page) -> None:
    page.keyboard.press("+")
    page.keyboard.press("1")
    expect(page.locator("[name=grade][value='1']")).to_be_checked()


def test_a_broken_image_says_so_and_can_be_reported(
    cast_of_pictures: Cast, log_in: LogIn, page: Page
) -> None:
    page.route("**/judge/images/**", lambda route: route.abort())
    log_in(cast_of_pictures.ana)
    page.goto("/studies/alpha/judge/")
    expect(page.get_by_text("The image cannot be loaded.")).to_be_visible()
    page.locator(".report summary").click()
    page.locator(".report form button").last.click()
    expect(page.locator("#status, .notice, [role=status]").first).to_be_attached()
    page.wait_for_timeout(300)
    assert ProblemReport.objects.count() == 1

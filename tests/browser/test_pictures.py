"""Pictures of the results as PNG, drawn by the browser under the site's own strict rules."""

import struct
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from results.services.reports import run_agreement
from results.services.scopes import Scope
from tests.browser.conftest import LogIn
from tests.cast import Cast, make_cast
from tests.results.labelled import label_cast

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def measured() -> Cast:
    cast = make_cast()
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    return cast


def read_png(path: Path) -> tuple[int, int, int]:
    """Width, height and number of bytes of a PNG file."""
    data = path.read_bytes()
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", data[16:24])
    return width, height, len(data)


def list_complaints(page: Page) -> list[str]:
    """What the browser complains about from now on; a breach of the rules is among it."""
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    return complaints


@pytest.mark.parametrize("path", ["", "agreement/"])
def test_every_picture_is_saved_as_png(
    measured: Cast, log_in: LogIn, tmp_path: Path, path: str
) -> None:
    page = log_in(measured.lia)
    complaints = list_complaints(page)
    page.goto(f"/studies/alpha/results/{path}")
    pictures = page.locator("a[data-picture]")
    buttons = page.get_by_role("button", name="PNG")
    expect(buttons).to_have_count(pictures.count())
    assert buttons.count() >= 1
    for place in range(buttons.count()):
        with page.expect_download() as download:
            buttons.nth(place).click()
        name = download.value.suggested_filename
        assert name.endswith(".png"), name
        download.value.save_as(tmp_path / name)
        width, height, size = read_png(tmp_path / name)
        assert width >= 400
        assert height >= 100
        assert size > 2000, "a picture with nothing on it is smaller"
    assert complaints == []

"""The import page in a real browser: a whole import with its progress bar, axe on every step."""

from typing import Any

import pytest
from playwright.sync_api import FilePayload, Page, expect

from studies.models import ImportDraft, Study
from tests.browser.conftest import LogIn
from tests.browser.test_accessibility import find_violations
from tests.cast import Cast
from tests.studies.uploads import work

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def payload(name: str, text: str) -> FilePayload:
    return {"name": name, "mimeType": "text/plain", "buffer": text.encode()}


def test_an_import_from_upload_to_the_end(cast: Cast, log_in: LogIn) -> None:
    page = log_in(cast.max)
    page.goto("/studies/alpha/import/")
    assert find_violations(page) == []
    page.get_by_label("Files of the study").set_input_files(
        [payload("queries.tsv", "n1\tnew?\n"), payload("corpus.jsonl", '{"_id": "x", "text": "y"}')]
    )
    page.get_by_label("Runs").set_input_files([payload("c.run", "n1 Q0 x 1 1.0 c\n")])
    page.get_by_role("button", name="Upload and read").click()
    expect(page.get_by_role("progressbar")).to_be_visible()
    assert find_violations(page) == []
    work()
    expect(page.get_by_role("heading", level=1)).to_have_text("This is what would change")
    assert find_violations(page) == []
    page.get_by_role("button", name="Import all of it").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Your files are being imported")
    work()
    expect(page.get_by_role("heading", level=1)).to_have_text("Imported")
    assert find_violations(page) == []
    assert Study.objects.get(slug="alpha").pairs.count() == len(cast.pairs) + 1


def test_a_refused_upload_on_a_phone(cast: Cast, log_in: LogIn) -> None:
    page: Page = log_in(cast.max)
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/studies/alpha/import/")
    page.get_by_label("Files of the study").set_input_files([payload("queries.tsv", "n1\n")])
    page.get_by_role("button", name="Upload and read").click()
    work()
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing was imported")
    wrong = page.get_by_role("region", name="What is wrong")
    expect(wrong.get_by_role("cell", name="1", exact=True)).to_be_visible()
    assert find_violations(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert ImportDraft.objects.get().state == "refused"

"""The pictures of the documentation: light, and each one shown or linked."""

from benchmarks.screenshots import LARGEST_BYTES
from tests.conftest import ROOT

PICTURES = sorted((ROOT / "docs" / "images").glob("*.png"))
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


def test_every_picture_is_light() -> None:
    assert PICTURES
    assert [path.name for path in PICTURES if path.stat().st_size > LARGEST_BYTES] == []


def test_every_picture_is_shown_or_linked() -> None:
    text = "".join(path.read_text() for path in PAGES)
    assert [path.name for path in PICTURES if f"images/{path.name}" not in text] == []


def test_the_readme_shows_one_picture_and_links_the_others() -> None:
    assert (ROOT / "README.md").read_text().count("![") == 1

"""WCAG 2.2 AA as far as axe can tell, on the pages of an annotator, in both colour schemes."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from annotation.models import Judgment
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import DocumentText, RubricVersion
from tests import factories as make
from tests.browser.conftest import LogIn
from tests.cast import Cast
from tests.site.test_sweeps import list_pages

pytestmark = pytest.mark.django_db(transaction=True)
RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
TABLE = "<h1>Fields</h1><table>" + "<tr>" + "<td>a cell of the row</td>" * 30 + "</tr></table>"


def find_violations(page: Page) -> list[str]:
    """What axe finds wrong with the page as it stands, in light and in dark."""
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for one in Axe().run(page, options={"runOnly": RULES}).response["violations"]:
            found += [
                f"{scheme}, {one['id']}: {node['html'][:200]} {node['failureSummary']}"
                for node in one["nodes"]
            ]
    return found


@pytest.mark.parametrize("address", ["/login/", "/no-such-page/"])
def test_pages_before_the_login(page: Page, address: str) -> None:
    page.goto(address)
    assert find_violations(page) == []


@pytest.mark.parametrize("address", ["/", "/studies/alpha/", "/studies/alpha/labels/"])
def test_pages_around_judging(cast: Cast, log_in: LogIn, address: str) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, None)
    page = log_in(cast.ana)
    page.goto(address)
    assert find_violations(page) == []


@pytest.mark.parametrize("width", [1280, 390])
def test_judging_screen_fresh_chosen_open_and_refused(
    cast: Cast, log_in: LogIn, width: int
) -> None:
    DocumentText.objects.update(text=TABLE)
    type(cast.pairs[0].document).objects.update(format="html", superseded_by="newer")
    page = log_in(cast.ana)
    page.set_viewport_size({"width": width, "height": 720})
    page.goto("/studies/alpha/judge/")
    assert find_violations(page) == []
    for key in ("2", "A", "A", "R"):
        page.keyboard.press(key)
    assert find_violations(page) == []
    page.keyboard.press("?")
    assert find_violations(page) == []
    page.keyboard.press("Escape")
    page.goto("/studies/alpha/judge/")
    page.keyboard.press("Enter")
    page.locator("#error-grade").wait_for()
    assert find_violations(page) == []


def test_missing_text_and_the_end_of_the_queue(cast: Cast, log_in: LogIn) -> None:
    DocumentText.objects.all().delete()
    page = log_in(cast.ana)
    page.goto("/studies/alpha/judge/")
    assert find_violations(page) == []
    for pair in cast.pairs:
        make.make_judgment(cast.main, pair, cast.ana, 1)
    page.goto("/studies/alpha/judge/")
    assert page.locator("#judgment-form").count() == 0
    assert find_violations(page) == []


def test_scale_of_many_grades(cast: Cast, log_in: LogIn) -> None:
    rubric: RubricVersion = make.make_rubric(
        cast.study, grades={value: f"level {value}" for value in range(11)}
    )
    type(cast.main).objects.update(rubric_version=rubric)
    page = log_in(cast.ana)
    page.goto("/studies/alpha/judge/")
    page.keyboard.press("7")
    assert find_violations(page) == []


def test_revising_a_label(cast: Cast, log_in: LogIn) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    page = log_in(cast.ana)
    page.goto(f"/studies/alpha/labels/{Judgment.objects.get().public_id}/")
    assert find_violations(page) == []


def test_every_page_of_a_study_with_numbers(cast: Cast, log_in: LogIn) -> None:
    for place, pair in enumerate(cast.pairs):
        make.make_judgment(cast.main, pair, cast.ana, place % 3, decided_by="answerability")
        make.make_judgment(cast.main, pair, cast.ben, 0, decided_by="recency")
    run_agreement(cast.study, scope=Scope())
    job, draft = make.make_job(cast.study), make.make_draft(cast.study)
    make.make_rubric_draft(cast.study)
    ids = {"job": job.public_id, "draft": draft.public_id, "pair": cast.pairs[0].public_id}
    page = log_in(cast.uma)
    found = []
    for path in list_pages():
        page.goto(path.format(**ids))
        found += [f"{path}: {violation}" for violation in find_violations(page)]
    assert found == []

"""The release in the browser: a red gate is read, overridden for a reason, and the qrels leave."""

import pytest
from playwright.sync_api import expect

from studies.models import Action
from tests import factories as make
from tests.browser.conftest import LogIn
from tests.browser.test_accessibility import find_violations
from tests.cast import Cast, make_cast
from tests.results.releasable import REASON, make_releasable

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def ready() -> Cast:
    cast = make_cast()
    make_releasable(cast)
    return cast


def test_a_red_gate_leads_to_its_cause_and_exports_wait_for_a_reason(
    ready: Cast, log_in: LogIn
) -> None:
    make.make_rubric_draft(ready.study)
    page = log_in(ready.lia)
    page.goto("/studies/alpha/results/gate/")
    expect(page.get_by_role("heading", level=1)).to_have_text("The gate is red: 1 of 9 lines")
    page.locator("#line-rubric a").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("ubric")
    page.goto("/studies/alpha/results/exports/")
    page.get_by_label("Why they are exported in spite of it").fill(REASON)
    page.get_by_role("button", name="Open the exports").click()
    expect(page.locator("#override q")).to_have_text(REASON)
    with page.expect_download() as download:
        page.locator('a[href$="/exports/consensus-qrels/"]').click()
    assert download.value.suggested_filename == "alpha-consensus-qrels.qrels"
    assert Action.objects.get(name="gate.overridden").data["red"] == ["rubric"]


def test_a_lead_passes_a_green_gate(ready: Cast, log_in: LogIn) -> None:
    page = log_in(ready.lia)
    page.goto("/studies/alpha/results/gate/")
    page.get_by_label("What the release is for").fill(REASON)
    page.get_by_role("button", name="Pass the gate").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("The gate is passed")


@pytest.mark.parametrize("path", ["gate/", "systems/", "exports/"])
def test_the_pages_of_the_release_have_no_accessibility_faults(
    ready: Cast, log_in: LogIn, path: str
) -> None:
    make.make_final_label(ready.pairs[4], None)
    page = log_in(ready.lia)
    page.goto(f"/studies/alpha/results/{path}")
    assert find_violations(page) == []
    page.set_viewport_size({"width": 390, "height": 844})
    wider = "document.documentElement.scrollWidth - window.innerWidth"
    assert page.evaluate(wider) <= 0

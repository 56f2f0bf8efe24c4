"""Two people disagree, the query is withheld, somebody settles it, and the qrels hold it."""

import pytest
from django.db.models import Count, Q
from django.utils import timezone
from playwright.sync_api import Page, expect

from results.models import ClauseProposal, FinalLabel
from results.services.exports import describe_export
from studies.models import DocumentText, Study
from tests import factories as make
from tests.browser.conftest import LogIn
from tests.browser.test_accessibility import find_violations
from tests.cast import Cast, make_cast
from tests.results.exported import export_lines, judge_all, withheld_reasons

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def tied() -> Cast:
    """Two annotators disagree on two pairs of the first query and agree on all the rest."""
    cast = make_cast()
    agreed = [1] * 7
    judge_all(cast, ana=[0, 2, *agreed], ben=[2, 0, *agreed])
    cast.main.closed_at = timezone.now()
    cast.main.save()
    return cast


def settle_by_keys(page: Page, keys: str, reason: str) -> None:
    """Choose by keys as the page prints them, write the reason, and press Enter."""
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("n")
    page.keyboard.press("End")
    page.keyboard.type(reason)
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")


def key_of(page: Page, words: str) -> str:
    pill = page.locator(".pill", has_text=words)
    return pill.locator("input").get_attribute("data-key") or ""


def test_a_tie_is_settled_by_keyboard_and_its_query_is_exported(tied: Cast, log_in: LogIn) -> None:
    assert withheld_reasons(tied.study) == {"q1": "tie"}
    page = log_in(tied.ada)
    page.goto("/studies/alpha/adjudicate/")
    expect(page.locator(".letters li")).to_have_count(2)
    settle_by_keys(page, key_of(page, "rubric ambiguity") + "2", "Not yet.")
    expect(page.get_by_text("Choose the dimension that decides it.")).to_be_visible()
    settle_by_keys(page, "a", " It has every step.")
    expect(page.locator("#status")).to_contain_text("Recorded: 2")
    drop_key = page.get_by_role("button", name="Drop").get_attribute("data-key")
    page.keyboard.press(key_of(page, "chunking"))
    page.keyboard.press("n")
    page.keyboard.type("No rule decides.")
    page.keyboard.press("Escape")
    page.keyboard.press(drop_key)
    expect(page.get_by_role("heading", level=1)).to_have_text("Nothing is left to settle")

    assert withheld_reasons(tied.study) == {}
    lines = export_lines(tied.study, "consensus-qrels")
    settled = FinalLabel.objects.get(is_dropped=False)
    assert settled.reason == "Not yet. It has every step."
    assert f"q1 0 {settled.pair.document.external_id} 2" in lines
    assert len(lines) == 8
    counts = describe_export(tied.study, "consensus-qrels").as_json()["counts"]
    stored = FinalLabel.objects.filter(ended_at=None).aggregate(
        final=Count("pk", filter=Q(is_dropped=False)),
        dropped=Count("pk", filter=Q(is_dropped=True)),
    )
    assert {name: counts[name] for name in stored} == stored == {"final": 1, "dropped": 1}


def test_without_javascript_a_pair_is_settled_too(
    tied: Cast, browser, browser_context_args: dict, live_server
) -> None:
    context = browser.new_context(**browser_context_args, java_script_enabled=False)
    page = context.new_page()
    page.goto(f"{live_server.url}/login/")
    page.get_by_label("User name").fill("ada")
    page.get_by_label("Password").fill("correct-horse-battery")
    page.get_by_role("button", name="Log in").click()
    page.goto(f"{live_server.url}/studies/alpha/adjudicate/")
    page.get_by_label("chunking").check()
    page.get_by_label("1 partial").check()
    page.get_by_role("radio", name="recency").check()
    page.get_by_label("Reason").fill("By its date.")
    page.get_by_role("button", name="Settle and go on").click()
    expect(page.locator("#status")).to_contain_text("Recorded: 1")
    assert FinalLabel.objects.get().reason == "By its date."
    context.close()


@pytest.mark.parametrize(
    "path", ["adjudicate/", "results/final-labels/", "results/final-labels/{pair}/"]
)
def test_the_pages_of_settling_have_no_accessibility_faults(
    tied: Cast, log_in: LogIn, path: str
) -> None:
    Study.objects.update(settle_own_pairs=True)
    make.make_final_label(tied.pairs[0], None, by=tied.ada, cause="chunking")
    page = log_in(tied.uma)
    page.goto(f"/studies/alpha/{path}".format(pair=tied.pairs[0].public_id))
    assert find_violations(page) == []


@pytest.mark.parametrize("height", [720, 900])
def test_all_of_the_form_is_in_sight_beside_a_long_document(
    tied: Cast, log_in: LogIn, height: int
) -> None:
    DocumentText.objects.update(text="A line of the document.\n" * 400)
    page = log_in(tied.ada)
    page.set_viewport_size({"width": 1280, "height": height})
    page.goto("/studies/alpha/adjudicate/")
    hidden = "box => box.scrollHeight - box.clientHeight"
    assert page.locator(".choices").evaluate(hidden) <= 1
    assert page.locator("html").evaluate(hidden) <= 1
    for name in ("Reason", "chunking", "answers", "authority"):
        expect(page.get_by_label(name).first).to_be_in_viewport()
    expect(page.get_by_role("button", name="Settle and go on")).to_be_in_viewport()


def test_a_clause_is_asked_for_by_its_key(tied: Cast, log_in: LogIn) -> None:
    page = log_in(tied.ada)
    page.goto("/studies/alpha/adjudicate/")
    words = page.get_by_label("What the new clause")
    expect(words).to_be_hidden()
    rule = page.get_by_label("The rule needs to change")
    page.keyboard.press(rule.get_attribute("data-key") or "")
    words.fill("Every step counts.")
    page.keyboard.press("Escape")
    settle_by_keys(page, key_of(page, "chunking") + "2a", "It has every step.")
    expect(page.locator("#status")).to_contain_text("Recorded: 2")
    assert ClauseProposal.objects.get().text == "Every step counts."

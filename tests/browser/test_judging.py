"""An annotator's hours at the judging screen, in a real browser."""

import re

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from annotation.models import Judgment
from tests import factories as make
from tests.browser.conftest import LogIn
from tests.cast import Cast

pytestmark = pytest.mark.django_db(transaction=True)
URL = "/studies/alpha/judge/"


@pytest.fixture
def judge(cast: Cast, log_in: LogIn) -> Page:
    """The judging screen, with ana's first pair."""
    page = log_in(cast.ana)
    page.goto(URL)
    return page


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def status(page: Page):
    return page.get_by_role("status")


def test_all_pairs_are_judged_with_the_keyboard_alone(cast: Cast, judge: Page) -> None:
    for done in range(len(cast.pairs)):
        expect(judge.locator(".progress b")).to_have_text(str(done))
        press(judge, "2", "t" if done % 2 else "A", "Enter")
    expect(judge.get_by_role("heading", level=1)).to_have_text(
        "You have judged everything there is for you"
    )
    assert Judgment.objects.filter(annotator=cast.ana, grade=2).count() == len(cast.pairs)


def test_what_was_recorded_is_told_and_the_next_query_takes_focus(judge: Page) -> None:
    press(judge, "1", "A", "Enter")
    expect(status(judge)).to_have_text("Recorded: 1 · answerability")
    expect(judge.locator("#query")).to_be_focused()
    assert judge.locator("input:checked").count() == 0


def test_keys_are_dead_while_typing_and_with_modifiers(judge: Page) -> None:
    press(judge, "n")
    expect(judge.locator("#note")).to_be_focused()
    judge.keyboard.type("2 A because U r?")
    assert judge.locator("input:checked").count() == 0
    press(judge, "Escape", "Control+2", "Alt+a")
    expect(judge.locator("#note")).not_to_be_focused()
    expect(judge.locator("#note")).to_have_value("2 A because U r?")
    assert judge.locator("input:checked").count() == 0


def test_keys_are_dead_while_an_input_method_composes(judge: Page) -> None:
    judge.evaluate(
        """for (const init of [{key: "2", isComposing: true}, {key: "Process", keyCode: 229}])
             document.body.dispatchEvent(
               new KeyboardEvent("keydown", {code: "Digit2", bubbles: true, ...init}))"""
    )
    assert judge.locator("input:checked").count() == 0


def test_a_key_held_down_counts_once(judge: Page) -> None:
    press(judge, "2", "A")
    judge.keyboard.down("Enter")
    expect(status(judge)).to_contain_text("Recorded")
    judge.keyboard.down("Enter")
    judge.keyboard.up("Enter")
    assert judge.locator(".error").count() == 0
    assert Judgment.objects.count() == 1


def test_letters_and_digits_work_on_other_layouts(judge: Page) -> None:
    judge.evaluate(
        """for (const init of [{key: "&", code: "Digit1"}, {key: "ф", code: "KeyA"}])
             document.body.dispatchEvent(new KeyboardEvent("keydown", {bubbles: true, ...init}))"""
    )
    expect(judge.locator("[name=grade][value='1']")).to_be_checked()
    expect(judge.locator("[name=decided_by][value=answerability]")).to_be_checked()


def test_the_letter_again_steps_through_the_readings(judge: Page) -> None:
    press(judge, "a")
    reading = judge.locator("[name=clause][value=procedural]")
    expect(judge.locator(".clauses")).to_be_visible()
    expect(reading).not_to_be_checked()
    press(judge, "a")
    expect(reading).to_be_checked()
    press(judge, "a")
    expect(judge.locator("[name=clause][value='']")).to_be_checked()
    press(judge, "a", "t")
    assert judge.locator("[name=clause]:checked").count() == 0
    expect(judge.locator(".clauses")).to_be_hidden()


def test_unsure_needs_the_dimension_and_then_is_recorded(judge: Page) -> None:
    press(judge, "u")
    expect(judge.locator("#error-decided-by")).to_be_visible()
    press(judge, "t", "u")
    expect(status(judge)).to_have_text("Recorded: unsure · authority")
    assert Judgment.objects.get().is_unsure


def test_what_is_missing_is_named_and_takes_focus(judge: Page) -> None:
    press(judge, "Enter")
    expect(judge.locator("#error-grade")).to_be_visible()
    expect(judge.locator("[name=grade]").first).to_be_focused()
    press(judge, "2")
    expect(judge.locator("#error-grade")).to_be_hidden()
    press(judge, "Enter")
    expect(judge.locator("#error-grade")).to_have_count(0)
    expect(judge.locator("[name=decided_by]").first).to_be_focused()
    expect(judge.locator("[name=grade][value='2']")).to_be_checked()
    press(judge, "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")


def test_the_console_stays_clean_also_after_the_note_was_made_taller(judge: Page) -> None:
    heard: list[str] = []
    judge.on("console", lambda line: heard.append(line.text))
    judge.locator("#note").evaluate("note => { note.style.blockSize = '9rem' }")
    press(judge, "2", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")
    press(judge, "z")
    expect(status(judge)).to_contain_text("Taken back")
    assert heard == []


def test_back_takes_the_last_label_back(judge: Page) -> None:
    first = judge.locator("#query").inner_text()
    press(judge, "2", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")
    press(judge, "z")
    expect(status(judge)).to_contain_text("Taken back")
    expect(judge.locator("#query")).to_have_text(first)
    assert not Judgment.objects.exists()


def test_rubric_and_help_open_and_close_by_key(judge: Page) -> None:
    sheet, help_box = judge.locator(".rubric-sheet"), judge.locator("#help")
    press(judge, "r")
    expect(sheet).to_be_visible()
    press(judge, "2", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")
    expect(sheet).to_be_visible()
    press(judge, "Escape")
    expect(sheet).to_be_hidden()
    press(judge, "?")
    expect(help_box).to_be_visible()
    press(judge, "1")
    assert judge.locator("input:checked").count() == 0
    press(judge, "Escape")
    expect(help_box).to_be_hidden()


def test_a_lost_connection_keeps_the_label_and_says_so(judge: Page) -> None:
    judge.route("**/judge/", lambda route: route.abort())
    press(judge, "2", "A", "Enter")
    expect(judge.locator("#not-recorded")).to_be_visible()
    expect(judge.locator("[name=grade][value='2']")).to_be_checked()
    judge.unroute("**/judge/")
    press(judge, "Enter")
    expect(status(judge)).to_contain_text("Recorded: 2")
    assert Judgment.objects.count() == 1


def test_a_label_is_sent_once_the_network_is_back_unless_it_is_being_changed(judge: Page) -> None:
    judge.context.set_offline(True)
    press(judge, "2", "A", "U")
    expect(judge.locator("#not-recorded")).to_be_visible()
    judge.context.set_offline(False)
    expect(status(judge)).to_contain_text("Recorded: unsure")
    judge.context.set_offline(True)
    press(judge, "1", "A", "Enter")
    expect(judge.locator("#not-recorded")).to_be_visible()
    press(judge, "2")
    judge.context.set_offline(False)
    judge.wait_for_timeout(300)
    expect(judge.locator("#not-recorded")).to_be_visible()
    press(judge, "Enter")
    expect(status(judge)).to_contain_text("Recorded: 2")
    assert Judgment.objects.count() == 2


def test_a_broken_server_keeps_the_label_and_says_so(judge: Page) -> None:
    judge.route("**/judge/", lambda route: route.fulfill(status=502, body="<h1>Bad gateway</h1>"))
    press(judge, "2", "A", "Enter")
    expect(judge.locator("#not-recorded")).to_be_visible()
    assert judge.locator("input:checked").count() == 2


def test_a_lost_answer_sent_again_makes_one_judgment(judge: Page) -> None:
    def record_but_lose(route: Route) -> None:
        route.fetch()
        route.abort()

    judge.route("**/judge/", record_but_lose, times=1)
    press(judge, "2", "A", "Enter")
    expect(judge.locator("#not-recorded")).to_be_visible()
    press(judge, "Enter")
    expect(status(judge)).to_contain_text("Recorded: 2")
    assert Judgment.objects.count() == 1


def test_a_session_that_ended_does_not_lose_the_label(cast: Cast, judge: Page) -> None:
    judge.context.clear_cookies(name="sessionid")
    press(judge, "2", "A", "Enter")
    judge.get_by_label("User name").fill("ana")
    judge.get_by_label("Password").fill(make.PASSWORD)
    judge.get_by_role("button", name="Log in").click()
    expect(status(judge)).to_contain_text("Recorded: 2 · answerability")
    assert Judgment.objects.get().annotator == cast.ana


def test_an_outdated_tab_is_told_and_shown_the_next_pair(judge: Page) -> None:
    other = judge.context.new_page()
    other.goto(URL)
    press(judge, "2", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")
    press(other, "0", "A", "Enter")
    expect(other.get_by_role("alert").first).to_contain_text("already labelled")
    assert Judgment.objects.get().grade == 2


def test_the_screen_works_without_javascript(cast: Cast, browser: Browser, base_url: str) -> None:
    context = browser.new_context(java_script_enabled=False, base_url=base_url)
    page = context.new_page()
    page.goto(f"/login/?next={URL}")
    page.get_by_label("User name").fill("ana")
    page.get_by_label("Password").fill(make.PASSWORD)
    page.get_by_role("button", name="Log in").click()
    page.locator(".grades .option").nth(1).click()
    page.locator(".option", has_text="answerability").click()
    page.locator(".clauses .option", has_text="procedural").click()
    page.get_by_role("button", name="Record and go on").click()
    expect(status(page)).to_contain_text("Recorded: 1")
    page.get_by_role("button", name=re.compile("^Back")).click()
    expect(status(page)).to_contain_text("Taken back")
    context.close()
    assert not Judgment.objects.exists()


def test_one_judgment_fits_a_small_window_and_the_document_scrolls(cast: Cast, judge: Page) -> None:
    for pair in cast.pairs:
        pair.document.body.text = "A line of the document.\n" * 400
        pair.document.body.save()
    judge.reload()
    press(judge, "2", "A", "A")
    fits = "(box) => box.scrollHeight <= box.clientHeight"
    for box in (":root", ".screen > main", ".choices", ".query-words"):
        assert judge.locator(box).evaluate(fits), box
    assert not judge.locator("#document-body").evaluate(fits)
    press(judge, "PageDown")
    assert judge.locator("#document-body").evaluate("(box) => box.scrollTop") > 0
    press(judge, "Enter")
    expect(status(judge)).to_contain_text("Recorded")


def test_keys_pressed_while_a_label_is_on_its_way_reach_no_pair_and_that_is_said(
    cast: Cast, judge: Page
) -> None:
    held: list[Route] = []
    judge.route("**/judge/", lambda route: held.append(route))
    press(judge, "2", "A")
    with judge.expect_request("**/judge/"):
        press(judge, "Enter")
    press(judge, "1", "T", "Enter")
    assert judge.locator("[name=grade]:checked").get_attribute("value") == "2"
    held[0].continue_()
    expect(judge.locator(".progress b")).to_have_text("1")
    said = judge.locator("#pressed-too-soon")
    expect(said).to_be_visible()
    assert judge.locator("input:checked").count() == 0
    assert Judgment.objects.get().grade == 2
    press(judge, "1")
    expect(said).to_be_hidden()


def test_the_rubric_stands_beside_the_document_and_tables_scroll_within_it(
    cast: Cast, judge: Page
) -> None:
    row = "".join(f"<td>cell_{number}_of_a_row</td>" for number in range(30))
    for pair in cast.pairs:
        pair.document.format = "html"
        pair.document.save()
        pair.document.body.text = (
            f"<p>Words.</p><table><tr>{row}</tr></table><pre>{'x = 1; ' * 90}</pre>"
        )
        pair.document.body.save()
    judge.reload()
    fits = "(box) => box.scrollWidth <= box.clientWidth"
    assert judge.locator("#document-body").evaluate(fits)
    assert not judge.locator(".reading .wide").evaluate(fits)
    assert not judge.locator(".reading pre").evaluate(fits)
    press(judge, "r")
    document = judge.locator("#document-body").bounding_box()
    sheet = judge.locator(".rubric-sheet").bounding_box()
    assert document is not None
    assert sheet is not None
    assert document["x"] + document["width"] <= sheet["x"] + 1
    assert judge.locator("#document-body").evaluate(fits)


@pytest.mark.parametrize("width", [360, 390, 768])
def test_on_a_phone_nothing_overflows_and_the_form_is_in_reach(
    cast: Cast, judge: Page, width: int
) -> None:
    for pair in cast.pairs:
        pair.document.body.text = "wide" * 200 + "\nand long\n" * 200
        pair.document.body.save()
    judge.set_viewport_size({"width": width, "height": 740})
    judge.reload()
    assert judge.evaluate("document.documentElement.scrollWidth") <= width
    expect(judge.locator(".grades .option").first).to_be_in_viewport()
    judge.locator(".grades .option").first.click()
    judge.locator(".dimensions .option").first.click()
    go = judge.get_by_role("button", name="Record and go on")
    expect(go).to_be_in_viewport(ratio=1)
    go.click()
    expect(status(judge)).to_contain_text("Recorded: 0")


def test_a_double_click_records_one_label_and_skips_no_pair(judge: Page) -> None:
    press(judge, "2", "A")
    judge.get_by_role("button", name="Record and go on").dblclick()
    expect(status(judge)).to_contain_text("Recorded")
    expect(judge.locator(".progress b")).to_have_text("1")
    assert judge.locator("input:checked").count() == 0
    assert Judgment.objects.count() == 1


def test_the_back_button_brings_no_used_form_back(cast: Cast, judge: Page) -> None:
    """Not from the browser's memory either: what comes back is the pair that is next."""
    press(judge, "2", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded")
    judge.goto("/studies/alpha/labels/")
    judge.go_back()
    expect(judge.locator(".progress b")).to_have_text("1")
    assert judge.locator("input:checked").count() == 0
    press(judge, "0", "A", "Enter")
    expect(status(judge)).to_contain_text("Recorded: 0")
    assert sorted(Judgment.objects.values_list("grade", flat=True)) == [0, 2]


def test_a_login_in_another_tab_costs_one_more_key_press(cast: Cast, judge: Page) -> None:
    press(judge, "n")
    judge.keyboard.type("as typed")
    press(judge, "Escape", "2", "A")
    other = judge.context.new_page()
    judge.context.clear_cookies(name="sessionid")
    other.goto("/login/")
    other.get_by_label("User name").fill("ana")
    other.get_by_label("Password").fill(make.PASSWORD)
    other.get_by_role("button", name="Log in").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("My studies")
    press(judge, "Enter")
    expect(judge.get_by_role("alert").first).to_contain_text("press Enter to send it")
    expect(judge.locator("#note")).to_have_value("as typed")
    assert not Judgment.objects.exists()
    press(judge, "Enter")
    expect(status(judge)).to_contain_text("Recorded: 2")
    assert Judgment.objects.get().note == "as typed"

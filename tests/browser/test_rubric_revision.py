"""An admin and two annotators: a rubric is written, tried out, found silent, and mended.

Write a rubric, calibrate, find the split, add the clause, publish, recheck only what it touches,
read the account: all of it in the browser, with the worker's jobs done between the pages.
"""

import re

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

import results.tasks  # noqa: F401 - registers the work of this room's jobs
from annotation.models import Judgment
from studies.models import Job, Member, Role, Round, Study
from studies.services.jobs import run_job
from tests import factories as make
from tests.browser.test_accessibility import find_violations

pytestmark = pytest.mark.django_db(transaction=True)
HOME = "/studies/help/"


@pytest.fixture
def study(db: None) -> Study:
    """Six queries with two pairs each, half of them procedural, and no rubric yet."""
    study = make.make_study("help", title="Help centre", seed="c" * 32)
    for number in range(6):
        query_class = "procedural" if number % 2 else "factual"
        query = make.make_query(study, f"q{number}", query_class=query_class, rounds=[])
        for place in range(2):
            make.make_pair(query, make.make_document(study, f"q{number}-d{place}"))
    make.make_member(study, "max", Role.ADMIN, Role.LEAD)
    make.make_member(study, "ana", Role.ANNOTATOR)
    make.make_member(study, "ben", Role.ANNOTATOR)
    return study


class Desk:
    """Everybody with a browser of their own."""

    # Playwright's own mapping.
    def __init__(self, browser: Browser, server: LiveServer, arguments: dict) -> None:  # type: ignore[type-arg]
        self.browser, self.arguments = browser, arguments | {"base_url": server.url}

    def seat(self, name: str) -> Page:
        page = self.browser.new_context(**self.arguments).new_page()
        page.goto("/login/")
        page.get_by_label("User name").fill(name)
        page.get_by_label("Password").fill(make.PASSWORD)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("My studies")
        return page


@pytest.fixture
# Playwright's own mapping.
def desk(browser: Browser, live_server: LiveServer, browser_context_args: dict) -> Desk:  # type: ignore[type-arg]
    return Desk(browser, live_server, browser_context_args)


def run_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        run_job(job.pk)


def judge_all(page: Page, *, procedural: str) -> int:
    """Grade procedural pairs so and others 0, by keyboard, to the end; returns how many came."""
    count = 0
    page.goto(f"{HOME}judge/")
    while True:
        if page.locator("#rubric-changed-form").count():
            page.locator("#rubric-changed-form button").first.click()
            page.locator("#rubric-changed-form").wait_for(state="detached")
            continue
        form = page.locator("#judgment-form")
        if not form.count():
            return count
        token = form.locator("[name=token]").input_value()
        is_procedural = "procedural" in page.locator(".query").inner_text()
        page.keyboard.press(procedural if is_procedural else "0")
        form.locator("[name=decided_by][value=answerability]").check()
        page.keyboard.press("Enter")
        page.wait_for_function(
            "before => document.querySelector('#judgment-form [name=token]')?.value !== before",
            arg=token,
        )
        count += 1


def write_first_rubric(page: Page) -> None:
    page.goto(f"{HOME}rubric/")
    page.get_by_role("button", name="three-point 0–2").click()
    publish(page, "The first rubric.")


def publish(page: Page, note: str) -> None:
    page.locator("#version-note").fill(note)
    page.get_by_role("button", name=re.compile("^Publish")).click()
    expect(page.locator("#status")).to_contain_text("is published")


def add_clause(page: Page) -> None:
    page.goto(f"{HOME}rubric/")
    page.get_by_role("button", name="Begin from the newest version").click()
    page.locator("[name=do][value='add:dimensions-0-clauses']").click()
    page.locator("[name=dimensions-0-clauses-0-name]").fill("sequence")
    page.locator("[name=dimensions-0-clauses-0-text]").fill("Every step, in order.")
    page.locator("[name=dimensions-0-clauses-0-grade_when_failed]").fill("1")
    page.locator("[name=dimensions-0-clauses-0-classes][value=procedural]").check()
    page.locator("[name=do][value=save]").first.click()
    expect(page.locator("#status")).to_contain_text("draft is saved")
    publish(page, "“How do I” asks for the whole sequence.")


def open_main_round(page: Page) -> None:
    """Planned for a later time first: by everybody, then at once by putting the plan in force."""
    page.goto(f"{HOME}results/rounds/")
    form = page.locator("#main-form")
    form.get_by_label("annotators for each query").fill("2")
    form.locator("[name=opens_at]").fill("2999-05-01T09:30")
    form.get_by_role("button", name="Open the main round").click()
    expect(page.locator("#status")).to_contain_text("Nothing of it is offered before")
    page.get_by_label("Queries that everybody judges").fill("6")
    page.get_by_label("Opens").fill("")
    page.get_by_role("button", name="Show what it gives").click()
    assert find_violations(page) == []
    page.get_by_role("button", name="Put the plan in force").click()
    expect(page.locator("#status")).to_contain_text("The plan holds")


def test_a_rubric_is_written_tried_mended_and_its_change_accounted_for(
    study: Study, desk: Desk, page: Page
) -> None:
    admin, ana, ben = desk.seat("max"), desk.seat("ana"), desk.seat("ben")
    write_first_rubric(admin)

    admin.goto(f"{HOME}results/rounds/?queries=2")
    admin.get_by_role("button", name="Open the round for everybody").click()
    expect(admin.locator("#status")).to_contain_text("is open")
    assert judge_all(ana, procedural="2") == judge_all(ben, procedural="1") == 4

    admin.get_by_role("link", name="Close and compare").click()
    assert find_violations(admin) == []
    admin.get_by_role("button", name="Close the round and compare").click()
    expect(admin.get_by_role("heading", level=1)).to_have_text(
        "2 splits of calibration, side by side"
    )
    assert find_violations(admin) == []
    split = admin.locator(".compared").first
    expect(split).not_to_contain_text("ana")
    split.get_by_label("undecided").check()
    split.locator("textarea").fill("Is a page without the last step partial?")
    split.get_by_role("button", name="Save the note").click()
    expect(admin.locator(".compared").first).to_contain_text("saved by max")
    admin.get_by_role("button", name="Show who gave which label").click()
    expect(admin.locator(".compared").first).to_contain_text("ana")
    run_jobs()
    admin.goto(f"{HOME}results/rounds/")
    expect(admin.locator(".rounds")).to_contain_text("50.0%")
    assert find_violations(admin) == []

    open_main_round(admin)
    assert judge_all(ana, procedural="2") == judge_all(ben, procedural="1") == 12
    add_clause(admin)
    assert judge_all(ana, procedural="2") == 0

    admin.goto(f"{HOME}rubric/")
    admin.get_by_role("link", name="Which labels does a change touch?").click()
    expect(admin.locator("main")).to_contain_text("12 labels would go back")
    expect(admin.locator("main")).to_contain_text("Those are 6 pairs.")
    admin.get_by_role("button", name="Give them back and carry the others forward").click()
    expect(admin.locator("#status")).to_contain_text("recheck-2")
    assert judge_all(ana, procedural="1") == judge_all(ben, procedural="1") == 6
    again = Judgment.objects.filter(round__kind=Round.Kind.RECHECK)
    assert set(again.values_list("pair__query__query_class__name", flat=True)) == {"procedural"}

    admin.goto(f"{HOME}results/revision/")
    admin.get_by_role("button", name="Compute the account").click()
    run_jobs()
    admin.goto(f"{HOME}results/revision/")
    expect(admin.get_by_role("heading", level=1)).to_have_text(
        "What changed from rubric 1 to rubric 2"
    )
    splits = admin.locator(".before-after tr", has_text="procedural")
    expect(splits).to_contain_text("6 of 6")
    expect(splits).to_contain_text("0 of 6")
    assert find_violations(admin) == []
    with admin.expect_download() as download:
        admin.get_by_role("link", name="Markdown").click()
    text = download.value.path().read_text()
    assert text.startswith("# Revision: Help centre, rubric 1 → rubric 2")
    assert Member.objects.filter(study=study).count() == 3
    for seat in (admin, ana, ben):
        seat.goto("about:blank")
        seat.context.close()

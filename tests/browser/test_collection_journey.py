"""A collection from nothing to its growth, on the pages alone: study, files, people, labels."""

import io
import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Browser, FilePayload, Page, expect

from annotation.models import Claim, Judgment
from studies.models import Action, Member, Pair, Study
from tests import factories as make
from tests.studies.uploads import work

pytestmark = pytest.mark.django_db(transaction=True)

PASSWORD = "long-and-odd-enough"
JUDGE = "/studies/pumps/judge/"
QUERIES = "q1\thow do I prime the pump?\nq2\twhat does the seal look like?\n"
RUN_A = "q1 Q0 manual 1 3.0 a\nq1 Q0 sheet 2 2.0 a\nq2 Q0 seal 1 1.0 a\n"
RUN_B = "q1 Q0 sheet 1 9.0 b\nq2 Q0 seal 1 8.0 b\nq2 Q0 manual 2 7.0 b\n"
RUN_C = "q1 Q0 newer 1 5.0 c\nq1 Q0 manual 2 4.0 c\n"
TEXTS = {"manual": "Fill the housing.", "sheet": "Flow 40 l/min.", "newer": "Fill it twice."}
FIRST = {("q1", "manual"), ("q1", "sheet"), ("q2", "seal"), ("q2", "manual")}
OpenBrowser = Callable[[], Page]


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


@pytest.fixture
def open_browser(browser: Browser, base_url: str) -> Iterator[OpenBrowser]:
    """A browser of somebody's own, with its own cookies."""
    contexts = []

    def open_one() -> Page:
        context = browser.new_context(base_url=base_url, reduced_motion="reduce")
        contexts.append(context)
        return context.new_page()

    yield open_one
    for context in contexts:
        context.close()


def payload(name: str, content: str | bytes) -> FilePayload:
    data = content if isinstance(content, bytes) else content.encode()
    return {"name": name, "mimeType": "application/octet-stream", "buffer": data}


def corpus(*ids: str) -> str:
    lines = ({"_id": one, "title": one.title(), "text": TEXTS[one]} for one in ids)
    return "".join(json.dumps(line) + "\n" for line in lines)


def draw_seal() -> bytes:
    stream = io.BytesIO()
    Image.new("RGB", (60, 40), "white").save(stream, "PNG")
    return stream.getvalue()


def log_in(page: Page, name: str, password: str) -> None:
    page.get_by_label("User name").fill(name)
    page.get_by_label("Password").fill(password)
    page.get_by_role("button", name="Log in").click()


def bring_in(page: Page, files: list[FilePayload], runs: list[FilePayload]) -> None:
    page.goto("/studies/pumps/import/")
    if files:
        page.get_by_label("Files of the study").set_input_files(files)
    page.get_by_label("Runs").set_input_files(runs)
    page.get_by_role("button", name="Upload and read").click()
    heading = page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Your files are being read")
    work()
    expect(heading).to_have_text("This is what would change")
    page.get_by_role("button", name="Import all of it").click()
    expect(heading).to_have_text("Your files are being imported")
    work()
    expect(heading).to_have_text("Imported")


def invite(page: Page) -> str:
    page.goto("/studies/pumps/people/")
    page.get_by_role("region", name="Invite somebody").get_by_label("annotator").check()
    page.get_by_role("button", name="Make a link").click()
    return page.locator("#invitation-link").input_value()


def join(page: Page, link: str, name: str) -> Page:
    page.goto(link)
    page.locator("[name=username]").fill(name)
    for field in ("password1", "password2"):
        page.locator(f"[name={field}]").fill(PASSWORD)
    page.get_by_role("button", name="Create the account and join").click()
    page.goto(JUDGE)
    return page


def choose(page: Page) -> None:
    """A grade and a dimension, by the keys printed beside them."""
    page.keyboard.press("1")
    key = page.locator("[name=decided_by]").first.get_attribute("data-key")
    page.keyboard.press(str(key))
    expect(page.locator("[name=decided_by]").first).to_be_checked()


def judge_one(page: Page) -> None:
    token = page.locator("#judgment-form [name=token]")
    before = token.input_value()
    choose(page)
    page.keyboard.press("Enter")
    expect(page.locator("#status")).to_contain_text("Recorded")
    expect(page.locator(f"#judgment-form [name=token][value='{before}']")).to_have_count(0)


def count_images(page: Page) -> int:
    return page.locator(".picture-frame img").count()


def judge_until_the_end(page: Page) -> int:
    """Returns how many of the pairs were images."""
    images = 0
    while page.locator("#judgment-form").count():
        images += count_images(page)
        judge_one(page)
    expect(page.get_by_role("heading", level=1)).to_have_text(
        "You have judged everything there is for you"
    )
    return images


def lose_the_session(page: Page, name: str) -> None:
    page.context.clear_cookies(name="sessionid")
    choose(page)
    page.keyboard.press("Enter")
    log_in(page, name, PASSWORD)
    expect(page.locator("#status")).to_contain_text("Recorded: 1")


def lose_the_network(page: Page) -> None:
    page.context.set_offline(True)
    choose(page)
    page.keyboard.press("Enter")
    expect(page.locator("#not-recorded")).to_be_visible()
    page.context.set_offline(False)  # nothing is pressed again
    expect(page.locator("#status")).to_contain_text("Recorded: 1")


def list_judged(name: str) -> set[tuple[str, str]]:
    labels = Judgment.objects.filter(annotator__name=name)
    return set(labels.values_list("pair__query__external_id", "pair__document__external_id"))


def test_a_collection_from_nothing_to_its_growth(page: Page, open_browser: OpenBrowser) -> None:
    make.make_user("sue", is_superuser=True)
    page.goto("/login/?next=/studies/new/")
    log_in(page, "sue", make.PASSWORD)
    page.get_by_label("Title").fill("Pumps")
    page.get_by_label("Name in addresses").fill("pumps")
    page.get_by_role("button", name="Create the study").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Pumps")

    files = [
        payload("queries.tsv", QUERIES),
        payload("corpus.jsonl", corpus("manual", "sheet")),
        payload("seal.png", draw_seal()),
    ]
    bring_in(page, files, [payload("a.run", RUN_A), payload("b.run", RUN_B)])
    pairs = Pair.objects.values_list("query__external_id", "document__external_id")
    assert set(pairs) == FIRST

    links = [invite(page), invite(page)]
    ana = join(open_browser(), links[0], "ana")
    ben = join(open_browser(), links[1], "ben")
    seen = {count_images(ana), count_images(ben)}
    lose_the_session(ana, "ana")
    lose_the_network(ben)
    seen |= {judge_until_the_end(ana), judge_until_the_end(ben)}
    assert any(seen)
    assert list_judged("ana") == list_judged("ben") == FIRST
    assert Judgment.objects.count() == Action.objects.filter(name="judgment.recorded").count() == 8

    bring_in(page, [payload("corpus.jsonl", corpus("newer"))], [payload("c.run", RUN_C)])
    for annotator in (ana, ben):
        annotator.goto(JUDGE)
        judge_one(annotator)
        judge_until_the_end(annotator)
    assert list_judged("ana") == list_judged("ben") == FIRST | {("q1", "newer")}
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}
    assert Member.objects.filter(study=Study.objects.get()).count() == 3

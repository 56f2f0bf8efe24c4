"""What judging sends over the wire: the first page with all that it loads, and a later pair.

Bodies as they are sent, compressed, with the demo study; heads add some hundred bytes to each.
"""

import gzip
import re
from collections.abc import Iterator, Mapping
from html import unescape
from http.cookiejar import CookieJar
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, OpenerDirector, Request, build_opener

from benchmarks.demo_site import DemoSite, demo_site
from benchmarks.measuring import Measurement

NAME = "ana"
JUDGE = "/studies/demo/judge/"
ASSET = re.compile(r'(?:href|src)="(/static/[^"]+)"')
FORM = re.compile(r'<form[^>]* id="judgment-form".*?</form>', re.DOTALL)
HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)" value="([^"]*)"')
CHOICE = re.compile(r'name="(grade|decided_by)" value="([^"]+)"')


def measure() -> Iterator[Measurement]:
    with demo_site() as site:
        browser = log_in(site)
        first, sent = browser.get(JUDGE)
        sizes = [browser.get(path)[1] for path in set(ASSET.findall(first))]
        size = f"{len(sizes)} files with it"
        yield Measurement("wire: the first page of judging", size, (sent + sum(sizes)) / 1000, "kB")
        later, sent = browser.post(JUDGE, answer(first), {"HX-Request": "true"})
        assert FORM.search(later), later[:500]
        yield Measurement("wire: a later pair with its document", "", sent / 1000, "kB")


class Browser:
    """Asks for compressed pages and keeps the cookies."""

    def __init__(self, address: str) -> None:
        self._address = address
        self._opener: OpenerDirector = build_opener(HTTPCookieProcessor(CookieJar()))

    def get(self, path: str) -> tuple[str, int]:
        """The page, and how many bytes were sent."""
        return self._ask(path, None, {})

    def post(
        self, path: str, fields: Mapping[str, str], headers: Mapping[str, str] | None = None
    ) -> tuple[str, int]:
        """The answer, after redirects, and how many bytes were sent."""
        return self._ask(path, urlencode(fields).encode(), headers or {})

    def _ask(self, path: str, data: bytes | None, headers: Mapping[str, str]) -> tuple[str, int]:
        headers = {"Accept-Encoding": "gzip", "Referer": self._address, **headers}
        with self._opener.open(Request(self._address + path, data, dict(headers))) as answer:
            body = answer.read()
            packed = answer.headers.get("Content-Encoding") == "gzip"
        return (gzip.decompress(body) if packed else body).decode(errors="replace"), len(body)


def log_in(site: DemoSite) -> Browser:
    """The browser of an annotator of the demo study."""
    browser = Browser(site.address)
    login, _ = browser.get("/login/")
    fields = dict(HIDDEN.findall(login))
    browser.post("/login/", fields | {"username": NAME, "password": site.passwords[NAME]})
    return browser


def answer(page: str) -> dict[str, str]:
    """The first grade and dimension of the page's form, with its hidden fields."""
    form = FORM.search(page)
    assert form, page[:500]
    fields = {name: unescape(value) for name, value in HIDDEN.findall(form[0])}
    choices: dict[str, str] = {}
    for name, value in CHOICE.findall(form[0]):
        choices.setdefault(name, value)
    return fields | choices

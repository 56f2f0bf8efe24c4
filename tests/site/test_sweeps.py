"""Rules that hold for every page: one heading, valid HTML, the policy, no caching."""

import re

import html5lib
import pytest
from django.http import HttpResponse
from django.template.loader import get_template
from django.test import Client

from tests import factories as make
from tests.cast import Cast
from tests.conftest import ROOT
from tests.pages import log_in
from tests.site.test_permissions import MATRIX

PAGES = sorted(
    path for path, method, allowed in MATRIX.values() if method == "get" and "uma" in allowed
)
DOWNLOADS = ("exports/judgments/", "/manifest/", "/rubric.yaml")
TEMPLATES = sorted(
    str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates").rglob("*.html")
)


def open_page(cast: Cast, path: str) -> HttpResponse:
    job, draft = make.make_job(cast.study), make.make_draft(cast.study)
    make.make_rubric_draft(cast.study)
    ids = {"job": job.public_id, "draft": draft.public_id, "pair": cast.pairs[0].public_id}
    return log_in(cast.uma).get(path.format(**ids))


def list_pages() -> list[str]:
    return [path for path in PAGES if not path.endswith(DOWNLOADS)]


@pytest.mark.parametrize("path", [*list_pages(), "/studies/nowhere/"])
def test_page_has_one_h1_a_title_and_a_language(cast: Cast, path: str) -> None:
    page = open_page(cast, path).content.decode()
    assert len(re.findall(r"<h1[\s>]", page)) == 1
    assert re.search(r"<title>\s*\S", page)
    assert re.search(r'<html[^>]* lang="en"', page)


@pytest.mark.parametrize("path", [*list_pages(), "/studies/nowhere/"])
def test_page_is_valid_html_without_inline_code(cast: Cast, path: str) -> None:
    page = open_page(cast, path).content.decode()
    parser = html5lib.HTMLParser(strict=False)
    parser.parse(page)
    assert [code for _, code, _ in parser.errors] == []
    assert not re.search(r"<script(?![^>]*\bsrc=)", page)
    assert not re.search(r"\s(style|on[a-z]+)=", page)
    ids = re.findall(r'\sid="([^"]+)"', page)
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("path", [*PAGES, "/login/"])
def test_response_carries_the_policy_and_is_not_cached(cast: Cast, path: str) -> None:
    response = Client().get(path) if path == "/login/" else open_page(cast, path)
    policy = response.headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "no-store" in response.headers["Cache-Control"]
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["X-Frame-Options"] == "DENY"


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_compiles(name: str) -> None:
    get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_loads_nothing_from_elsewhere(name: str) -> None:
    source = (ROOT / "templates" / name).read_text()
    assert not re.search(r"(src|href)=\"(https?:)?//", source)

"""Rules that hold for every page: one heading, valid HTML, the policy, no caching."""

import re
from traceback import extract_stack
from typing import Any

import html5lib
import pytest
from django.db import connection
from django.http import HttpResponse
from django.template import Template
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
DOWNLOADS = ("exports/judgments/", "/manifest/", "/rubric.yaml", ".csv", ".svg", ".md", ".json")
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


@pytest.mark.parametrize("path", list_pages())
def test_templates_hold_no_queries(cast: Cast, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a page shows has been read before it is rendered; only who is asking and the choices
    of form fields may be looked up while rendering."""
    render = Template.render

    def refuse(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        is_about_caller = '"django_session"' in sql or '"studies_user"' in sql.split("WHERE")[0]
        is_choices = any(line.filename.endswith("forms/models.py") for line in extract_stack())
        assert is_about_caller or is_choices, f"a query while rendering: {sql}"
        return execute(sql, params, many, context)

    def render_without_queries(self: Template, context: Any) -> Any:
        with connection.execute_wrapper(refuse):
            return render(self, context)

    monkeypatch.setattr(Template, "render", render_without_queries)
    assert open_page(cast, path).status_code in {200, 409}


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_compiles(name: str) -> None:
    get_template(name)


@pytest.mark.parametrize("name", TEMPLATES)
def test_template_loads_nothing_from_elsewhere(name: str) -> None:
    source = (ROOT / "templates" / name).read_text()
    assert not re.search(r"(src|href)=\"(https?:)?//", source)

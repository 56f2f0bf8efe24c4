"""Documents become safe and readable HTML, whatever they hold."""

import html5lib
import pytest
from django.core.cache import cache
from django.utils import translation

from annotation import rendering
from annotation.markup import FORMATTING_LIMIT, NESTING_LIMIT, balance
from annotation.rendering import render_document

ALLOWED = rendering.INLINE_TAGS | rendering.BLOCK_TAGS
SHELL = {"html", "head", "body"}
ATTRIBUTES = {"href", "rel", "target", "dir", "lang", "class", "colspan", "rowspan", "start"}

HOSTILE = {
    "script": "<p>hi<script>alert(1)</script>",
    "script without end": "hi<script>alert(1)",
    "broken script": "hi<scr<script>ipt>alert(1)</script>",
    "handler": '<p onclick="alert(1)" onmouseover=alert(1)>hi</p>',
    "image handler": "hi<img src=x onerror=alert(1)>",
    "javascript address": '<a href="javascript:alert(1)">hi</a>',
    "spaced javascript address": '<a href=" jav&#x09;ascript:alert(1)">hi</a>',
    "data address": '<a href="data:text/html,<script>alert(1)</script>">hi</a>',
    "vbscript address": '<a href="vbscript:msgbox(1)">hi</a>',
    "svg": "hi<svg onload=alert(1)><script>alert(1)</script></svg>",
    "math mutation": "hi<math><mtext><table><mglyph><style><img src=x onerror=alert(1)>",
    "svg mutation": '<svg></p><style><a id="</style><img src=1 onerror=alert(1)>">hi',
    "noscript mutation": '<noscript><p title="</noscript><img src=x onerror=alert(1)>">hi',
    "form mutation": "<form><math><mtext></form><form><mglyph><style></math><img src onerror=a>hi",
    "comment mutation": "hi<!--><img src=x onerror=alert(1)>-->",
    "template": "hi<template><script>alert(1)</script></template>",
    "base": '<base href="https://evil.example/">hi',
    "refresh": '<meta http-equiv="refresh" content="0;url=https://evil.example">hi',
    "link": '<link rel="stylesheet" href="https://evil.example/x.css">hi',
    "style sheet": "<style>body{display:none}</style>hi",
    "style attribute": '<p style="position:fixed;inset:0">hi</p>',
    "clobbering": '<form id="judgment-form" name="grade"><input name="token" id="card">hi</form>',
    "class of ours": '<p class="alert" id="status" data-key="u" hx-get="/x">hi</p>',
    "frame": '<iframe src="https://evil.example"></iframe>hi<object data="x"></object><embed>',
    "media": '<video src="https://evil.example/v" autoplay></video><audio src=x></audio>hi',
    "picture elsewhere": 'hi<img src="https://evil.example/p.gif" srcset="https://evil.example/2">',
    "tag in alt": 'hi<img alt="<script>alert(1)</script>">',
    "quote in alt": "hi<img alt='\"><script>alert(1)</script>'>",
    "tag in address": '<a href="https://x.example/<img src=x onerror=alert(1)>">hi</a>',
    "unclosed": "<div><b><table><tr><td>hi",
    "unopened": "hi</div></div></main></body></html><script>alert(1)</script>",
    "plaintext": "hi<plaintext><script>alert(1)</script>",
    "text area": "hi<textarea></textarea><script>alert(1)</script>",
}


def parse(markup):
    """The elements a browser would make of it, without the shell around a fragment."""
    tree = html5lib.parse(markup, namespaceHTMLElements=False)
    return [one for one in tree.iter() if one.tag not in SHELL]


@pytest.mark.parametrize("format", ["html", "markdown"])
@pytest.mark.parametrize("source", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_markup_leaves_only_allowed_elements_and_attributes(source, format):
    rendered = render_document(source, format)
    for element in parse(rendered):
        assert element.tag in ALLOWED
        assert set(element.attrib) <= ATTRIBUTES
        assert element.get("class", "wide") in {"wide", "picture", "source"}
        assert element.get("href", "https://").startswith(("http://", "https://"))
    assert "hi" in rendered


def test_what_comes_after_an_unclosed_comment_can_still_be_read():
    assert "second" in render_document("<p>first<!-- oops <p>second", "html")


def test_links_lead_out_of_the_page_and_carry_nothing_along():
    rendered = render_document('<a href="https://x.example/a">there</a>', "html")
    (link,) = (one for one in parse(rendered) if one.tag == "a")
    assert link.attrib == {
        "href": "https://x.example/a",
        "target": "_blank",
        "rel": "noopener noreferrer nofollow",
    }


@pytest.mark.parametrize("address", ["/logout/", "//evil.example", "mailto:a@x.example", "#card"])
def test_relative_and_other_addresses_are_taken_off(address):
    assert "href" not in render_document(f'<a href="{address}">there</a>', "html")


def test_headings_start_below_those_of_the_page():
    rendered = render_document("<h1>one</h1><h2>two</h2><h6>six</h6>", "html")
    assert rendered == "<h3>one</h3><h4>two</h4><h6>six</h6>"
    assert render_document("# one", "markdown").startswith("<h3>one</h3>")


def test_pictures_are_told_in_words():
    assert render_document('<img src="x" alt="a <b> map">', "html") == (
        '<span class="picture">[image: a &lt;b&gt; map]</span>'
    )
    assert "[image]" in render_document("![](https://x.example/p.png)", "markdown")


def test_sections_and_forms_become_plain_blocks():
    rendered = render_document("<main><section>a</section><form>b</form></main>", "html")
    assert rendered == "<div><div>a</div><div>b</div></div>"


def test_tables_can_scroll_on_their_own():
    rendered = render_document("|a|b|\n|-|-|\n|c|d|\n", "markdown")
    assert rendered.startswith('<div class="wide"><table>')
    assert rendered.strip().endswith("</table></div>")


def test_reading_direction_is_kept():
    assert render_document('<p dir="rtl" lang="ar">مرحبا</p>', "html") == (
        '<p dir="rtl" lang="ar">مرحبا</p>'
    )
    assert "dir" not in render_document('<p dir="x;y">a</p>', "html")


def test_text_is_escaped_and_otherwise_untouched():
    source = "  first line\n\n\tsecond <b>& line\u202e"
    assert render_document(source, "text") == "  first line\n\n\tsecond &lt;b&gt;&amp; line\u202e"


def test_a_document_without_readable_content_is_shown_as_its_source():
    assert render_document("<script>x</script>", "html") == (
        '<pre class="source">&lt;script&gt;x&lt;/script&gt;</pre>'
    )


def test_markdown_too_dense_to_parse_is_shown_as_its_source():
    source = "![" * rendering.MARKDOWN_MARKS_LIMIT
    assert render_document(source, "markdown") == f'<pre class="source">{source}</pre>'


@pytest.mark.parametrize("format", ["text", "markdown", "html"])
def test_a_long_document_is_not_cut(format):
    source = "<p>Some words of a <b>long</b> document.</p>\n\n" * 5_000 + "<p>The end.</p>"
    assert "The end." in render_document(source, format)


def depth_of(element):
    return 1 + max((depth_of(child) for child in element), default=0)


@pytest.mark.parametrize("tag", ["div", "ul><li", "table><tr><td", "blockquote", "x-unknown"])
def test_nesting_is_bounded_and_the_content_stays(tag):
    deep = f"<{tag}>" * 20_000 + "bottom"
    balanced = balance(deep)
    assert balanced.count("<" + tag.partition(">")[0]) == NESTING_LIMIT
    assert "bottom" in render_document(deep, "html") or tag == "x-unknown"


def test_formatting_left_open_is_not_repeated_without_end():
    bomb = "".join(f'<font color="{n}"><p>x' for n in range(5_000))
    assert balance(bomb).count("<font") == FORMATTING_LIMIT
    assert render_document(bomb, "html").count("x") == 5_000


def test_unmatched_and_misnested_ends_do_not_lift_the_bound():
    assert balance("<b></i>" * 5_000).count("<b") == FORMATTING_LIMIT
    swap = "<b>" * FORMATTING_LIMIT + "<i>" * 50 + "</b>" * FORMATTING_LIMIT + "</i>" * 50
    assert balance(swap * 100).count("<b>") == balance(swap * 100).count("</b>")


def test_balanced_markup_passes_unchanged():
    source = '<div title="a &lt; b"><p>one<p>two <b>three</b><br></div>'
    assert balance(source) == source


def test_a_sign_that_starts_no_tag_is_text():
    assert balance("1 < 2 <3 <- a") == "1 &lt; 2 &lt;3 &lt;- a"


def test_rendered_markup_is_remembered_by_content_format_and_language(monkeypatch):
    cache.clear()
    first = render_document("<img>once", "html")
    monkeypatch.setattr(rendering, "_render_html", lambda text: "again")
    assert render_document("<img>once", "html") == first
    assert render_document("<img>twice", "html") == "again"
    with translation.override("id"):
        assert render_document("<img>once", "html") == "again"
    cache.clear()

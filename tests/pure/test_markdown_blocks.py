"""Names and sentences in Markdown say what they said, and nothing in them is taken for markup."""

from html import unescape

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from results.markdown_blocks import escape, table

READER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
TEXTS = st.text(st.sampled_from("ab1 *_~`[]()<>&#;:!|\\-+=.{}"), max_size=14)


def plain(text: str) -> str:
    return " ".join(text.split())


@given(TEXTS)
@example("1. one")
@example("1234) twelve")
@example("- - -")
@example("# a #")
@example("&lt;b&gt; <b>")
@example("[a](b) ![a](b)")
def test_an_escaped_text_is_read_as_it_stood(text: str) -> None:
    words = plain(text)
    if not words:
        return
    assert unescape(READER.render(escape(text))) == f"<p>{words}</p>\n"
    assert unescape(READER.render(f"# {escape(text)}")) == f"<h1>{words}</h1>\n"
    cells = READER.render(table(["a", "b"], [(escape(text), "c")], "ll"))
    assert f">{words}</td>" in unescape(cells)


@pytest.mark.parametrize(
    "text",
    [
        "more than chance gives (p < 0.001)",
        "grades > 0",
        "chunk_id and snake_case_name",
        "2 * 3 = 6, {a} and [b], #5",
        "R&D: a - b + c",
    ],
)
def test_what_is_no_markup_is_left_as_it_is(text: str) -> None:
    assert escape(text) == text

"""Headings and tables of Markdown that is committed beside a data set."""

import re
from collections.abc import Iterable, Iterator, Sequence

Cell = str | int

# What CommonMark, its tables and its strikethrough take for markup, and no sign more: the report is
# read in a terminal as well.
_MEANINGFUL = re.compile(
    r"""
    [\\`|~]                             # wherever they stand
    | (?<!\s)\* | \*(?!\s)              # emphasis, unless blanks are on both sides
    | (?<![^\W_])_ | _(?![^\W_])        # the same, unless within a word
    | \](?=[(\[:])                      # the text of a link ends
    | <(?=[a-z/!?])                     # a tag or an address
    | &(?=\#?\w+;)                      # a character by its name or number
    | ^\#(?=\#{0,5}(?:\s|$))            # a heading, or how one ends
    | (?<=\s)\#(?=\#*$)
    | ^>                                # a quotation
    | ^[-+](?=\s|$)                     # an item of a list
    | ^[-=](?=[-=]*$)                   # a line across, or under a heading
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ITEM_NUMBER = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))")


def section(
    title: str, rows: Iterable[Sequence[Cell]], head: Sequence[str], align: str
) -> Iterator[str]:
    """A heading and a table; nothing at all where there is no row."""
    found = list(rows)
    if found:
        yield f"## {title}"
        yield table(head, found, align)


def table(head: Sequence[str], rows: Iterable[Sequence[Cell]], align: str) -> str:
    """A table with its columns aligned by the letters of `align`: l or r."""
    rule = ["--:" if side == "r" else ":--" for side in align]
    return "\n".join(f"| {' | '.join(map(str, row))} |" for row in (head, rule, *rows))


def escape(text: str) -> str:
    """A text in one line in which nothing is taken for Markdown."""
    marked = _MEANINGFUL.sub(r"\\\g<0>", " ".join(text.split()))
    return _ITEM_NUMBER.sub(r"\1\\", marked)

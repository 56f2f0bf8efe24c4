"""Headings and tables of Markdown that is committed beside a data set."""

import re
from collections.abc import Iterable, Iterator, Sequence

Cell = str | int
_MEANINGFUL = re.compile(r"([\\`*_{}\[\]<>#|])")


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
    return _MEANINGFUL.sub(r"\\\1", " ".join(text.split()))

"""Bounding what an HTML parser has to do.

Parsers take quadratic time for elements nested without end, and repeat each open formatting
element in every paragraph after it, so that a small file can ask for millions of elements.
`balance` rewrites markup, in linear time, so that neither happens. It makes nothing safe: the
sanitiser that follows does.
"""

import re
from collections import Counter
from dataclasses import dataclass, field


def tag_set(names: str) -> frozenset[str]:
    return frozenset(names.split())


# Far beyond what people write.
NESTING_LIMIT = 100
FORMATTING_LIMIT = 12
FORMATTING_TAGS = tag_set("a b big code em font i nobr s small strike strong tt u")
# Void, or ended by the next of their kind: a page full of these is not nested.
UNNESTED_TAGS = tag_set(
    "area base br col embed hr img input link meta param source track wbr "
    "p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rb rt rp rtc "
    "html head body"
)

MARKUP = re.compile(
    r"""
    <!--.*?-->
    | <[!?][^>]*+>
    | <(?P<slash>/?)(?P<name>[a-zA-Z][^\s/><]*)
       (?P<rest>(?:[^<>=]++ | =\s*+(?:"[^"]*+"|'[^']*+')?+)*+)>
    | <
    """,
    re.DOTALL | re.VERBOSE,
)
SELF_CLOSED = re.compile(r"""(?:^|["'\s])/$""")


def balance(markup: str) -> str:
    """Return `markup` with every nesting element closed and none nested beyond the limits.

    Tags beyond a limit are left out and their content stays. Comments and declarations are left
    out, save a comment that never ends, which is shown: a browser would hide the rest of the
    document. A "<" that starts no tag is escaped.
    """
    head, end, tail = markup.rpartition("-->")
    return _Balance().apply(head + end + tail.replace("<!--", "&lt;!--"))


@dataclass
class _Balance:
    """The elements open at one place, each with whether its tag was kept."""

    stack: list[tuple[str, bool]] = field(default_factory=list)
    names: Counter[str] = field(default_factory=Counter)
    formatting: int = 0

    def apply(self, markup: str) -> str:
        return MARKUP.sub(self._replace, markup) + self._close_down_to(0)

    def _replace(self, match: re.Match[str]) -> str:
        name = (match["name"] or "").lower()
        if not name:
            return "&lt;" if match.group() == "<" else ""
        if match["slash"]:
            return self._close(name)
        tag = f"<{name}{match['rest'].replace('<', '&lt;')}>"
        return tag if name in UNNESTED_TAGS else self._open(name, tag, match["rest"])

    def _open(self, name: str, tag: str, rest: str) -> str:
        if SELF_CLOSED.search(rest):
            return ""  # meant as empty, though HTML would leave it open
        is_kept = len(self.stack) < NESTING_LIMIT and not (
            name in FORMATTING_TAGS and self.formatting >= FORMATTING_LIMIT
        )
        self.stack.append((name, is_kept))
        self.names[name] += 1
        self.formatting += name in FORMATTING_TAGS
        return tag if is_kept else ""

    def _close(self, name: str) -> str:
        if name in UNNESTED_TAGS:
            return f"</{name}>"
        if not self.names[name]:
            return ""
        place = len(self.stack) - 1
        while self.stack[place][0] != name:
            place -= 1
        return self._close_down_to(place)

    def _close_down_to(self, depth: int) -> str:
        closed = self.stack[depth:]
        del self.stack[depth:]
        self.names.subtract(name for name, _ in closed)
        self.formatting -= sum(name in FORMATTING_TAGS for name, _ in closed)
        return "".join(f"</{name}>" for name, is_kept in reversed(closed) if is_kept)

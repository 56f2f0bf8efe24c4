"""Documents as a judge reads them: safe HTML from text, Markdown or HTML.

What a document brings along is untrusted. It is cleaned against a list of allowed tags as the
very last step, so that nothing done before can let anything through. A document that cannot be
shown as it was meant (nothing readable is left, or its Markdown would take too long) is shown as
its source: every document can be judged, and none is cut.
"""

import hashlib
import re
from functools import lru_cache
from html import escape as escape_html
from html import unescape

import nh3
from django.core.cache import cache
from django.utils.html import escape, strip_tags
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

CACHE_SECONDS = 60 * 60
# Part of the cache key: raise it when the same source shall come out differently.
EDITION = 1

INLINE_TAGS = frozenset(
    "a abbr b bdi bdo br cite code del dfn em i ins kbd mark q rp rt ruby s samp small span "
    "strong sub sup time u var wbr".split()
)
BLOCK_TAGS = frozenset(
    "blockquote caption col colgroup dd div dl dt figcaption figure h3 h4 h5 h6 hr li ol p pre "
    "table tbody td tfoot th thead tr ul".split()
)
# Shown as plain blocks: they would be landmarks, controls or hidden text within our page.
FLATTENED_TAGS = frozenset(
    "address article aside center details fieldset footer form header hgroup legend main nav "
    "section summary".split()
)
DROPPED_WITH_CONTENT = frozenset(
    "audio canvas embed iframe math noembed noframes object script select style svg template "
    "title video".split()
)
HEADINGS = frozenset(f"h{level}" for level in range(1, 7))
# The page itself holds the levels 1 (query) and 2 (title of the document).
HEADING_SHIFT = 2

ATTRIBUTES = {
    "*": {"lang"},
    "a": {"href"},
    "ol": {"start", "reversed"},
    "td": {"colspan", "rowspan"},
    "th": {"colspan", "rowspan"},
    "time": {"datetime"},
}
ATTRIBUTE_VALUES = {
    tag: {"dir": {"ltr", "rtl", "auto"}} for tag in (INLINE_TAGS | BLOCK_TAGS) - {"br", "wbr"}
}

# An HTML parser takes quadratic time for elements nested without end, and repeats each open
# formatting element in every paragraph. These bounds are far beyond what people write.
NESTING_LIMIT = 100
FORMATTING_LIMIT = 12
FORMATTING_TAGS = frozenset("a b big code em font i nobr s small strike strong tt u".split())
# Void, or closed by the next of their kind: a page full of these is not nested.
UNNESTED_TAGS = frozenset(
    "area base br col embed hr img input link meta param source track wbr "
    "p li dt dd tr td th thead tbody tfoot colgroup caption option optgroup rb rt rp rtc "
    "html head body".split()
)
TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)(?=[\s/>])[^<>]*>")

# The Markdown parser takes up to 50 µs for each of these.
MARKDOWN_MARKS = re.compile(r"[]\[*_!<&`~|\\\n]")
MARKDOWN_MARKS_LIMIT = 50_000

CLEANED_IMAGE = re.compile(r'<img(?: alt="([^"]*)")?>')
CLEANED_RENAMED = re.compile(
    rf"<(/?)({'|'.join(sorted(FLATTENED_TAGS | HEADINGS, key=len, reverse=True))})(?=[ >])"
)


def render_document(text: str, format: str) -> SafeString:
    """Return the document as HTML that is safe within a page.

    `format` is a value of `Document.Format`. Text comes back escaped, line breaks and all (the
    style sheet keeps them); anything else as sanitised markup, remembered by its content.
    """
    if format not in ("markdown", "html"):
        return escape(text)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    key = f"document:{EDITION}:{get_language()}:{format}:{digest}"
    rendered = cache.get(key)
    if rendered is None:
        rendered = _render_markdown(text) if format == "markdown" else _render_html(text)
        cache.set(key, rendered, CACHE_SECONDS)
    return mark_safe(rendered)  # noqa: S308 - escaped or cleaned by the functions above


def _render_markdown(text: str) -> str:
    if len(MARKDOWN_MARKS.findall(text)) > MARKDOWN_MARKS_LIMIT:
        return _show_source(text)
    return _sanitise(_get_markdown_parser().render(text)) or _show_source(text)


def _render_html(text: str) -> str:
    return _sanitise(text) or _show_source(text)


def _show_source(text: str) -> str:
    return f'<pre class="source">{escape(text)}</pre>'


@lru_cache(maxsize=1)
def _get_markdown_parser() -> MarkdownIt:
    """Markup within Markdown is let through here: it is sanitised with the rest."""
    return MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def _sanitise(markup: str) -> str:
    """Return clean markup, or "" when nothing in it can be read."""
    regular = nh3.clean(
        limit_nesting(markup),
        tags=set(INLINE_TAGS | BLOCK_TAGS | FLATTENED_TAGS | HEADINGS | {"img"}),
        clean_content_tags=set(DROPPED_WITH_CONTENT),
        attributes={**ATTRIBUTES, "img": {"alt"}},
        tag_attribute_values=ATTRIBUTE_VALUES,
        link_rel=None,
    )
    fitted = CLEANED_IMAGE.sub(_replace_image, CLEANED_RENAMED.sub(_rename_tag, regular))
    framed = fitted.replace("<table", '<div class="wide"><table').replace(
        "</table>", "</table></div>"
    )
    clean = nh3.clean(
        framed,
        tags=set(INLINE_TAGS | BLOCK_TAGS),
        attributes=ATTRIBUTES,
        tag_attribute_values=ATTRIBUTE_VALUES,
        allowed_classes={"div": {"wide"}, "span": {"picture"}},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer nofollow",
        url_schemes={"http", "https"},
        url_relative="deny",
    )
    return clean if strip_tags(clean).strip() else ""


def _rename_tag(match: re.Match[str]) -> str:
    slash, tag = match.groups()
    if tag in HEADINGS:
        return f"<{slash}h{min(int(tag[1]) + HEADING_SHIFT, 6)}"
    return f"<{slash}div"


def _replace_image(match: re.Match[str]) -> str:
    """Say what the picture was: nothing is fetched from elsewhere."""
    alt = unescape(match.group(1) or "").strip()
    words = _("[image: %(alt)s]") % {"alt": alt} if alt else _("[image]")
    return f'<span class="picture">{escape_html(words)}</span>'


def limit_nesting(markup: str) -> str:
    """Leave out tags that nest deeper than any document needs; their content stays.

    Takes linear time, and reads tags more loosely than a browser does: it bounds the parser's
    work and is no part of what makes the markup safe.
    """
    open_tags = {True: 0, False: 0}

    def keep_or_drop(match: re.Match[str]) -> str:
        name = match.group(2).lower()
        if name in UNNESTED_TAGS:
            return match.group()
        is_formatting = name in FORMATTING_TAGS
        limit = FORMATTING_LIMIT if is_formatting else NESTING_LIMIT
        if match.group(1):
            depth = open_tags[is_formatting]
            open_tags[is_formatting] = max(depth - 1, 0)
        else:
            depth = open_tags[is_formatting] = open_tags[is_formatting] + 1
        return match.group() if depth <= limit else ""

    return TAG.sub(keep_or_drop, markup)

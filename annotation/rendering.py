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
from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from markdown_it import MarkdownIt

from annotation.markup import balance, tag_set

CACHE_SECONDS = 60 * 60
# Part of the cache key: raise it when the same source shall come out differently.
EDITION = 1

INLINE_TAGS = tag_set(
    "a abbr b bdi bdo br cite code del dfn em i ins kbd mark q rp rt ruby s samp small span "
    "strong sub sup time u var wbr"
)
BLOCK_TAGS = tag_set(
    "blockquote caption col colgroup dd div dl dt figcaption figure h3 h4 h5 h6 hr li ol p pre "
    "table tbody td tfoot th thead tr ul"
)
# Shown as plain blocks: they would be landmarks, controls or hidden text within our page.
FLATTENED_TAGS = tag_set(
    "address article aside center details fieldset footer form header hgroup legend main nav "
    "section summary"
)
DROPPED_WITH_CONTENT = tag_set(
    "audio canvas embed iframe math noembed noframes object script select style svg template "
    "title video"
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

# The Markdown parser takes up to 50 µs for each of these.
MARKDOWN_MARKS = re.compile(r"[]\[*_!<&`~|\\\n]")
MARKDOWN_MARKS_LIMIT = 50_000

CLEANED_TAG = re.compile(r"<[^>]*>")
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
        balance(markup),
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
    return clean if CLEANED_TAG.sub("", clean).strip() else ""


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

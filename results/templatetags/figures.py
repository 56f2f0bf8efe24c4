"""Filters that write numbers the way every page and report writes them."""

from collections.abc import Iterable

from django import template
from django.utils.http import urlencode

from results import wording

register = template.Library()

register.filter("ratio", wording.as_ratio)
register.filter("share", wording.as_share)
register.filter("count", wording.as_count)
register.filter("duration", wording.as_duration)
register.filter("interval", wording.as_interval)
register.filter("share_interval", wording.as_share_interval)
register.filter("p_value", wording.as_p_value)
register.filter("ago", wording.as_ago)


@register.filter
def with_query(query: str, added: Iterable[tuple[str, str]]) -> str:
    """The query of an address, "" or begun by "?", with further names and values."""
    parts = [part for part in (query.lstrip("?"), urlencode(list(added or ()))) if part]
    return f"?{'&'.join(parts)}" if parts else ""

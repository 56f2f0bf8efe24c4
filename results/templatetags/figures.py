"""Filters that write numbers the way every page and report writes them."""

from collections.abc import Iterable
from urllib.parse import parse_qsl

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
    """The query of an address, "" or begun by "?", with further names and values, in the place of
    what it says under the same names."""
    further = list(added or ())
    if not query:
        return f"?{urlencode(further)}" if further else ""
    names = {name for name, _ in further}
    kept = [one for one in parse_qsl(query.lstrip("?")) if one[0] not in names]
    return f"?{urlencode([*kept, *further])}" if kept or further else ""

"""Dates and times as every page writes them: one way for people, ISO 8601 for machines."""

from datetime import date, datetime

from django import template
from django.utils.formats import date_format
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import localtime

register = template.Library()


@register.filter
def moment(value: datetime | None) -> str | SafeString:
    """A moment as a `time` element with its date, time and zone; nothing where there is none."""
    if value is None:
        return ""
    text = date_format(localtime(value), "DATETIME_FORMAT")
    return format_html('<time datetime="{}">{}</time>', value.isoformat(timespec="seconds"), text)


@register.filter
def day(value: date | None) -> str | SafeString:
    """A date as a `time` element; nothing where there is none."""
    if value is None:
        return ""
    text = date_format(value, "DATE_FORMAT")
    return format_html('<time datetime="{}">{}</time>', value.isoformat(), text)

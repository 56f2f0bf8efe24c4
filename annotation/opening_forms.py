"""When a round is to open, as a field of the forms that open or plan one."""

from datetime import MAXYEAR, UTC, datetime
from typing import Any

from django import forms
from django.core.validators import MaxValueValidator
from django.utils.translation import gettext_lazy as _

# What an input of the type datetime-local takes and sends.
LOCAL = "%Y-%m-%dT%H:%M"
# What study.yaml takes back: the last year ends elsewhere in a year that the calendar lacks.
LATEST = datetime(MAXYEAR - 1, 12, 31, 23, 59, tzinfo=UTC)


class OpeningField(forms.DateTimeField):
    """A moment in the time zone in force; empty for at once."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", forms.DateTimeInput({"type": "datetime-local"}, LOCAL))
        kwargs.setdefault("label", _("Opens"))
        super().__init__(required=False, validators=[MaxValueValidator(LATEST)], **kwargs)


class OpeningForm(forms.Form):
    opens_at = OpeningField()

"""The forms of acts that need nothing but a reason."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import NOTE_LIMIT


class ReasonField(forms.CharField):
    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("widget", forms.Textarea({"rows": 3, "dir": "auto"}))
        super().__init__(max_length=NOTE_LIMIT, **kwargs)


class DeclineForm(forms.Form):
    """Why a clause that adjudication asked for is declined."""

    reason = ReasonField(
        label=_("Why the rule does not change"),
        help_text=_("Told on the page of the pair that asks for it, and in the log."),
        error_messages={"required": _("Say why: who asked for it reads that.")},
    )


class ShortfallForm(forms.Form):
    """Why a query counts with fewer annotators than planned, and with how many as shown."""

    present = forms.IntegerField(widget=forms.HiddenInput)
    reason = ReasonField(
        label=_("Why it counts without them"),
        help_text=_("The log keeps it."),
        error_messages={"required": _("Say why.")},
    )

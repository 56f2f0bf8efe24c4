"""The form that declines a clause."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import NOTE_LIMIT


class DeclineForm(forms.Form):
    reason = forms.CharField(
        max_length=NOTE_LIMIT,
        widget=forms.Textarea({"rows": 3, "dir": "auto"}),
        label=_("Why the rule does not change"),
        help_text=_("Told on the page of the pair that asks for it, and in the log."),
        error_messages={"required": _("Say why: who asked for it reads that.")},
    )

"""Forms of a person's own page."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib.auth.forms import PasswordChangeForm
from django.utils.translation import gettext_lazy as _

from studies.models import User


class NameForm(forms.ModelForm):
    """The name by which the site greets the account; labels stay under the member's name."""

    class Meta:
        model = User
        fields = ("first_name",)
        labels = {"first_name": _("Name shown")}


class LanguageForm(forms.Form):
    language = forms.ChoiceField(
        choices=[("", _("as the browser asks")), *settings.LANGUAGES],
        required=False,
        label=_("Language"),
    )


class PasswordForm(PasswordChangeForm):
    """One form of several on its page: it does not draw the focus."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["old_password"].widget.attrs.pop("autofocus", None)

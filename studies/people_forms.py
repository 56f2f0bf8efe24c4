"""Forms of the people page and of the page behind an invitation."""

from datetime import timedelta
from typing import Any

from django import forms
from django.contrib.auth.forms import UserCreationForm
from django.utils.translation import gettext_lazy as _

from studies.models import Member, Role, Study, User

DAYS = [("1", _("one day")), ("7", _("a week")), ("30", _("30 days"))]


class InvitationForm(forms.Form):
    roles = forms.MultipleChoiceField(
        choices=Role.choices,
        widget=forms.CheckboxSelectMultiple,
        label=_("Roles"),
        error_messages={"required": _("Choose at least one role.")},
    )
    days = forms.ChoiceField(choices=DAYS, initial="7", label=_("Works for"))
    note = forms.CharField(
        required=False,
        max_length=200,
        label=_("For whom"),
        help_text=_("Only admins see it."),
    )
    identity = forms.ModelChoiceField(
        queryset=Member.objects.none(),
        required=False,
        label=_("Becomes the identity"),
        empty_label=_("nobody yet: a new member"),
        help_text=_("Labels imported under that name become theirs."),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A field with choices of models.
        self.fields["identity"].queryset = list_identities(study)  # type: ignore[attr-defined]

    @property
    def valid_for(self) -> timedelta:
        return timedelta(days=int(self.cleaned_data["days"]))


class MemberForm(forms.Form):
    """Names a member of the study."""

    member = forms.ModelChoiceField(queryset=Member.objects.none())

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # A field with choices of models.
        self.fields["member"].queryset = Member.objects.filter(study=study)  # type: ignore[attr-defined]


class RolesForm(MemberForm):
    roles = forms.MultipleChoiceField(choices=Role.choices, required=False)


class ActivityForm(MemberForm):
    active = forms.ChoiceField(choices=[("yes", "yes"), ("no", "no")])


class LinkForm(MemberForm):
    account = forms.ModelChoiceField(
        queryset=User.objects.filter(is_active=True),
        to_field_name="username",
        error_messages={"invalid_choice": _("There is no account of this name.")},
    )


class AccountForm(UserCreationForm):
    """A name and a password by the site's rules."""

    class Meta:
        model = User
        fields = ("username",)


def list_identities(study: Study) -> Any:
    """Identities of the study that an account may come to speak for."""
    return Member.objects.filter(study=study, user=None, is_machine=False, is_active=True)

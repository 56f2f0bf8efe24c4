"""The form of a study's target of agreement."""

from django import forms
from django.utils.translation import gettext_lazy as _

from results.models import AgreementTarget


class TargetForm(forms.ModelForm):
    class Meta:
        model = AgreementTarget
        fields = ("weights", "at_least")
        labels = {"weights": _("Every two annotators reach"), "at_least": _("of at least")}
        widgets = {"at_least": forms.NumberInput(attrs={"min": 0, "max": 1, "step": "0.01"})}

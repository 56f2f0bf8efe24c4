"""The forms of the rounds' page and of the comparison."""

from django import forms
from django.utils.translation import gettext_lazy as _

from annotation.forms import NOTE_LIMIT
from annotation.opening_forms import OpeningField
from results.models import CalibrationNote

QUERIES, EACH = 10, 20


class CountForm(forms.Form):
    """How much a round is to hold: `queries` of a calibration, pairs for `each` of a relabel,
    `annotators` for each query of a main round; and when it opens. What is missing or wrong is
    taken as the default for the preview."""

    queries = forms.IntegerField(min_value=1, max_value=500, required=False)
    each = forms.IntegerField(min_value=1, max_value=1000, required=False)
    annotators = forms.IntegerField(min_value=1, max_value=500, required=False)
    opens_at = OpeningField()

    def read(self, name: str) -> int:
        self.is_valid()
        return self.cleaned_data.get(name) or {"queries": QUERIES, "each": EACH}[name]


class NoteForm(forms.Form):
    """What a split was found to be, with a note; `edition` is that of the note shown."""

    kind = forms.ChoiceField(
        choices=CalibrationNote.Kind.choices,
        error_messages={
            "required": _("Choose what the split is."),
            "invalid_choice": _("Choose what the split is."),
        },
    )
    note = forms.CharField(required=False, max_length=NOTE_LIMIT)
    edition = forms.IntegerField(min_value=0)

    @property
    def message(self) -> str:
        """What is wrong with it, in one text."""
        return " ".join(str(error) for errors in self.errors.values() for error in errors)

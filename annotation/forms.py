"""The judging form. Grades and dimensions are those of the rubric version that was shown."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from annotation.contexts import FormValues, RubricSheet
from annotation.services.judgments import Label
from annotation.tokens import BadToken, ShownPair, read_token

NOTE_LIMIT = 5000


class TokenField(forms.CharField):
    """Cleans to the ShownPair that was signed."""

    def clean(self, value: Any) -> ShownPair:
        try:
            return read_token(super().clean(value))
        except BadToken as error:
            raise forms.ValidationError(str(error)) from error


class JudgmentForm(forms.Form):
    """A label in the terms of one rubric sheet. `label` is set when the form is valid."""

    grade = forms.CharField(required=False)
    unsure = forms.CharField(required=False)
    decided_by = forms.CharField(required=False)
    clause = forms.CharField(required=False)
    note = forms.CharField(required=False, max_length=NOTE_LIMIT)

    def __init__(self, data: Any, *, rubric: RubricSheet) -> None:
        super().__init__(data)
        self.grades = {str(grade.value): grade.value for grade in rubric.grades}
        self.dimensions = {dimension.name: dimension for dimension in rubric.dimensions}

    def clean_grade(self) -> int | None:
        """Pressing "unsure" wins over a grade chosen before it."""
        if self.data.get("unsure"):
            return None
        grade = self.cleaned_data["grade"]
        if not grade:
            raise forms.ValidationError(_("Choose a grade, or press “Unsure”."))
        if grade not in self.grades:
            raise forms.ValidationError(_("This grade is not on the rubric's scale."))
        return self.grades[grade]

    def clean_decided_by(self) -> str:
        name: str = self.cleaned_data["decided_by"]
        if not name:
            raise forms.ValidationError(_("Choose the dimension that decided it."))
        if name not in self.dimensions:
            raise forms.ValidationError(_("The rubric has no such dimension."))
        return name

    def clean(self) -> dict[str, Any]:
        """A clause left chosen from another dimension is an error, not dropped in silence."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        dimension = self.dimensions.get(cleaned.get("decided_by", ""))
        clause = cleaned.get("clause")
        if clause and dimension and clause not in {one.name for one in dimension.clauses}:
            self.add_error("clause", _("This clause does not belong to the chosen dimension."))
        return cleaned

    @property
    def label(self) -> Label:
        cleaned = self.cleaned_data
        return Label(
            grade=cleaned["grade"],
            decided_by=cleaned["decided_by"],
            clause=cleaned["clause"],
            note=cleaned["note"],
        )

    @property
    def grade_left(self) -> str:
        """The grade that stood chosen when "unsure" was pressed, "" where none did."""
        grade: str = self.data.get("grade", "")
        return grade if self.data.get("unsure") and grade in self.grades else ""

    @property
    def values(self) -> FormValues:
        """What was typed, to be shown again beside the errors."""
        data = self.data
        return FormValues(
            grade=data.get("grade", ""),
            decided_by=data.get("decided_by", ""),
            clause=data.get("clause", ""),
            is_unsure=bool(data.get("unsure")),
            note=data.get("note", ""),
        )

    @property
    def messages(self) -> dict[str, str]:
        """One sentence for each field that is wrong."""
        return {name: " ".join(map(str, errors)) for name, errors in self.errors.items()}


class ProblemForm(forms.Form):
    token = TokenField()
    kind = forms.CharField()
    note = forms.CharField(required=False, max_length=NOTE_LIMIT)

"""The forms of settling: a decision in the terms of one rubric sheet, and reopening in bulk."""

from typing import Any

from django import forms
from django.utils.translation import gettext as _

from annotation.contexts import RubricSheet
from annotation.forms import NOTE_LIMIT
from annotation.tokens import BadToken
from results.adjudication.contexts import SettleValues
from results.adjudication.tokens import ShownCase, read_token
from results.models import Cause, Citation
from results.services.final_labels import Decision
from results.services.proposals import Proposal
from studies.models import Study


class TokenField(forms.CharField):
    """Cleans to the ShownCase that was signed."""

    def clean(self, value: Any) -> ShownCase:
        try:
            return read_token(super().clean(value))
        except BadToken as error:
            raise forms.ValidationError(str(error)) from error


class ShownCaseForm(forms.Form):
    """What was shown, and the form's one-time key: checked before anything else."""

    token = TokenField()
    key = forms.UUIDField()


class SettleForm(forms.Form):
    """A decision on one pair. `decision` is set when the form is valid.

    Pressing "drop" wins over a grade chosen before it, and needs no dimension. `needs_cause`:
    the pair is contested, so why is part of the decision.
    """

    grade = forms.CharField(required=False)
    drop = forms.CharField(required=False)
    decided_by = forms.CharField(required=False)
    clause = forms.CharField(required=False)
    cause = forms.CharField(required=False)
    citation = forms.CharField(required=False)
    reason = forms.CharField(required=False, max_length=NOTE_LIMIT)
    rule = forms.CharField(required=False)
    rule_text = forms.CharField(required=False, max_length=NOTE_LIMIT)

    def __init__(
        self, data: Any, *, rubric: RubricSheet, needs_cause: bool, needs_citation: bool
    ) -> None:
        super().__init__(data)
        self.grades = {str(grade.value): grade.value for grade in rubric.grades}
        self.dimensions = {dimension.name: dimension for dimension in rubric.dimensions}
        self.needs_cause = needs_cause
        self.needs_citation = needs_citation

    @property
    def is_dropped(self) -> bool:
        return bool(self.data.get("drop"))

    @property
    def grade_left(self) -> str:
        """The grade that stood chosen when "drop" was pressed, "" where none did."""
        grade: str = self.data.get("grade", "")
        return grade if self.is_dropped and grade in self.grades else ""

    def clean_grade(self) -> int | None:
        if self.is_dropped:
            return None
        grade = self.cleaned_data["grade"]
        if not grade:
            raise forms.ValidationError(_("Choose a grade, or press “Drop” if no rule decides."))
        if grade not in self.grades:
            raise forms.ValidationError(_("This grade is not on the rubric's scale."))
        return self.grades[grade]

    def clean_decided_by(self) -> str:
        name: str = self.cleaned_data["decided_by"]
        if not name and not self.is_dropped:
            raise forms.ValidationError(_("Choose the dimension that decides it."))
        if not name and self.data.get("rule"):
            raise forms.ValidationError(_("Choose the dimension that the clause is to belong to."))
        if name and name not in self.dimensions:
            raise forms.ValidationError(_("The rubric has no such dimension."))
        return name

    def clean_cause(self) -> str:
        return self._choice("cause", Cause.values, self.needs_cause, _("Say why the labels split."))

    def clean_citation(self) -> str:
        question = _("Say whether the labels cite the same reading.")
        return self._choice("citation", Citation.values, self.needs_citation, question)

    def _choice(self, name: str, known: list[str], needed: bool, question: str) -> str:
        value: str = self.cleaned_data[name]
        if (needed and not value) or (value and value not in known):
            raise forms.ValidationError(question)
        return value

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"].strip()
        if not reason:
            raise forms.ValidationError(_("Write the reason: it is what the next reader goes by."))
        return reason

    def clean(self) -> dict[str, Any]:
        """A clause left chosen from another dimension is an error, not dropped in silence."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        dimension = self.dimensions.get(cleaned.get("decided_by", ""))
        clause = cleaned.get("clause")
        known = {one.name for one in dimension.clauses} if dimension else set()
        if clause and clause not in known and "decided_by" in cleaned:
            self.add_error("clause", _("This clause does not belong to the chosen dimension."))
        return cleaned

    @property
    def decision(self) -> Decision:
        cleaned = self.cleaned_data
        names = ("grade", "decided_by", "clause", "cause", "citation", "reason")
        return Decision(**{name: cleaned[name] for name in names})

    @property
    def proposal(self) -> Proposal | None:
        """The clause that is asked for; without words of its own it says the reason."""
        cleaned = self.cleaned_data
        if not cleaned["rule"]:
            return None
        return Proposal(cleaned["decided_by"], cleaned["rule_text"].strip() or cleaned["reason"])

    @property
    def values(self) -> SettleValues:
        """What was typed, to be shown again beside the errors."""
        names = ("grade", "decided_by", "clause", "cause", "citation", "reason", "rule_text")
        typed = {name: self.data.get(name, "") for name in names}
        wants_rule = bool(self.data.get("rule"))
        return SettleValues(**typed, is_dropped=self.is_dropped, wants_rule=wants_rule)

    @property
    def messages(self) -> dict[str, str]:
        """One sentence for each field that is wrong."""
        return {name: " ".join(map(str, errors)) for name, errors in self.errors.items()}


class ReopenForm(forms.Form):
    """Reopening what a filter shows: confirmed by the study's title, and by the number shown."""

    count = forms.IntegerField(min_value=1)
    title = forms.CharField(required=False)
    reason = forms.CharField(required=False, max_length=NOTE_LIMIT)

    def __init__(self, data: Any, *, study: Study) -> None:
        super().__init__(data)
        self.study = study

    def clean_title(self) -> str:
        title: str = self.cleaned_data["title"].strip()
        if title != self.study.title.strip():
            raise forms.ValidationError(
                _("Type the study's name to confirm: %(title)s") % {"title": self.study.title}
            )
        return title

    def clean_reason(self) -> str:
        reason: str = self.cleaned_data["reason"].strip()
        if not reason:
            raise forms.ValidationError(_("Write why they are reopened; the log keeps it."))
        return reason

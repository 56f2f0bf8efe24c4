"""Forms of the query classes page."""

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.classing import Rule
from studies.models import Query, QueryClass, Study

RULES = 6
LARGEST = 2**31 - 1
KINDS = [
    ("starts", gettext_lazy("starts with")),
    ("contains", gettext_lazy("contains")),
    ("ends", gettext_lazy("ends with")),
    ("is", gettext_lazy("is")),
]


class NewClassForm(forms.ModelForm):
    class Meta:
        model = QueryClass
        fields = ("name", "title", "is_high_risk", "minimum_queries")
        labels = {
            "name": gettext_lazy("Name"),
            "title": gettext_lazy("Title"),
            "is_high_risk": gettext_lazy("High risk"),
            "minimum_queries": gettext_lazy("Judged queries needed"),
        }
        help_texts = {
            "name": gettext_lazy("As files and reports write it."),
            "title": gettext_lazy("As people read it. Empty: the name."),
            "minimum_queries": gettext_lazy(
                "For the release gate. 0: ten where the class is of high risk, none elsewhere."
            ),
        }

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.study = study

        self.fields["minimum_queries"].required = False

    def clean_minimum_queries(self) -> int:
        return self.cleaned_data["minimum_queries"] or 0

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if self.study.query_classes.filter(name=name).exists():
            raise forms.ValidationError(_("The study has a class of this name."))
        return name


class WeightForm(forms.Form):
    """What the release gate asks of a class that is there."""

    is_high_risk = forms.BooleanField(required=False)
    minimum_queries = forms.IntegerField(min_value=0, max_value=LARGEST)


class AssignForm(forms.Form):
    """Ticked queries and the class they get, or none: both have to be said."""

    NO_CLASS = "-"

    queries = forms.ModelMultipleChoiceField(
        queryset=Query.objects.none(),
        to_field_name="public_id",
        error_messages={"required": gettext_lazy("Tick the queries that are meant.")},
    )
    query_class = forms.ChoiceField(
        label=gettext_lazy("Class"),
        error_messages={"required": gettext_lazy("Choose the class that they get.")},
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["queries"].queryset = Query.objects.filter(study=study)
        self.classes = {one.name: one for one in study.query_classes.all()}
        fields["query_class"].choices = [
            ("", _("choose …")),
            *((name, name) for name in self.classes),
            (self.NO_CLASS, _("no class")),
        ]

    def clean_query_class(self) -> QueryClass | None:
        return self.classes.get(self.cleaned_data["query_class"])


class RuleForm(forms.Form):
    """One rule; an empty text is no rule."""

    kind = forms.ChoiceField(choices=KINDS, label=gettext_lazy("The text"))
    text = forms.CharField(required=False, max_length=200, label=gettext_lazy("words"))
    query_class = forms.ModelChoiceField(
        queryset=QueryClass.objects.none(),
        to_field_name="name",
        required=False,
        label=gettext_lazy("class"),
        empty_label="–",
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["query_class"].queryset = study.query_classes.all()

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if cleaned.get("text") and not cleaned.get("query_class"):
            self.add_error("query_class", _("Choose the class."))
        return cleaned

    @property
    def rule(self) -> Rule | None:
        cleaned = self.cleaned_data
        if not cleaned["text"]:
            return None
        return Rule(cleaned["kind"], cleaned["text"], cleaned["query_class"].name)


class RulesForm:
    """Several rules in their order, and whether they touch unclassified queries only."""

    def __init__(self, data: Mapping[str, str] | None, *, study: Study) -> None:
        self.rows = [
            RuleForm(data, study=study, prefix=f"rule-{number}") for number in range(RULES)
        ]
        self.unclassified_only = data is None or data.get("scope", "unclassified") != "all"

    def is_valid(self) -> bool:
        return all(row.is_valid() for row in self.rows) and bool(self.rules)

    @property
    def rules(self) -> list[Rule]:
        return [row.rule for row in self.rows if row.rule is not None]

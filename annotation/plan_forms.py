"""The plan form of a round: overlap, annotators for the rest, limits, and when it opens."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils import timezone
from django.utils.functional import cached_property
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.opening_forms import OpeningField
from annotation.services.openings import find_begun
from studies.models import Member, Quota, Round


class PlanForm(forms.Form):
    shared = forms.IntegerField(
        min_value=0,
        label=gettext_lazy("Queries that everybody judges"),
        help_text=gettext_lazy("Agreement of everybody with everybody is measured on them."),
    )
    per_query = forms.IntegerField(
        min_value=1, label=gettext_lazy("Annotators for each other query")
    )
    opens_at = OpeningField(
        label=gettext_lazy("Opens"),
        help_text=gettext_lazy("Nothing of it is offered to anybody before. Empty: at once."),
    )

    def __init__(self, *args: Any, round: Round, team: Sequence[Member], **kwargs: Any) -> None:
        self.round, self.team = round, team
        kwargs["initial"] = read_current_plan(round) | kwargs.get("initial", {})
        super().__init__(*args, **kwargs)
        for member in team:
            self.fields[name_field(member)] = forms.IntegerField(
                required=False,
                min_value=0,
                label=_("At most, for %(name)s") % {"name": member.name},
            )

    @cached_property
    def may_be_timed(self) -> bool:
        """Whether when the round opens can still be said."""
        return not self.round.is_open or not find_begun([self.round])

    def list_limits(self) -> list[forms.BoundField]:
        return [self[name_field(member)] for member in self.team]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        if not self.team:
            raise forms.ValidationError(
                _("Nobody annotates in this study yet: invite people first.")
            )
        shared, per_query = cleaned.get("shared"), cleaned.get("per_query")
        opens_at = cleaned.get("opens_at")
        if opens_at and opens_at > timezone.now() and not self.may_be_timed:
            self.add_error("opens_at", say_begun())
        total = self.round.round_queries.count()
        if shared is not None and shared > total:
            text = ngettext(
                "The round has %(total)d query.", "The round has %(total)d queries.", total
            )
            self.add_error("shared", text % {"total": total})
        if per_query is not None and per_query > len(self.team):
            text = ngettext(
                "Only %(team)d person annotates: more places could never be filled.",
                "Only %(team)d people annotate: more places could never be filled.",
                len(self.team),
            )
            self.add_error("per_query", text % {"team": len(self.team)})
        for member in self.team:
            limit = cleaned.get(name_field(member))
            if limit is not None and shared is not None and limit < shared:
                self.add_error(name_field(member), _("Less than everybody is to judge."))
        return cleaned

    @property
    def quotas(self) -> dict[int, int]:
        """The limits set, by member."""
        limits = {one.pk: self.cleaned_data[name_field(one)] for one in self.team}
        return {key: limit for key, limit in limits.items() if limit is not None}


def say_begun() -> str:
    return _("The round is open and somebody has begun it: it cannot be put off any more.")


def name_field(member: Member) -> str:
    return f"quota-{member.pk}"


def read_current_plan(round: Round) -> dict[str, Any]:
    """What the form starts with: the plan in force, as far as the queries show it."""
    planned = list(round.round_queries.values_list("annotators", flat=True))
    numbers = [number for number in planned if number is not None]
    usual = max(set(numbers), key=numbers.count) if numbers else round.study.annotators_per_query
    fixed = Quota.objects.filter(round=round, is_fixed=True).values_list("member", "queries")
    return {
        "shared": planned.count(None),
        "per_query": usual,
        "opens_at": None if round.is_open else round.opens_at,
        **{f"quota-{member}": queries for member, queries in fixed},
    }

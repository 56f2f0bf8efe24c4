"""Forms by which a study is created and its settings are changed."""

from django import forms
from django.utils.translation import gettext_lazy as _

from studies.formats.study import RESERVED_SLUGS
from studies.models import Study

LABELS = {
    "title": _("Title"),
    "description": _("Description"),
    "slug": _("Name in addresses"),
    "annotators_per_query": _("Annotators per query"),
    "minimum_votes": _("Votes that a consensus needs"),
    "consensus": _("Consensus"),
    "settle_own_pairs": _("Adjudicators may settle pairs that they have labelled"),
    "judges_read_results": _("Leads and admins may read results while they still judge"),
    "ordering": _("Order of judging"),
    "claim_minutes": _("Minutes until an abandoned query is free again"),
    "documents_required": _("Every document of the pool must have its text or image"),
}
HELP = {
    "slug": _("Small letters, digits and hyphens. It cannot be changed later."),
    "description": _("Members and people who are invited read it."),
    "judges_read_results": _(
        "Whoever does is marked: their labels from then on count, and reports and manifests say "
        "that these are not blind."
    ),
    "annotators_per_query": _(
        "For queries that come in from now on; the plan of a round changes it for those there are."
    ),
}


class SettingsForm(forms.ModelForm):
    """What can be changed while people judge."""

    class Meta:
        model = Study
        fields: tuple[str, ...] = (
            "title",
            "description",
            "annotators_per_query",
            "minimum_votes",
            "consensus",
            "settle_own_pairs",
            "judges_read_results",
            "ordering",
            "claim_minutes",
            "documents_required",
        )
        labels = LABELS
        help_texts = HELP
        widgets = {"description": forms.Textarea(attrs={"rows": 3})}


class NewStudyForm(SettingsForm):
    class Meta(SettingsForm.Meta):
        fields = ("title", "slug", *SettingsForm.Meta.fields[1:])

    def clean_slug(self) -> str:
        slug: str = self.cleaned_data["slug"].lower()
        if slug in RESERVED_SLUGS:
            raise forms.ValidationError(_("This name is an address of the site. Choose another."))
        return slug

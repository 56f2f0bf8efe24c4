"""Which queries a requeue speaks of, and what it would do."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from annotation.models import Claim
from annotation.progress.counts import fetch
from annotation.services.releases import list_transferable
from studies.models import Member, QueryClass, Round, RoundQuery, Study

COUNT_LABELS = """
SELECT count(*) FROM annotation_claim c
JOIN studies_roundquery rq ON rq.id = c.round_query_id
JOIN studies_pair p ON p.query_id = rq.query_id
JOIN annotation_judgment j
    ON j.round_id = rq.round_id AND j.pair_id = p.id AND j.annotator_id = c.annotator_id
WHERE c.id = ANY(%(freed)s) AND NOT j.is_surplus
"""

COUNT_STUCK = """
SELECT count(*) FROM studies_roundquery rq
WHERE rq.id = ANY(%(keys)s) AND (
    SELECT count(*) FROM annotation_claim c
    WHERE c.round_query_id = rq.id AND c.id = ANY(%(freed)s)
) > (
    SELECT count(*) FROM studies_member m
    WHERE m.study_id = %(study)s AND m.is_active AND 'annotator' = ANY(m.roles)
        AND NOT EXISTS (
            SELECT FROM annotation_claim c
            WHERE c.round_query_id = rq.id AND c.annotator_id = m.id AND c.state <> 'lapsed'
        )
)
"""


@dataclass(frozen=True, slots=True)
class RequeuePreview:
    """`places` would be free, `labels` become surplus once others have filled them; `stuck` are
    queries that too few other active annotators are left for. `kept` are left as they are: nobody
    could take them over, since everybody judges them or their pairs were given to single people."""

    queries: int
    places: int
    labels: int
    stuck: int
    kept: int
    keys: Sequence[int]


class RequeueForm(forms.Form):
    """Queries of a round: of a class, or those named, with anybody's places or one person's."""

    round = forms.ModelChoiceField(
        queryset=Round.objects.none(), to_field_name="name", label=_("Round")
    )
    query_class = forms.ModelChoiceField(
        queryset=QueryClass.objects.none(),
        to_field_name="name",
        required=False,
        label=_("Queries of the class"),
        empty_label=_("any class"),
    )
    queries = forms.CharField(
        required=False,
        widget=forms.Textarea(attrs={"rows": 3}),
        label=_("Only these queries"),
        help_text=_("Ids, one on a line. Empty: all of the class."),
    )
    annotator = forms.ModelChoiceField(
        queryset=Member.objects.none(),
        required=False,
        label=_("Only the places of"),
        empty_label=_("everybody"),
    )

    def __init__(self, *args: Any, study: Study, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        fields: dict[str, Any] = self.fields
        fields["round"].queryset = study.rounds.filter(closed_at=None).order_by("position", "pk")
        fields["query_class"].queryset = study.query_classes.all()
        fields["annotator"].queryset = study.members.filter(claims__isnull=False).distinct()

    def clean_queries(self) -> list[str]:
        named: str = self.cleaned_data["queries"]
        return named.split()

    def clean(self) -> dict[str, Any]:
        """Everything of a round at once is hardly ever meant: it takes a class, ids or a name."""
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        named = cleaned.get("queries") or []
        if not (named or cleaned.get("query_class") or cleaned.get("annotator")):
            raise forms.ValidationError(_("Choose a class, name queries, or choose a person."))
        if cleaned.get("round") and named:
            self.refuse_unknown(cleaned["round"], named)
        return cleaned

    def refuse_unknown(self, round: Round, named: Sequence[str]) -> None:
        known = round.round_queries.filter(query__external_id__in=named)
        unknown = set(named) - set(known.values_list("query__external_id", flat=True))
        if unknown:
            names = ", ".join(sorted(unknown)[:10])
            self.add_error("queries", _("The round has no query %(names)s.") % {"names": names})

    def list_queries(self) -> QuerySet[RoundQuery]:
        """The rows that are meant and that somebody has a place on."""
        cleaned = self.cleaned_data
        rows = RoundQuery.objects.filter(round=cleaned["round"], claims__slot__isnull=False)
        if cleaned["query_class"]:
            rows = rows.filter(query__query_class=cleaned["query_class"])
        if cleaned["queries"]:
            rows = rows.filter(query__external_id__in=cleaned["queries"])
        if cleaned["annotator"]:
            own = Claim.objects.filter(annotator=cleaned["annotator"], slot__isnull=False)
            rows = rows.filter(pk__in=own.values("round_query"))
        return rows.distinct()

    def preview(self) -> RequeuePreview:
        meant = set(self.list_queries().values_list("pk", flat=True))
        transferable = list_transferable(self.cleaned_data["round"]).filter(pk__in=meant)
        keys = list(transferable.values_list("pk", flat=True))
        claims = Claim.objects.filter(round_query__in=keys, slot__isnull=False)
        if self.cleaned_data["annotator"]:
            claims = claims.filter(annotator=self.cleaned_data["annotator"])
        freed = list(claims.values_list("pk", flat=True))
        values = {"study": self.cleaned_data["round"].study_id, "keys": keys, "freed": freed}
        return RequeuePreview(
            queries=len(keys),
            places=len(freed),
            labels=fetch(COUNT_LABELS, values)[0][0],
            stuck=fetch(COUNT_STUCK, values)[0][0],
            kept=len(meant) - len(keys),
            keys=keys,
        )

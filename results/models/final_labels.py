from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Clause, Dimension, Member, Pair, RubricVersion
from studies.models.fields import PublicIdField


class Cause(models.TextChoices):
    """Why the labels of a pair came apart."""

    RUBRIC = "rubric_ambiguity", _("rubric ambiguity")
    QUERY = "query_ambiguity", _("query ambiguity")
    CHUNKING = "chunking", _("chunking")
    KNOWLEDGE = "domain_knowledge", _("domain knowledge")
    VERSIONS = "version_conflict", _("version conflict")
    SLIP = "operator_slip", _("operator slip")


class Citation(models.TextChoices):
    """What the labels of a pair say decided them, one beside the other."""

    DIMENSIONS = "different_dimensions", _("different dimensions")
    READINGS = "different_readings", _("one dimension, different readings")
    SAME = "same_reading", _("the same reading")


class FinalLabel(models.Model):
    """The recorded decision on a pair: a grade, or that the pair is dropped.

    A pair has at most one that has not ended; those that ended, by being revised or reopened,
    stay as they were. The migration adds what Django cannot say: the grade is one of the rubric
    version's values, the dimension one of its dimensions, the clause one of the dimension's, and
    nothing of a row ever changes but its end, once.
    """

    class Source(models.TextChoices):
        APP = "app", _("decided here")
        IMPORT = "import", _("imported")

    public_id = PublicIdField()
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="final_labels")
    grade = models.SmallIntegerField(null=True, blank=True)
    is_dropped = models.BooleanField(default=False)
    decided_by = models.ForeignKey(
        Dimension, models.PROTECT, null=True, blank=True, related_name="final_labels"
    )
    clause = models.ForeignKey(
        Clause, models.PROTECT, null=True, blank=True, related_name="final_labels"
    )
    cause = models.CharField(max_length=24, choices=Cause, blank=True)
    citation = models.CharField(max_length=24, choices=Citation, blank=True)
    reason = models.TextField()
    rubric_version = models.ForeignKey(RubricVersion, models.PROTECT, related_name="final_labels")
    source = models.CharField(max_length=16, choices=Source, default=Source.APP)
    by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    decided_at = models.DateTimeField(default=timezone.now)
    ended_by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["pair"], condition=Q(ended_at__isnull=True), name="final_label_once"
            ),
            models.CheckConstraint(
                condition=Q(is_dropped=True, grade__isnull=True)
                | Q(is_dropped=False, grade__isnull=False),
                name="final_label_grade_or_dropped",
            ),
            models.CheckConstraint(condition=~Q(reason=""), name="final_label_has_reason"),
            models.CheckConstraint(
                condition=Q(is_dropped=True) | Q(source="import") | Q(decided_by__isnull=False),
                name="final_label_names_what_decided",
            ),
            models.CheckConstraint(
                condition=Q(clause__isnull=True) | Q(decided_by__isnull=False),
                name="final_label_clause_within_dimension",
            ),
            models.CheckConstraint(
                condition=Q(cause__in=["", *Cause.values]), name="final_label_cause_known"
            ),
            models.CheckConstraint(
                condition=Q(citation__in=["", *Citation.values]),
                name="final_label_citation_known",
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)

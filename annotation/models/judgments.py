from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models import Clause, Dimension, Member, Pair, Round, RubricVersion
from studies.models.fields import PublicIdField


class Judgment(models.Model):
    """The current label of one annotator on one pair in one round; the log holds its history.

    Either a grade or unsure. The migration adds what Django cannot say: the grade must be one
    of the rubric version's values, the dimension one of its dimensions, the clause one of the
    dimension's. `active_seconds` is NULL where nobody measured it, as in most imports.
    """

    class Source(models.TextChoices):
        APP = "app", _("judged here")
        IMPORT = "import", _("imported")

    public_id = PublicIdField()
    round = models.ForeignKey(Round, models.PROTECT, related_name="judgments", db_index=False)
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="judgments")
    annotator = models.ForeignKey(Member, models.PROTECT, related_name="judgments", db_index=False)
    rubric_version = models.ForeignKey(RubricVersion, models.PROTECT, related_name="judgments")
    grade = models.SmallIntegerField(null=True, blank=True)
    is_unsure = models.BooleanField(default=False)
    decided_by = models.ForeignKey(
        Dimension, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    clause = models.ForeignKey(
        Clause, models.PROTECT, null=True, blank=True, related_name="judgments"
    )
    note = models.TextField(blank=True)
    source = models.CharField(max_length=16, choices=Source, default=Source.APP)
    is_surplus = models.BooleanField(default=False)
    active_seconds = models.FloatField(null=True, blank=True)
    judged_at = models.DateTimeField(default=timezone.now)
    revised_at = models.DateTimeField(null=True, blank=True)
    recorded_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "pair", "annotator"], name="judgment_once_per_round"
            ),
            models.CheckConstraint(
                condition=Q(is_unsure=True, grade__isnull=True)
                | Q(is_unsure=False, grade__isnull=False),
                name="judgment_grade_or_unsure",
            ),
            models.CheckConstraint(
                condition=Q(source="import") | Q(decided_by__isnull=False),
                name="judgment_names_what_decided",
            ),
            models.CheckConstraint(
                condition=Q(clause__isnull=True) | Q(decided_by__isnull=False),
                name="judgment_clause_within_dimension",
            ),
            models.CheckConstraint(
                condition=Q(active_seconds__gte=0), name="judgment_time_not_negative"
            ),
        ]
        indexes = [models.Index(fields=["annotator", "-id"], name="judgment_latest_of_annotator")]

    def __str__(self) -> str:
        return str(self.public_id)

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotation.models.judgments import Judgment
from studies.models import Member, RubricVersion


class CarriedLabel(models.Model):
    """A label said to be valid under a later rubric version too, which it was not given under.

    A label counts under the version it was given under and under those it was carried to. The
    migration adds that both versions are of one study, that the later one still has the label's
    grade and dimension, and that nothing of a row ever changes.
    """

    class Why(models.TextChoices):
        UNTOUCHED = "untouched", _("no change of the rubric can concern it")
        KEPT = "kept", _("an admin kept it, although a change can concern it")

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="carried", db_index=False)
    rubric_version = models.ForeignKey(RubricVersion, models.PROTECT, related_name="carried_labels")
    why = models.CharField(max_length=16, choices=Why, default=Why.UNTOUCHED)
    by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["judgment", "rubric_version"], name="carried_once_per_version"
            ),
            models.CheckConstraint(
                condition=Q(why__in=["untouched", "kept"]), name="carried_why_known"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.judgment_id} under {self.rubric_version_id}"

from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models import Member, Pair
from studies.models.fields import PublicIdField


class ProblemReport(models.Model):
    """An annotator's word that something is wrong with a document."""

    class Kind(models.TextChoices):
        MISSING = "missing", _("The text or image is missing")
        BROKEN = "broken", _("It is cut off, garbled or cannot be read")
        WRONG = "wrong", _("It is not what its title says")
        OTHER = "other", _("Something else")

    public_id = PublicIdField()
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="problem_reports")
    annotator = models.ForeignKey(Member, models.PROTECT, related_name="problem_reports")
    kind = models.CharField(max_length=16, choices=Kind)
    note = models.TextField(blank=True)
    reported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["pair", "annotator", "kind"], name="problem_reported_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pair_id}"

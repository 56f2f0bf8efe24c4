from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models import Member, Pair, Round


class CalibrationNote(models.Model):
    """What came out of talking over one split of a calibration round.

    It never changes a label. `edition` grows with each save, so that a form can tell that another
    one was saved meanwhile; the log keeps what stood there before.
    """

    class Kind(models.TextChoices):
        SLIP = "slip", _("slip")
        UNDERSPECIFIED = "underspecified", _("underspecified")
        UNDECIDED = "undecided", _("undecided")

    round = models.ForeignKey(Round, models.PROTECT, related_name="calibration_notes")
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="calibration_notes")
    kind = models.CharField(max_length=16, choices=Kind)
    note = models.TextField(blank=True)
    by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    at = models.DateTimeField(auto_now=True)
    edition = models.PositiveIntegerField(default=1)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(fields=["round", "pair"], name="calibration_note_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["slip", "underspecified", "undecided"]),
                name="calibration_note_kind_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind}: {self.pair_id} in {self.round_id}"

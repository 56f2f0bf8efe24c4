from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models import Member, RoundQuery


class Claim(models.Model):
    """An annotator's hold on a query of a round.

    held -> finished, when every pair of the query has this annotator's outcome; back to held
    when the query gains pairs or a label is undone. held -> lapsed, when `expires_at` passes
    without a label or an admin ends it: the slot is free again, what was labelled is kept. held
    or finished -> released, when an admin gives the query to others: it is not offered to this
    annotator again. A claim in force (held or finished) occupies a numbered slot; the database
    allows each number once, and none above the number of annotators of the query.
    """

    class State(models.TextChoices):
        HELD = "held", _("held")
        FINISHED = "finished", _("finished")
        LAPSED = "lapsed", _("lapsed")
        RELEASED = "released", _("given to others")

    round_query = models.ForeignKey(
        RoundQuery, models.PROTECT, related_name="claims", db_index=False
    )
    annotator = models.ForeignKey(Member, models.PROTECT, related_name="claims", db_index=False)
    state = models.CharField(max_length=16, choices=State, default=State.HELD)
    slot = models.PositiveIntegerField(null=True, blank=True)
    claimed_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()
    # Pairs of other queries that this annotator could have taken at the time of the claim:
    # what "left" on the judging screen is told from, without counting the pool at each label.
    open_pairs = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round_query", "annotator"], name="claim_once_per_annotator"
            ),
            models.UniqueConstraint(fields=["round_query", "slot"], name="claim_slot_once"),
            models.CheckConstraint(
                condition=Q(state__in=["held", "finished"], slot__gte=1)
                | Q(state__in=["lapsed", "released"], slot__isnull=True),
                name="claim_in_force_has_slot",
            ),
        ]
        indexes = [models.Index(fields=["annotator", "state"], name="claim_of_annotator")]

    def __str__(self) -> str:
        return f"{self.annotator_id} {self.state} {self.round_query_id}"

from django.db import models
from django.db.models import Q

from studies.models import Member, Pair


class ClauseProposal(models.Model):
    """A clause that somebody asked for while settling a pair, as it was put into the draft.

    It is open until a version is published after it, which tells what became of its words, until
    the draft is discarded (`withdrawn_at`), or until somebody declines it for a reason
    (`declined_by`). `dimension` and `clause` are names in the draft.
    """

    pair = models.ForeignKey(Pair, models.PROTECT, related_name="clause_proposals")
    dimension = models.CharField(max_length=80)
    clause = models.CharField(max_length=80)
    text = models.TextField()
    by = models.ForeignKey(Member, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)
    declined_by = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    reason = models.TextField(blank=True)

    class Meta:
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(declined_by__isnull=True, reason="")
                | (Q(declined_by__isnull=False, withdrawn_at__isnull=False) & ~Q(reason="")),
                name="clause_declined_for_a_reason",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.dimension} › {self.clause}"

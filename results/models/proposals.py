from django.db import models

from studies.models import Member, Pair


class ClauseProposal(models.Model):
    """A clause that somebody asked for while settling a pair, as it was put into the draft.

    It is open until a version is published after it, which tells what became of its words, or
    until the draft is discarded (`withdrawn_at`). `dimension` and `clause` are names in the draft.
    """

    pair = models.ForeignKey(Pair, models.PROTECT, related_name="clause_proposals")
    dimension = models.CharField(max_length=80)
    clause = models.CharField(max_length=80)
    text = models.TextField()
    by = models.ForeignKey(Member, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now_add=True)
    withdrawn_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["id"]

    def __str__(self) -> str:
        return f"{self.dimension} › {self.clause}"

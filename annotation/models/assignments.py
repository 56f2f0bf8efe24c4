from django.db import models

from studies.models import Member, Pair, Round


class RoundAssignment(models.Model):
    """A pair that one annotator is to judge in a round which gives single pairs to single people.

    In a round with assignments (a recheck of what a change of the rubric touches) each annotator
    meets exactly the pairs assigned to them; in a round without, every pair of the queries that
    they claim.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="assignments", db_index=False)
    pair = models.ForeignKey(Pair, models.PROTECT, related_name="assignments")
    annotator = models.ForeignKey(Member, models.PROTECT, related_name="assignments")

    class Meta:
        ordering = ["id"]
        constraints = [
            models.UniqueConstraint(
                fields=["round", "annotator", "pair"], name="pair_assigned_once_per_annotator"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pair_id} to {self.annotator_id} in {self.round_id}"

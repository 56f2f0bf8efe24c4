from django.db import models

from studies.models import Member, Round


class LabelChanges(models.Model):
    """How often the labels of one annotator in one round have changed.

    The sum over rounds tells whether numbers computed from them earlier are still those of the
    labels at hand. Counted by annotator, so that no two people who judge wait for each other; who
    has no row has never had a label in the round.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="label_changes", db_index=False)
    annotator = models.ForeignKey(
        Member, models.PROTECT, related_name="label_changes", db_index=False
    )
    count = models.PositiveBigIntegerField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["round", "annotator"], name="label_changes_once_per_annotator"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.count} of {self.annotator_id} in {self.round_id}"

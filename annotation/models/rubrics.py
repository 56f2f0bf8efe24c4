from django.db import models

from studies.models import Member, RubricVersion


class RubricTold(models.Model):
    """The rubric version that an annotator knows they judge under: the one they began with, or
    the latest whose changes they have confirmed to have read."""

    annotator = models.OneToOneField(
        Member, models.PROTECT, primary_key=True, related_name="rubric_told"
    )
    rubric_version = models.ForeignKey(RubricVersion, models.PROTECT, related_name="+")
    at = models.DateTimeField(auto_now=True)

    def __str__(self) -> str:
        return f"{self.annotator_id} knows {self.rubric_version_id}"

from django.db import models

from studies.models.people import Member, User
from studies.models.study import Study


class Action(models.Model):
    """One line of a study's log: who did what, when. The database refuses update and delete.

    `name` is dotted, object first (`judgment.recorded`, `rubric.published`). `data` holds what
    a reader needs to replay the action without other tables. `key` is the one-time key of the
    form that caused it: a second submission of the form finds it taken.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="actions", db_index=False)
    at = models.DateTimeField(auto_now_add=True)
    name = models.CharField(max_length=60)
    user = models.ForeignKey(User, models.PROTECT, null=True, blank=True, related_name="+")
    member = models.ForeignKey(Member, models.PROTECT, null=True, blank=True, related_name="+")
    data = models.JSONField(default=dict)
    active_seconds = models.FloatField(null=True, blank=True)
    away_seconds = models.FloatField(null=True, blank=True)
    key = models.UUIDField(null=True, blank=True, unique=True)

    class Meta:
        ordering = ["id"]
        indexes = [models.Index(fields=["study", "id"], name="action_study_in_order")]

    def __str__(self) -> str:
        return self.name

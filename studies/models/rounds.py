from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models.materials import Query
from studies.models.people import Member
from studies.models.rubrics import RubricVersion
from studies.models.study import Study


class Round(models.Model):
    """A stretch of judging under one rubric version: which queries, by how many annotators,
    from when, until it is closed.

    `team_size` is how many people "all annotators" were when it was closed. The database counts
    them at that moment: who joins, leaves or gets another role later changes it no more.
    """

    class Kind(models.TextChoices):
        CALIBRATION = "calibration", _("calibration")
        MAIN = "main", _("main")
        RELABEL = "relabel", _("relabel")
        RECHECK = "recheck", _("recheck")

    study = models.ForeignKey(Study, models.PROTECT, related_name="rounds")
    name = models.CharField(max_length=80)
    kind = models.CharField(max_length=16, choices=Kind, default=Kind.MAIN)
    rubric_version = models.ForeignKey(RubricVersion, models.PROTECT, related_name="rounds")
    position = models.PositiveSmallIntegerField(default=0)
    opens_at = models.DateTimeField(default=timezone.now)
    closed_at = models.DateTimeField(null=True, blank=True)
    team_size = models.PositiveIntegerField(null=True, blank=True, editable=False)

    class Meta:
        ordering = ["study", "position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="round_name_once"),
            models.CheckConstraint(
                condition=Q(kind__in=["calibration", "main", "relabel", "recheck"]),
                name="round_kind_known",
            ),
            models.CheckConstraint(
                condition=Q(team_size__isnull=True) | Q(team_size__gte=1, closed_at__isnull=False),
                name="round_team_size_once_closed",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def is_open(self) -> bool:
        return self.closed_at is None and self.opens_at <= timezone.now()


class RoundQuery(models.Model):
    """A query in a round, with the number of annotators who may take it (null: all)."""

    round = models.ForeignKey(Round, models.PROTECT, related_name="round_queries", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="round_queries")
    annotators = models.PositiveSmallIntegerField(null=True, blank=True)

    class Meta:
        ordering = ["round", "query"]
        verbose_name_plural = "round queries"
        constraints = [
            models.UniqueConstraint(fields=["round", "query"], name="round_query_once"),
            models.CheckConstraint(
                condition=Q(annotators__isnull=True) | Q(annotators__gte=1),
                name="round_query_annotators_positive",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.query_id} in {self.round_id}"


class Quota(models.Model):
    """How many queries of a round one annotator is to judge, those that everybody judges included.

    Set by hand (`is_fixed`) it is never exceeded. A fair share, computed by the plan, is exceeded
    for a query that nobody below their own share could take.
    """

    round = models.ForeignKey(Round, models.PROTECT, related_name="quotas")
    member = models.ForeignKey(Member, models.PROTECT, related_name="quotas")
    queries = models.PositiveIntegerField()
    is_fixed = models.BooleanField()

    class Meta:
        ordering = ["round", "member"]
        constraints = [
            models.UniqueConstraint(fields=["round", "member"], name="quota_once_per_member"),
        ]

    def __str__(self) -> str:
        return f"{self.queries} of {self.round_id} for {self.member_id}"


class Unblinding(models.Model):
    """Since when one annotator does not judge a round blind, because they could read others'
    labels while it was open. What they label in it from then on counts, and is marked."""

    member = models.ForeignKey(Member, models.PROTECT, related_name="unblindings", db_index=False)
    round = models.ForeignKey(Round, models.PROTECT, related_name="unblindings")
    at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering = ["member", "round"]
        constraints = [
            models.UniqueConstraint(fields=["member", "round"], name="unblinded_once_per_round"),
        ]

    def __str__(self) -> str:
        return f"{self.member_id} in {self.round_id}"

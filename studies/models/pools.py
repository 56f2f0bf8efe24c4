from django.db import models
from django.db.models import Q

from studies.models.fields import ExternalIdField, PublicIdField
from studies.models.materials import Document, Query
from studies.models.study import Study


class Run(models.Model):
    """One system's ranking, as imported. Never shown to who judges."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="runs")
    name = ExternalIdField()
    tag = models.TextField(blank=True)
    imported_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "name"]
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="run_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class RunHit(models.Model):
    """A document that a run returned for a query, with its position from 1 in the run's order.

    The document is named by its external id: below the pool's depth a run may return documents
    that the study does not hold.
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="hits", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    document_external_id = ExternalIdField()
    rank = models.PositiveIntegerField()
    score = models.FloatField()

    class Meta:
        ordering = ["run", "query", "rank"]
        constraints = [
            models.UniqueConstraint(
                fields=["run", "query", "document_external_id"], name="run_hit_document_once"
            ),
            models.UniqueConstraint(fields=["run", "query", "rank"], name="run_hit_rank_once"),
            models.CheckConstraint(condition=Q(rank__gte=1), name="run_hit_rank_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.document_external_id} at {self.rank}"


class Pair(models.Model):
    """One query with one document: the unit judged.

    `pool_rank` is the best position over the runs at the time the pair came in, or the place in
    an imported pool; it is null for a control pair that no run returned, which is judged but
    never exported.

    Study and query are one foreign key of the database, `pair_query_of_study`: a pair is of the
    study that its query is of.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="pairs", db_constraint=False)
    query = models.ForeignKey(
        Query, models.PROTECT, related_name="pairs", db_index=False, db_constraint=False
    )
    document = models.ForeignKey(Document, models.PROTECT, related_name="pairs")
    public_id = PublicIdField()
    pool_rank = models.PositiveIntegerField(null=True, blank=True)
    added_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["query", "pool_rank", "id"]
        constraints = [
            models.UniqueConstraint(fields=["query", "document"], name="pair_once"),
            models.CheckConstraint(
                condition=Q(pool_rank__isnull=True) | Q(pool_rank__gte=1),
                name="pair_pool_rank_positive",
            ),
        ]

    def __str__(self) -> str:
        return str(self.public_id)


class ControlPair(models.Model):
    """A pair with an established label and deciding dimension, unmarked among the others."""

    pair = models.OneToOneField(Pair, models.PROTECT, primary_key=True, related_name="control")
    grade = models.SmallIntegerField()
    decided_by = models.CharField(max_length=80)
    purpose = models.TextField(blank=True)

    def __str__(self) -> str:
        return f"control {self.pair_id}"

from collections.abc import Iterator
from itertools import count

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q

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


class Ranking(models.Model):
    """What a run returned for a query: the documents in the run's order, with their scores.

    Documents are named by their external ids: below the pool's depth a run may return documents
    that the study does not hold. The database holds each of them once (`ranking_documents_once`).
    """

    run = models.ForeignKey(Run, models.CASCADE, related_name="rankings", db_index=False)
    query = models.ForeignKey(Query, models.PROTECT, related_name="+")
    document_ids = ArrayField(ExternalIdField())
    scores = ArrayField(models.FloatField())

    class Meta:
        ordering = ["run", "query"]
        constraints = [
            models.UniqueConstraint(fields=["run", "query"], name="ranking_once"),
            models.CheckConstraint(
                condition=Q(document_ids__len__gte=1) & Q(document_ids__len=F("scores__len")),
                name="ranking_scores_each_document",
            ),
        ]

    def __str__(self) -> str:
        return f"ranking of {self.query_id} by run {self.run_id}"

    def list_hits(self) -> Iterator[tuple[int, str, float]]:
        """Rank from 1, external id of the document, and score."""
        return zip(count(1), self.document_ids, self.scores)


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

import secrets

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


def make_seed() -> str:
    return secrets.token_hex(16)


class Study(models.Model):
    """One judging project: its rules of collection. What is judged hangs on it."""

    class Ordering(models.TextChoices):
        BY_QUERY = "by_query", _("query by query")
        MIXED = "mixed", _("fully mixed")

    class Consensus(models.TextChoices):
        PLURALITY = "plurality", _("strictly the most votes")
        UNANIMOUS = "unanimous", _("unanimous votes only")

    slug = models.SlugField(max_length=60, unique=True)
    title = models.CharField(max_length=200)
    description = models.TextField(blank=True)
    seed = models.CharField(max_length=64, default=make_seed, editable=False)
    annotators_per_query = models.PositiveSmallIntegerField(
        default=2, validators=[MinValueValidator(1)]
    )
    minimum_votes = models.PositiveSmallIntegerField(default=1, validators=[MinValueValidator(1)])
    consensus = models.CharField(max_length=16, choices=Consensus, default=Consensus.PLURALITY)
    # Whether an adjudicator may settle a pair that they have labelled as an annotator.
    settle_own_pairs = models.BooleanField(default=False)
    # Whether who still judges a round may read its results; their labels are then not blind.
    judges_read_results = models.BooleanField(default=False)
    ordering = models.CharField(max_length=16, choices=Ordering, default=Ordering.BY_QUERY)
    depth = models.PositiveIntegerField(null=True, blank=True)
    documents_required = models.BooleanField(default=True)
    # How long a query stays held for an annotator who has stopped labelling it.
    claim_minutes = models.PositiveIntegerField(default=240, validators=[MinValueValidator(1)])
    # Grows with each query that gets another class: numbers by class computed before are old.
    class_changes = models.PositiveBigIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["slug"]
        verbose_name_plural = "studies"
        constraints = [
            models.CheckConstraint(
                condition=Q(annotators_per_query__gte=1, minimum_votes__gte=1),
                name="study_counts_positive",
            ),
            models.CheckConstraint(
                condition=Q(ordering__in=["by_query", "mixed"]), name="study_ordering_known"
            ),
            models.CheckConstraint(
                condition=Q(consensus__in=["plurality", "unanimous"]), name="study_consensus_known"
            ),
        ]

    def __str__(self) -> str:
        return self.title

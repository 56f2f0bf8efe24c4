from django.db import models
from django.db.models import Q

from studies.models.materials import QueryClass
from studies.models.people import Member
from studies.models.study import Study


class RubricVersion(models.Model):
    """One edition of a study's rubric. Once published, it and its parts never change
    (the database refuses it)."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="rubric_versions")
    number = models.PositiveIntegerField()
    note = models.TextField(blank=True)
    published_at = models.DateTimeField(null=True, blank=True)
    published_by = models.ForeignKey(
        Member, models.PROTECT, null=True, blank=True, related_name="+"
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["study", "number"]
        constraints = [
            models.UniqueConstraint(fields=["study", "number"], name="rubric_number_once"),
            models.CheckConstraint(condition=Q(number__gte=1), name="rubric_number_positive"),
        ]

    def __str__(self) -> str:
        return f"rubric {self.number}"


class Grade(models.Model):
    """A point of the scale. `examples` holds objects with kind, query, document and why."""

    rubric_version = models.ForeignKey(RubricVersion, models.CASCADE, related_name="grades")
    value = models.SmallIntegerField()
    name = models.CharField(max_length=80)
    definition = models.TextField(blank=True)
    is_relevant = models.BooleanField()
    examples = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["rubric_version", "value"]
        constraints = [
            models.UniqueConstraint(
                fields=["rubric_version", "value"], name="grade_value_once_per_version"
            ),
            models.UniqueConstraint(
                fields=["rubric_version", "name"], name="grade_name_once_per_version"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value} {self.name}"


class Dimension(models.Model):
    """A test an annotator can apply to a pair; every label names the one that decided it."""

    rubric_version = models.ForeignKey(RubricVersion, models.CASCADE, related_name="dimensions")
    name = models.CharField(max_length=80)
    test = models.TextField()
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["rubric_version", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["rubric_version", "name"], name="dimension_name_once_per_version"
            ),
            models.UniqueConstraint(
                fields=["rubric_version", "position"], name="dimension_position_once_per_version"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Clause(models.Model):
    """A reading of a dimension that the rubric spells out for certain query classes."""

    dimension = models.ForeignKey(Dimension, models.CASCADE, related_name="clauses")
    name = models.CharField(max_length=80)
    text = models.TextField()
    classes = models.ManyToManyField(QueryClass, related_name="clauses", blank=True)
    grade_when_failed = models.SmallIntegerField(null=True, blank=True)
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["dimension", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["dimension", "name"], name="clause_name_once_per_dimension"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class EdgeCase(models.Model):
    """A case the rubric rules on outright."""

    rubric_version = models.ForeignKey(RubricVersion, models.CASCADE, related_name="edge_cases")
    case = models.TextField()
    ruling = models.TextField()
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ["rubric_version", "position"]

    def __str__(self) -> str:
        return self.case

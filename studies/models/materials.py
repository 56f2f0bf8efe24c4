from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from studies.models.fields import ExternalIdField, PublicIdField
from studies.models.study import Study


class QueryClass(models.Model):
    """A kind of query (procedural, factual, …) within which splits are counted."""

    study = models.ForeignKey(Study, models.PROTECT, related_name="query_classes")
    name = models.CharField(max_length=80)
    title = models.CharField(max_length=200, blank=True)
    is_high_risk = models.BooleanField(default=False)
    minimum_queries = models.PositiveIntegerField(default=0)
    position = models.PositiveSmallIntegerField(default=0)

    class Meta:
        ordering = ["study", "position", "name"]
        verbose_name_plural = "query classes"
        constraints = [
            models.UniqueConstraint(fields=["study", "name"], name="query_class_name_once"),
        ]

    def __str__(self) -> str:
        return self.name


class Query(models.Model):
    study = models.ForeignKey(Study, models.PROTECT, related_name="queries", db_index=False)
    external_id = ExternalIdField()
    public_id = PublicIdField()
    text = models.TextField()
    context = models.TextField(blank=True)
    query_class = models.ForeignKey(
        QueryClass, models.PROTECT, related_name="queries", null=True, blank=True
    )
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["study", "external_id"]
        verbose_name_plural = "queries"
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="query_id_once"),
            # What pairs refer to: the query together with its study.
            models.UniqueConstraint(fields=["study", "id"], name="query_of_study"),
        ]

    def __str__(self) -> str:
        return self.text


class Document(models.Model):
    """What a query is paired with. Its text lives in a table of its own, so that counting and
    joining never touch it."""

    class Format(models.TextChoices):
        TEXT = "text", _("text")
        MARKDOWN = "markdown", _("Markdown")
        HTML = "html", _("HTML")
        IMAGE = "image", _("image")

    study = models.ForeignKey(Study, models.PROTECT, related_name="documents", db_index=False)
    external_id = ExternalIdField()
    title = models.TextField(blank=True)
    format = models.CharField(max_length=16, choices=Format, default=Format.TEXT)
    effective_date = models.DateField(null=True, blank=True)
    # The id of the newer document, as the corpus names it; that one need not be in the study.
    superseded_by = ExternalIdField(blank=True, default="")
    url = models.TextField(blank=True)
    metadata = models.JSONField(default=dict, blank=True)

    class Meta:
        ordering = ["study", "external_id"]
        constraints = [
            models.UniqueConstraint(fields=["study", "external_id"], name="document_id_once"),
            models.CheckConstraint(
                condition=Q(format__in=["text", "markdown", "html", "image"]),
                name="document_format_known",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.external_id


class DocumentText(models.Model):
    """The frozen text of a document. A document without one is known by its id only."""

    document = models.OneToOneField(Document, models.CASCADE, primary_key=True, related_name="body")
    text = models.TextField(blank=True)
    image = models.FileField(upload_to="documents", blank=True)

    def __str__(self) -> str:
        return f"text of {self.document_id}"

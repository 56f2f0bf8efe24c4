"""What is judged, streamed as the records that files are written from.

Everything here runs inside a transaction, such as `labels.read_snapshot`: server-side cursors
keep some hundred rows in memory, whatever the size of the study.
"""

from collections.abc import Iterator
from typing import cast

from studies.formats.records import (
    ControlRecord,
    DocumentFormat,
    DocumentRecord,
    PooledPair,
    QueryRecord,
    RunHit,
)
from studies.models import ControlPair, Document, Pair, Query, Run, Study
from studies.selectors import select_rankings

NARROW_ROWS = 2000
ROWS_WITH_TEXTS = 100


def stream_queries(study: Study) -> Iterator[QueryRecord]:
    """Every query by id."""
    rows = (
        Query.objects.filter(study=study)
        .order_by("external_id")
        .values_list("external_id", "text", "query_class__name", "context", "metadata")
    )
    for query_id, text, query_class, context, metadata in rows.iterator(NARROW_ROWS):
        yield QueryRecord(query_id, text, query_class, context, metadata, line=0)


def stream_documents(study: Study) -> Iterator[DocumentRecord]:
    """Every document by id. An image, and a document known by its id only, has no text."""
    documents = Document.objects.filter(study=study).select_related("body").order_by("external_id")
    for document in documents.iterator(ROWS_WITH_TEXTS):
        yield _document_record(document)


def _document_record(document: Document) -> DocumentRecord:
    body = getattr(document, "body", None)
    is_image = document.format == Document.Format.IMAGE
    return DocumentRecord(
        doc_id=document.external_id,
        title=document.title,
        text=None if body is None or (is_image and not body.text) else body.text,
        format=cast(DocumentFormat, document.format),
        metadata=document.metadata,
        effective_date=document.effective_date,
        superseded_by=document.superseded_by or None,
        url=document.url or None,
        line=0,
    )


def stream_images(study: Study) -> Iterator[tuple[str, str]]:
    """Document id and name in the storage of every image, by id."""
    return (
        Document.objects.filter(study=study)
        .exclude(body__image="")
        .exclude(body__isnull=True)
        .order_by("external_id")
        .values_list("external_id", "body__image")
        .iterator(NARROW_ROWS)
    )


def stream_pool(study: Study) -> Iterator[PooledPair]:
    """Every pair of the pool with its rank, by query id, rank and document id."""
    rows = (
        Pair.objects.filter(study=study, pool_rank__isnull=False)
        .order_by("query__external_id", "pool_rank", "document__external_id")
        .values_list("query__external_id", "document__external_id", "pool_rank")
    )
    for query_id, doc_id, pool_rank in rows.iterator(NARROW_ROWS):
        yield PooledPair(query_id, doc_id, cast(int, pool_rank))


def stream_controls(study: Study) -> Iterator[ControlRecord]:
    """Every control pair, by query id and document id."""
    rows = (
        ControlPair.objects.filter(pair__study=study)
        .order_by("pair__query__external_id", "pair__document__external_id")
        .values_list(
            "pair__query__external_id",
            "pair__document__external_id",
            "grade",
            "decided_by",
            "purpose",
        )
    )
    for query_id, doc_id, grade, decided_by, purpose in rows.iterator(NARROW_ROWS):
        yield ControlRecord(query_id, doc_id, grade, decided_by, purpose, line=0)


def stream_run(run: Run) -> Iterator[RunHit]:
    """The hits of a run, by query id and rank."""
    rankings = select_rankings(run).order_by("query__external_id")
    for ranking in rankings.iterator(ROWS_WITH_TEXTS):
        for rank, doc_id, score in ranking.list_hits():
            yield RunHit(ranking.query.external_id, doc_id, rank, score, line=0)

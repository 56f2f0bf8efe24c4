"""Documents: read one by one, staged, compared and added in the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from django.db.backends.utils import CursorWrapper
from psycopg.types.json import Jsonb

from studies.formats.documents import read_corpus, read_document_folder, read_image_folder
from studies.formats.folder import StudyFolder
from studies.formats.problems import Problems
from studies.formats.records import DocumentRecord
from studies.models import Study
from studies.services.imports.fetching import FetchedImages, FetchRefused
from studies.services.imports.images import image_fault, image_name, store_image
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import (
    EXTERNAL_ID,
    Spool,
    Watch,
    fetch,
    refresh_statistics,
    stage_chunks,
)


class StagedDocument(NamedTuple):
    """A document, the file that holds it, and its image where it is one: as a file, or by its
    name in the storage where the study has it already."""

    record: DocumentRecord
    file: str
    image: Path | None = None
    stored: str = ""


class StoredImage(NamedTuple):
    """An image to be stored, under which name, and the file of the folder that it stands in."""

    path: Path
    name: str
    file: str


def read_documents(
    folder: StudyFolder, problems: Problems, images: FetchedImages | None = None
) -> Iterator[StagedDocument]:
    """Every document of a folder, each id once.

    A corpus line without text and a file of the same id make one document: the line gives
    title and metadata, the file its text or image. Any other repetition is refused. An image
    that the line names by its address comes from `images`; without them it is missing.
    """
    if not folder.corpora:
        yield from _read_files(folder, problems)
        return
    files = {document.record.doc_id: document for document in _read_files(folder, problems)}
    several = len(folder.corpora) > 1
    seen: dict[str, str] = {}
    for path in folder.corpora:
        for record in read_corpus(path, problems):
            if several and seen.setdefault(record.doc_id, path.name) != path.name:
                reason = f"the document {record.doc_id} stands in {seen[record.doc_id]} too"
                problems.add(path.name, record.line, reason)
                continue
            own_file = files.pop(record.doc_id, None) if files else None
            if own_file is None:
                yield _find_image(StagedDocument(record, path.name), images, problems)
            elif not record.text:
                yield _joined(record, own_file, path.name)
            else:
                reason = f"the document {record.doc_id} has a text here and one in {own_file.file}"
                problems.add(path.name, record.line, reason)
    yield from files.values()


def _find_image(
    document: StagedDocument, images: FetchedImages | None, problems: Problems
) -> StagedDocument:
    record = document.record
    if images is None or not images.is_named_by(record) or record.url is None:
        return document
    if stored := images.known.get((record.doc_id, record.url)):
        return document._replace(stored=stored)
    try:
        return document._replace(image=images.get(record.url))
    except FetchRefused as refusal:
        reason = f"the image of {record.doc_id} at {record.url}: {refusal}"
        problems.add(document.file, record.line, reason)
        return document


def _joined(record: DocumentRecord, own_file: StagedDocument, file: str) -> StagedDocument:
    body = own_file.record
    joined = record._replace(text=body.text, format=body.format)
    return StagedDocument(joined, file, own_file.image)


def _read_files(folder: StudyFolder, problems: Problems) -> Iterator[StagedDocument]:
    """Documents that are files of their own; those of one id in both folders are refused."""
    texts: set[str] = set()
    if folder.documents_dir is not None:
        for record in read_document_folder(folder.documents_dir, problems=problems):
            texts.add(record.doc_id)
            yield StagedDocument(record, "documents")
    if folder.images_dir is None:
        return
    for record, path in read_image_folder(folder.images_dir, problems=problems):
        file = f"images/{path.name}"
        if fault := image_fault(path):
            problems.add(file, None, fault)
        elif record.doc_id in texts:
            problems.add(file, None, f"the document {record.doc_id} has a file in documents/ too")
        else:
            yield StagedDocument(record, file, path)


COLUMNS = {
    "external_id": EXTERNAL_ID,
    "title": "text",
    "format": "text",
    "effective_date": "date",
    "superseded_by": EXTERNAL_ID,
    "url": "text",
    "metadata": "jsonb",
    "text": "text",
    "image": "text",
    "file": "text",
    "line": "integer",
}

# A document that the pool brought in by its id alone: a corpus may still describe it.
BARE = """
    d.title = '' AND d.format = 'text' AND d.effective_date IS NULL AND d.superseded_by = ''
    AND d.url = '' AND d.metadata = '{}' AND t.document_id IS NULL
"""

FIND_CONFLICTS = f"""
SELECT s.file, s.line, s.external_id, concat_ws(', ',
    CASE WHEN s.title <> d.title THEN 'title' END,
    CASE WHEN s.format <> d.format THEN 'format' END,
    CASE WHEN s.effective_date IS DISTINCT FROM d.effective_date THEN 'effective_date' END,
    CASE WHEN s.superseded_by <> d.superseded_by THEN 'superseded_by' END,
    CASE WHEN s.url <> d.url THEN 'url' END,
    CASE WHEN s.metadata <> d.metadata THEN 'metadata' END,
    CASE WHEN coalesce(s.text, '') <> coalesce(t.text, coalesce(s.text, '')) THEN 'text' END,
    CASE WHEN s.image <> coalesce(t.image, s.image) THEN 'image' END
) AS differing
FROM staged_document s
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.external_id
LEFT JOIN studies_documenttext t ON t.document_id = d.id
WHERE NOT ({BARE}) AND (
    (s.title, s.format, s.superseded_by, s.url, s.metadata)
        <> (d.title, d.format, d.superseded_by, d.url, d.metadata)
    OR s.effective_date IS DISTINCT FROM d.effective_date
    OR t.document_id IS NOT NULL AND (coalesce(s.text, ''), s.image) <> (t.text, t.image)
)
ORDER BY s.file, s.line
"""  # noqa: S608 - put together from constants

DESCRIBE_BARE = f"""
UPDATE studies_document known SET title = s.title, format = s.format,
    effective_date = s.effective_date, superseded_by = s.superseded_by, url = s.url,
    metadata = s.metadata
FROM staged_document s
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.external_id
LEFT JOIN studies_documenttext t ON t.document_id = d.id
WHERE known.id = d.id AND {BARE} AND (
    s.title <> '' OR s.format <> 'text' OR s.effective_date IS NOT NULL
    OR s.superseded_by <> '' OR s.url <> '' OR s.metadata <> '{{}}'
)
RETURNING known.id
"""  # noqa: S608 - put together from constants

ADD_DOCUMENTS = """
INSERT INTO studies_document (study_id, external_id, title, format,
    effective_date, superseded_by, url, metadata)
SELECT %(study)s, external_id, title, format,
    effective_date, superseded_by, url, metadata
FROM staged_document s
WHERE NOT EXISTS (
    SELECT FROM studies_document d
    WHERE d.study_id = %(study)s AND d.external_id = s.external_id
)
RETURNING id
"""

ADD_TEXTS = """
INSERT INTO studies_documenttext (document_id, text, image)
SELECT d.id, coalesce(s.text, ''), s.image
FROM staged_document s
JOIN studies_document d ON d.study_id = %(study)s AND d.external_id = s.external_id
WHERE (s.text IS NOT NULL OR s.image <> '')
    AND NOT EXISTS (SELECT FROM studies_documenttext t WHERE t.document_id = d.id)
RETURNING document_id
"""


class SpooledDocuments:
    """The documents of a folder, read once: their rows, and the images that some of them are."""

    def __init__(self) -> None:
        self._spool = Spool()
        self._images: list[StoredImage] = []

    @property
    def count(self) -> int:
        """How many documents there are."""
        return self._spool.count

    def fill(self, documents: Iterable[StagedDocument]) -> None:
        """Take the documents in as they come; none is held in memory."""
        self._spool.fill(map(self._row, documents))

    def _row(self, document: StagedDocument) -> tuple[object, ...]:
        record, name = document.record, document.stored
        if document.image is not None:
            name = image_name(document.image)
            self._images.append(StoredImage(document.image, name, document.file))
        return (
            record.doc_id,
            record.title,
            record.format,
            record.effective_date,
            record.superseded_by or "",
            record.url or "",
            Jsonb(record.metadata) if record.metadata else "{}",
            record.text,
            name,
            document.file,
            record.line,
        )

    def stage(self, cursor: CursorWrapper, watch: Watch) -> None:
        """Copy the rows into the table `staged_document`."""
        chunks = watch.spool(self._spool, "documents")
        stage_chunks(cursor, "staged_document", COLUMNS, chunks, key="external_id")

    def store_images(self, report: ImportReport) -> None:
        """Store the images; one that is not what it was when it was read is refused."""
        for image in self._images:
            if store_image(image.path) != image.name:
                report.refuse(
                    "documents", image.file, None, "the file changed while the study was imported"
                )


def add_documents(
    cursor: CursorWrapper,
    *,
    study: Study,
    documents: SpooledDocuments,
    report: ImportReport,
    watch: Watch,
) -> None:
    """Add documents the study does not hold, and texts to those known by their id only.

    One that differs from the study's is a conflict, and none is added.
    """
    if not report.dry_run:
        documents.store_images(report)
    documents.stage(cursor, watch)
    values = {"study": study.pk}
    conflicts = fetch(cursor, FIND_CONFLICTS, values)
    for file, line, doc_id, differing in conflicts:
        reason = f"the document {doc_id} has another {differing} in the study"
        report.conflict("documents", file, line, reason)
    new = _write(cursor, values)
    report.count("documents", read=documents.count, new=new, odd=len(conflicts))


def _write(cursor: CursorWrapper, values: dict[str, int]) -> int:
    """Write what was staged; returns how many documents were added or completed."""
    touched: set[int] = set()
    for statement in (DESCRIBE_BARE, ADD_DOCUMENTS):
        touched.update(pk for (pk,) in fetch(cursor, statement, values))
    # Without it the texts are joined as if the table still had its rows of before the import.
    refresh_statistics(cursor, "studies_document")
    touched.update(pk for (pk,) in fetch(cursor, ADD_TEXTS, values))
    return len(touched)

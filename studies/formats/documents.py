"""Documents as JSON lines (BEIR's `corpus.jsonl`), CSV, TSV, and as folders of files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, get_args

from studies.formats.fields import id_cell, id_field, iso_date, string_field
from studies.formats.jsontext import json_line, json_objects
from studies.formats.links import LEAVES, leads_out
from studies.formats.problems import Problems, RecordError
from studies.formats.records import DOCUMENT_FORMATS, DocumentFormat, DocumentRecord
from studies.formats.tables import Row, csv_rows, read_header, rows_under, tsv_rows
from studies.formats.text import (
    FirstSeen,
    check_id,
    open_source,
    require_id,
    shown_name,
    whole_text,
)

ID_KEYS = ("doc_id", "_id")
_OWN_KEYS = frozenset({*ID_KEYS, "title", "text"})
KNOWN_METADATA = ("format", "effective_date", "superseded_by", "url")

TEXT_ENDINGS: dict[str, DocumentFormat] = {".txt": "text", ".md": "markdown", ".html": "html"}

_IMAGE_STARTS: dict[str, tuple[bytes, ...]] = {
    ".png": (b"\x89PNG\r\n\x1a\n",),
    ".jpg": (b"\xff\xd8\xff",),
    ".jpeg": (b"\xff\xd8\xff",),
    ".gif": (b"GIF87a", b"GIF89a"),
    ".webp": (b"RIFF",),
}
IMAGE_ENDINGS = tuple(_IMAGE_STARTS)


def _format(value: str | None) -> DocumentFormat:
    for name in DOCUMENT_FORMATS:
        if name == (value or "text"):
            return name
    raise RecordError(f'"format" is {value!r}, not one of {", ".join(get_args(DocumentFormat))}')


def _successor(value: str | None, doc_id: str) -> str | None:
    if not value:
        return None
    if value == doc_id:
        raise RecordError(f"the document {doc_id} is superseded by itself")
    return id_cell(value, '"superseded_by"')


def _document(
    doc_id: str, fields: Mapping[str, object], metadata: dict[str, object], line: int
) -> DocumentRecord:
    title, text = string_field(fields, "title") or "", string_field(fields, "text")
    if not metadata:
        return DocumentRecord(doc_id, title, text, "text", {}, None, None, None, line)
    effective = string_field(metadata, "effective_date")
    return DocumentRecord(
        doc_id=doc_id,
        title=title,
        text=text,
        format=_format(string_field(metadata, "format")),
        metadata={k: v for k, v in metadata.items() if k not in KNOWN_METADATA},
        effective_date=iso_date(effective, '"effective_date"') if effective else None,
        superseded_by=_successor(string_field(metadata, "superseded_by"), doc_id),
        url=string_field(metadata, "url") or None,
        line=line,
    )


def _document_from_json(item: Mapping[str, object], line: int) -> DocumentRecord:
    if "_id" in item:
        given = item["_id"]
        if "doc_id" in item and item["doc_id"] != given:
            raise RecordError('"_id" and "doc_id" differ')
    elif "doc_id" in item:
        given = item["doc_id"]
    else:
        raise RecordError('"_id" is missing')
    doc_id = id_field(given, "the document id")
    if item.keys() <= _OWN_KEYS:
        return _document(doc_id, item, {}, line)
    metadata = {k: v for k, v in item.items() if k not in _OWN_KEYS}
    nested = metadata.get("metadata")
    if isinstance(nested, dict):
        del metadata["metadata"]
        if both := sorted(metadata.keys() & nested.keys()):
            raise RecordError(f'"{both[0]}" stands in the document and in its metadata')
        metadata |= nested
    return _document(doc_id, item, metadata, line)


def _repeats(
    seen: FirstSeen, document: DocumentRecord, content: str, file: str, problems: Problems
) -> bool:
    return seen.repeats(
        document.doc_id,
        content,
        label=f"the document {document.doc_id}",
        file=file,
        line=document.line,
        problems=problems,
    )


def read_corpus_jsonl(
    stream: BinaryIO, *, file: str, problems: Problems
) -> Iterator[DocumentRecord]:
    """Documents of a JSON lines file: `_id` or `doc_id`, `title`, `text`.

    Other keys, and those of an object under `metadata`, become metadata.
    """
    seen = FirstSeen()
    for line, raw, item in json_objects(stream, file=file, problems=problems):
        try:
            document = _document_from_json(item, line)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        if not _repeats(seen, document, raw, file, problems):
            yield document


def _document_from_cells(cells: Mapping[str, str], id_key: str, line: int) -> DocumentRecord:
    metadata: dict[str, object] = {
        k: v for k, v in cells.items() if k and v and k not in (id_key, "title", "text")
    }
    fields = {"title": cells.get("title", ""), "text": cells.get("text") or None}
    return _document(id_cell(cells[id_key], "document id"), fields, metadata, line)


def _from_rows(rows: Iterator[Row], file: str, problems: Problems) -> Iterator[DocumentRecord]:
    first = next(rows, None)
    if first is None:
        problems.add(file, None, "the file is empty; its header is doc_id,title,text")
        return
    header = read_header(first, file=file, problems=problems)
    if header is None:
        return
    id_key = next((key for key in ID_KEYS if key in header.names), None)
    if id_key is None:
        problems.add(file, header.line, "the header lacks the column doc_id")
        return
    for name in header.names:
        if name and name not in (id_key, "title", "text", *KNOWN_METADATA):
            problems.note(file, header.line, f"the column {name} becomes metadata")
    seen = FirstSeen()
    for line, cells in rows_under(header, rows, file=file, problems=problems, short_rows=True):
        try:
            document = _document_from_cells(cells, id_key, line)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        if not _repeats(seen, document, repr(cells), file, problems):
            yield document


def read_corpus_csv(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[DocumentRecord]:
    """Documents of a CSV file with the header `doc_id,title,text,…`.

    An empty text is an unknown one: a table cannot tell them apart.
    """
    return _from_rows(csv_rows(stream, file=file, problems=problems), file, problems)


def read_corpus_tsv(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[DocumentRecord]:
    """Documents of a TSV file with the header `doc_id title text …`, as `read_corpus_csv`."""
    return _from_rows(tsv_rows(stream, file=file, problems=problems), file, problems)


_READERS: dict[str, Callable[..., Iterator[DocumentRecord]]] = {
    ".jsonl": read_corpus_jsonl,
    ".jsonl.gz": read_corpus_jsonl,
    ".csv": read_corpus_csv,
    ".tsv": read_corpus_tsv,
}


def read_corpus(path: Path, problems: Problems) -> Iterator[DocumentRecord]:
    """Documents of a file whose kind its name tells. Raises OSError when it cannot be opened."""
    ending = next((end for end in _READERS if path.name.endswith(end)), None)
    if ending is None:
        problems.add(path.name, None, f"the name must end in {', '.join(_READERS)}")
        return
    with open_source(path) as stream:
        yield from _READERS[ending](stream, file=path.name, problems=problems)


def _files_by_id(
    folder: Path, endings: Iterable[str], problems: Problems
) -> Iterator[tuple[str, str, Path]]:
    """Name in the study, document id and path of each file, by name; others are noted."""
    wanted = tuple(endings)
    taken: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        file = f"{folder.name}/{shown_name(path.name)}"
        doc_id, ending = path.stem, path.suffix.lower()
        if leads_out(path, folder.parent):
            problems.add(file, None, LEAVES)
        elif path.name.startswith(".") or ending not in wanted or not path.is_file():
            problems.note(file, None, f"passed over; documents here end in {' '.join(wanted)}")
        elif reason := check_id(doc_id):
            problems.add(file, None, reason)
        elif doc_id in taken:
            problems.add(file, None, f"{taken[doc_id]} has the same document id")
        else:
            taken[doc_id] = file
            yield file, doc_id, path


def _file_document(doc_id: str, text: str | None, kind: DocumentFormat) -> DocumentRecord:
    return DocumentRecord(doc_id, "", text, kind, {}, None, None, None, 1)


def read_document_folder(path: Path, *, problems: Problems) -> Iterator[DocumentRecord]:
    """Documents of a folder, one `.txt`, `.md` or `.html` file each, by file name.

    The id is the file's name without its ending. Raises OSError for an unreadable folder.
    """
    for file, doc_id, source in _files_by_id(path, TEXT_ENDINGS, problems):
        with source.open("rb") as stream:
            text = whole_text(stream, file=file, problems=problems)
        if text is not None:
            yield _file_document(doc_id, text, TEXT_ENDINGS[source.suffix.lower()])


def _is_image(path: Path) -> bool:
    with path.open("rb") as stream:
        start = stream.read(12)
    ending = path.suffix.lower()
    if ending == ".webp":
        return start.startswith(b"RIFF") and start[8:] == b"WEBP"
    return start.startswith(_IMAGE_STARTS[ending])


def read_image_folder(path: Path, *, problems: Problems) -> Iterator[tuple[DocumentRecord, Path]]:
    """Images of a folder with their documents; a file that is not what its ending says is
    refused. Raises OSError for an unreadable folder."""
    for file, doc_id, source in _files_by_id(path, IMAGE_ENDINGS, problems):
        if _is_image(source):
            yield _file_document(doc_id, None, "image"), source
        else:
            problems.add(file, None, f"the file is not a {source.suffix.lower()[1:]} image")


def _corpus_fields(document: DocumentRecord) -> dict[str, object]:
    fields: dict[str, object] = {
        "_id": require_id(document.doc_id, "document id"),
        "title": document.title,
        "text": document.text,
        "format": None if document.format == "text" else document.format,
        "effective_date": document.effective_date and document.effective_date.isoformat(),
        "superseded_by": document.superseded_by,
        "url": document.url,
        "metadata": document.metadata or None,
    }
    return {key: value for key, value in fields.items() if value is not None}


def write_corpus_jsonl(documents: Iterable[DocumentRecord]) -> Iterator[str]:
    """Lines of `corpus.jsonl`, which `read_corpus_jsonl` reads back equal.

    Raises ValueError for an id, a text or metadata that the file cannot carry.
    """
    for document in documents:
        if reserved := document.metadata.keys() & {*KNOWN_METADATA}:
            raise ValueError(f"the metadata of {document.doc_id} names {sorted(reserved)[0]}")
        yield json_line(_corpus_fields(document))

"""The folder BEIR's `GenericDataLoader` reads: `corpus.jsonl`, `queries.jsonl`, `qrels/test.tsv`.

Its loader reads the qrels with CSV quoting, skips their first line whatever it says, and
takes `_id`, `title` and `text` from the JSON lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from studies.formats.jsontext import json_line
from studies.formats.records import DocumentRecord, QueryRecord
from studies.formats.text import require_id

QRELS_HEADER = "query-id\tcorpus-id\tscore\n"


def _beir_id(value: str, what: str) -> str:
    if value.startswith('"'):
        raise ValueError(f"{what} {value!r}: BEIR cannot read an id that begins with a quote")
    return require_id(value, what)


def write_beir_corpus(documents: Iterable[DocumentRecord]) -> Iterator[str]:
    """Lines of `corpus.jsonl`; a text that is not known is written as "".

    Raises ValueError for an id that BEIR cannot read.
    """
    for document in documents:
        doc_id = _beir_id(document.doc_id, "document id")
        yield json_line({"_id": doc_id, "title": document.title, "text": document.text or ""})


def write_beir_queries(queries: Iterable[QueryRecord]) -> Iterator[str]:
    """Lines of `queries.jsonl`. Raises ValueError for an id that BEIR cannot read."""
    for query in queries:
        yield json_line({"_id": _beir_id(query.query_id, "query id"), "text": query.text})


def write_beir_qrels(rows: Iterable[tuple[str, str, int]]) -> Iterator[str]:
    """Lines of `qrels/test.tsv`, the header first, from (query id, document id, grade).

    Raises ValueError for an id that BEIR cannot read.
    """
    yield QRELS_HEADER
    for query_id, doc_id, grade in rows:
        query, document = _beir_id(query_id, "query id"), _beir_id(doc_id, "document id")
        yield f"{query}\t{document}\t{grade:d}\n"

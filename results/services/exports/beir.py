"""The consensus as the folder that BEIR's loader reads."""

from collections.abc import Iterator

from results.selectors.materials import stream_documents, stream_queries
from results.services.exports.kinds import Entry, ExportRequest, encode
from results.services.exports.manifest import Manifest
from results.services.exports.selection import exported_rows
from studies.formats.beir import write_beir_corpus, write_beir_qrels, write_beir_queries


def beir_entries(request: ExportRequest, manifest: Manifest) -> Iterator[Entry]:
    """Corpus, queries and the consensus as the split `test`."""
    corpus = write_beir_corpus(stream_documents(request.study))
    yield Entry("corpus.jsonl", encode(corpus))
    queries = write_beir_queries(stream_queries(request.study))
    yield Entry("queries.jsonl", encode(queries))
    qrels = write_beir_qrels(exported_rows(request, manifest))
    yield Entry("qrels/test.tsv", encode(qrels))

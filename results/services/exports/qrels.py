"""Grades as TREC qrels and as a table."""

from collections.abc import Iterator

from results.services.exports.kinds import ExportRequest
from results.services.exports.manifest import Manifest
from results.services.exports.selection import exported_rows
from studies.formats.qrels import write_qrels
from studies.formats.tables import write_csv

GROUND_TRUTH_HEADER = ("query_id", "doc_id", "relevance")


def qrels_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """Lines of qrels: the consensus, or one annotator's grades."""
    return write_qrels(exported_rows(request, manifest))


def ground_truth_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """The rows of the consensus qrels as CSV. Ids stay as they are, also before a spreadsheet."""
    rows = exported_rows(request, manifest)
    return write_csv(GROUND_TRUTH_HEADER, ((q, d, str(grade)) for q, d, grade in rows))

"""The queries of an export, counted into its manifest as they pass."""

from collections.abc import Iterator

from results.selectors.labels import stream_pair_labels
from results.services.exports.decisions import DecidedQuery, decide_queries
from results.services.exports.kinds import ExportRequest
from results.services.exports.manifest import Manifest

COMMON_COUNTS = ("queries", "queries_exported", "pairs", "pairs_exported", "judgments", "unsure")
CONSENSUS_COUNTS = ("unanimous", "majority", "single_vote", "final", "pairs_decided", "dropped")


def exported_queries(request: ExportRequest, manifest: Manifest) -> Iterator[DecidedQuery]:
    """The fully judged queries by id; those withheld go into the manifest with their reasons."""
    manifest.expect_counts(*COMMON_COUNTS, *(() if request.annotator else CONSENSUS_COUNTS))
    labels = stream_pair_labels(
        request.study, annotator=request.annotator, with_texts=request.with_texts
    )
    queries = decide_queries(
        labels,
        minimum_votes=request.study.minimum_votes,
        of_one_annotator=request.annotator is not None,
        policy=manifest.policy,
    )
    for query in queries:
        manifest.count_query(query)
        if not query.is_withheld:
            yield query


def exported_rows(request: ExportRequest, manifest: Manifest) -> Iterator[tuple[str, str, int]]:
    """Query id, document id and grade of every exported pair, in order of both ids."""
    for query in exported_queries(request, manifest):
        yield from query.rows()


def describe_queries(request: ExportRequest, manifest: Manifest) -> None:
    """Count without making anything."""
    for _ in exported_queries(request, manifest):
        pass

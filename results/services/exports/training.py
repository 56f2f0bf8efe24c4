"""Pairs to train retrieval models on."""

from collections.abc import Iterator

from results.selectors.labels import PairLabels
from results.services.exports.decisions import DecidedQuery
from results.services.exports.kinds import ExportRequest
from results.services.exports.manifest import POSITIVES_FROM, Manifest
from results.services.exports.selection import exported_queries
from studies.formats.jsontext import json_line


def training_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """One object for each exported query, or with texts one for each triplet."""
    if request.with_texts:
        return _triplet_lines(request, manifest)
    return (_query_line(query) for query in exported_queries(request, manifest))


def _split(query: DecidedQuery) -> tuple[list[PairLabels], list[PairLabels]]:
    """Positives (grade 1 or more) and hard negatives (grade 0), both in pool-rank order."""
    ranked = sorted(query.labelled(), key=lambda item: item[0].pool_rank)
    positives = [labels for labels, grade in ranked if grade >= POSITIVES_FROM]
    return positives, [labels for labels, grade in ranked if grade == 0]


def _query_line(query: DecidedQuery) -> str:
    positives, negatives = _split(query)
    return json_line(
        {
            "query_id": query.query_id,
            "positives": [pair.document_id for pair in positives],
            "hard_negatives": [pair.document_id for pair in negatives],
        }
    )


def _triplet_lines(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """Every positive with every hard negative of its query.

    sentence-transformers goes by the order of the columns and trains on all of them, so there
    is no id. A document without a text (known by its id only, or an image) is in no triplet.
    """
    manifest.expect_counts("triplets", "pairs_without_text")
    for query in exported_queries(request, manifest):
        positives, negatives = _split(query)
        good = _passages(positives, manifest)
        bad = _passages(negatives, manifest)
        manifest.counts["triplets"] += len(good) * len(bad)
        texts = query.pairs[0].labels.texts
        question = texts.query if texts else ""
        for positive in good:
            for negative in bad:
                yield json_line({"query": question, "positive": positive, "negative": negative})


def _passages(pairs: list[PairLabels], manifest: Manifest) -> list[str]:
    found = [passage for pair in pairs if (passage := _passage(pair))]
    manifest.counts["pairs_without_text"] += len(pairs) - len(found)
    return found


def _passage(pair: PairLabels) -> str:
    """Title and text with a blank between, as BEIR's models read a document."""
    if pair.texts is None or not pair.texts.text:
        return ""
    return f"{pair.texts.title} {pair.texts.text}".strip()

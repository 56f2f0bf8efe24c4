"""BEIR files as its loader reads them."""

import csv
import io
from collections.abc import Callable, Iterable
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.formats.beir import write_beir_corpus, write_beir_qrels, write_beir_queries
from studies.formats.records import (
    DocumentRecord,
    QueryRecord,
)

from .values import grades, ids, quick

beir_ids = ids.filter(lambda value: not value.startswith('"'))


@quick
@given(st.dictionaries(st.tuples(beir_ids, beir_ids), grades, max_size=4))
def test_beir_qrels_read_as_its_loader_reads_them(labels: dict[tuple[str, str], int]) -> None:
    # GenericDataLoader: csv with tabs and minimal quoting, first line skipped, integer scores.
    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in labels.items()]
    stream = io.StringIO("".join(write_beir_qrels(rows)), newline="")
    read = csv.reader(stream, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
    next(read)
    assert [(query, document, int(score)) for query, document, score in read] == rows


@pytest.mark.parametrize(
    "write",
    [
        lambda bad: write_beir_qrels([("q1", bad, 1)]),
        lambda bad: write_beir_queries([QueryRecord(bad, "t", None, "", {}, 1)]),
        lambda bad: write_beir_corpus(
            [DocumentRecord(bad, "", "t", "text", {}, None, None, None, 1)]
        ),
    ],
)
def test_beir_writers_refuse_an_id_that_begins_with_a_quote(
    write: Callable[[str], Iterable[str]],
) -> None:
    with pytest.raises(ValueError, match="begins with a quote"):
        list(write('"d1'))


def test_beir_corpus_holds_strings_where_texts_are_unknown() -> None:
    document = DocumentRecord("d1", "T", None, "text", {"a": 1}, date(2024, 1, 1), None, None, 1)
    assert list(write_beir_corpus([document])) == ['{"_id": "d1", "title": "T", "text": ""}\n']

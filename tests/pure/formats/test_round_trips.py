"""Queries, documents, pools and labels read back as they were written, for any ids and texts."""

import csv
import io
from collections.abc import Callable, Iterable
from datetime import datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.formats.beir import write_beir_qrels
from studies.formats.controls import read_controls, write_controls
from studies.formats.documents import KNOWN_METADATA, read_corpus_jsonl, write_corpus_jsonl
from studies.formats.judgments import (
    read_final_labels_csv,
    read_judgments_csv,
    write_final_labels_csv,
    write_judgments_csv,
)
from studies.formats.pools import read_pool_csv, write_pool_csv
from studies.formats.qrels import read_qrels, write_qrels
from studies.formats.queries import (
    read_queries_jsonl,
    read_queries_tsv,
    write_queries_jsonl,
)
from studies.formats.records import (
    DOCUMENT_FORMATS,
    ControlRecord,
    DocumentRecord,
    FinalLabelRecord,
    JudgmentRecord,
    PooledPair,
    QueryRecord,
    RunFile,
    RunHit,
    StudyFile,
)
from studies.formats.runs import read_run, write_run
from studies.formats.spreadsheets import neutralise, restore
from studies.formats.study import write_study_file

from .reading import good
from .values import (
    distinct,
    grades,
    ids,
    maybe_names,
    metadata,
    moments,
    names,
    pair_of,
    quick,
    solid_texts,
    texts,
    unlined,
)

queries = st.builds(
    QueryRecord,
    query_id=ids,
    text=solid_texts,
    query_class=maybe_names,
    context=texts,
    metadata=metadata("class", "context"),
    line=st.just(0),
)
documents = st.builds(
    DocumentRecord,
    doc_id=ids,
    title=texts,
    text=st.none() | texts,
    format=st.sampled_from(DOCUMENT_FORMATS),
    metadata=metadata(*KNOWN_METADATA),
    effective_date=st.none() | st.dates(),
    superseded_by=st.none() | ids,
    url=st.none() | solid_texts,
    line=st.just(0),
).filter(lambda document: document.superseded_by != document.doc_id)


@quick
@given(distinct(queries, lambda query: query.query_id))
def test_queries_jsonl_reads_back_equal(records: list[QueryRecord]) -> None:
    assert unlined(good(read_queries_jsonl, "".join(write_queries_jsonl(records)))) == records


@quick
@given(distinct(documents, lambda document: document.doc_id))
def test_corpus_jsonl_reads_back_equal(records: list[DocumentRecord]) -> None:
    assert unlined(good(read_corpus_jsonl, "".join(write_corpus_jsonl(records)))) == records


plain = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0\t\n\r"))
plain_queries = st.builds(
    QueryRecord,
    query_id=ids,
    text=st.builds(str.__add__, plain, st.just("x")),
    query_class=maybe_names,
    context=plain,
    metadata=st.just({}),
    line=st.just(0),
)


@quick
@given(distinct(plain_queries, lambda query: query.query_id).filter(bool))
def test_queries_tsv_reads_back_equal(records: list[QueryRecord]) -> None:
    assert unlined(good(read_queries_tsv, write_as_tsv(records))) == records


def write_as_tsv(queries: list[QueryRecord]) -> str:
    lines = [("query_id", "text", "class", "context")]
    lines += [(one.query_id, one.text, one.query_class or "", one.context) for one in queries]
    return "".join("\t".join(cells) + "\n" for cells in lines)


@quick
@given(st.dictionaries(st.tuples(ids, ids), grades, max_size=4))
def test_qrels_read_back_equal(labels: dict[tuple[str, str], int]) -> None:
    rows = [(query_id, doc_id, grade) for (query_id, doc_id), grade in labels.items()]
    records = good(read_qrels, "".join(write_qrels(rows)))
    assert [(r.query_id, r.doc_id, r.grade) for r in records] == rows


@pytest.mark.parametrize("writer", [write_qrels, write_beir_qrels])
@pytest.mark.parametrize("bad", ["my doc", "a\u00a0b", "a\tb", "", "\ufeffa"])
def test_qrels_writers_refuse_ids_that_readers_would_split(
    writer: Callable[..., Iterable[str]], bad: str
) -> None:
    with pytest.raises(ValueError, match="document id"):
        list(writer([("q1", bad, 1)]))


tags = st.builds(str.__add__, st.just("["), plain)
hits = st.builds(
    RunHit,
    query_id=ids,
    doc_id=ids,
    rank=st.integers(0, 10**6),
    score=st.floats(allow_nan=False, allow_infinity=False) | st.just(float("-inf")),
    line=st.just(0),
)


@quick
@given(distinct(hits, pair_of).filter(bool), tags)
def test_runs_read_back_equal(run_hits: list[RunHit], tag: str) -> None:
    run = good(read_run, "".join(write_run(RunFile("file", tag, run_hits))))
    assert RunFile(run.name, run.tag, unlined(run.hits)) == RunFile("file", tag, run_hits)


@pytest.mark.parametrize("tag", [" a", "a\nb", "a\r"])
def test_the_run_writer_refuses_a_tag_it_cannot_carry(tag: str) -> None:
    with pytest.raises(ValueError, match="tag"):
        list(write_run(RunFile("run", tag, [RunHit("q", "d", 1, 1.0, 1)])))


@quick
@given(distinct(st.builds(PooledPair, ids, ids, st.integers(1, 10**6)), pair_of))
def test_pool_csv_reads_back_equal(pairs: list[PooledPair]) -> None:
    assert good(read_pool_csv, "".join(write_pool_csv(pairs))) == pairs


control_grades = grades | names.filter(lambda name: not name.lstrip("+-").isdigit())
controls = st.builds(ControlRecord, ids, ids, control_grades, names, texts, st.just(0))


@quick
@given(distinct(controls, pair_of))
def test_controls_read_back_equal(records: list[ControlRecord]) -> None:
    assert unlined(good(read_controls, "".join(write_controls(records)))) == records


judgments = st.builds(
    JudgmentRecord,
    query_id=ids,
    doc_id=ids,
    annotator=maybe_names,
    relevance=st.just("") | st.just("unsure") | grades.map(str) | names,
    decided_by=maybe_names,
    clause=maybe_names,
    notes=texts,
    line=st.just(0),
    round=maybe_names,
    rubric_version=st.none() | st.integers(1, 99),
    source=st.sampled_from([None, "import", "browser"]),
    active_seconds=st.none() | st.floats(0, 1e6),
    judged_at=st.none() | moments,
    query_class=maybe_names,
)


@quick
@given(st.lists(judgments, max_size=3))
def test_judgments_csv_reads_back_equal(records: list[JudgmentRecord]) -> None:
    assert unlined(good(read_judgments_csv, "".join(write_judgments_csv(records)))) == records


final_labels = st.builds(
    FinalLabelRecord,
    query_id=ids,
    doc_id=ids,
    relevance=st.just("dropped") | grades.map(str) | names,
    decided_by=maybe_names,
    cause=maybe_names,
    reason=texts,
    rubric_version=st.none() | st.integers(1, 99),
    by=maybe_names,
    decided_at=st.none() | moments,
    line=st.just(0),
    clause=maybe_names,
    citation=maybe_names,
)


@quick
@given(distinct(final_labels, pair_of))
def test_final_labels_csv_reads_back_equal(records: list[FinalLabelRecord]) -> None:
    text = "".join(write_final_labels_csv(records))
    assert unlined(good(read_final_labels_csv, text)) == records


def test_a_moment_is_written_in_utc() -> None:
    at = datetime(2024, 5, 1, 12, tzinfo=timezone(timedelta(hours=8)))
    row = JudgmentRecord("q1", "d1", "ana", "1", None, None, "", 0, judged_at=at)
    assert "2024-05-01T04:00:00+00:00" in "".join(write_judgments_csv([row]))


@quick
@given(texts)
def test_restoring_a_neutralised_cell_gives_the_cell(cell: str) -> None:
    assert restore(neutralise(cell)) == cell
    assert not neutralise(cell).startswith(("=", "+", "-", "@", "\t", "\r"))


def test_formulas_are_neutralised_in_names_and_notes_but_never_in_ids_or_grades() -> None:
    row = JudgmentRecord("=q", "-d", "@ana", "-1", None, None, "=HYPERLINK(1)", 0)
    written = list(csv.reader(io.StringIO("".join(write_judgments_csv([row])))))[1]
    assert written[:2] == ["=q", "-d"]
    assert (written[3], written[6], written[9]) == ("'@ana", "-1", "'=HYPERLINK(1)")


@pytest.mark.parametrize("text", ["\0", "\ud800"])
def test_writers_refuse_texts_that_no_reader_would_take(text: str) -> None:
    query = QueryRecord("q1", text, None, "", {}, 1)
    row = JudgmentRecord("q1", "d1", None, "1", None, None, text, 0)
    study = StudyFile("s", text)
    for write in (
        lambda: list(write_queries_jsonl([query])),
        lambda: list(write_judgments_csv([row])),
        lambda: write_study_file(study),
    ):
        with pytest.raises(ValueError, match="cannot be stored"):
            write()

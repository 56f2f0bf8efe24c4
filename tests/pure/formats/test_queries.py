"""Queries: headers, classes, contexts, metadata and repeats."""

import gzip
from pathlib import Path

import pytest

from studies.formats.problems import Problems
from studies.formats.queries import (
    read_queries,
    read_queries_csv,
    read_queries_json,
    read_queries_jsonl,
    read_queries_tsv,
)
from studies.formats.records import QueryRecord

from .reading import good, notes, read


def test_without_a_header_columns_count_by_position() -> None:
    assert good(read_queries_tsv, "q1\tone\nq2\ttwo\tfactual\twhy\n") == [
        QueryRecord("q1", "one", None, "", {}, 1),
        QueryRecord("q2", "two", "factual", "why", {}, 2),
    ]


@pytest.mark.parametrize("first", ["query_id", "qid", "id", "_id"])
@pytest.mark.parametrize("class_column", ["class", "query_class", "expected_type", "expected_tipe"])
@pytest.mark.parametrize(
    "context_column", ["context", "information_need", "narrative", "description"]
)
def test_a_header_names_the_columns(first: str, class_column: str, context_column: str) -> None:
    content = f"{first}\t{context_column}\t{class_column}\tquery\nq1\twhy\tfactual\tone\n"
    assert good(read_queries_tsv, content) == [QueryRecord("q1", "one", "factual", "why", {}, 2)]


def test_other_columns_become_metadata_and_are_noted() -> None:
    records, problems = read(read_queries_csv, "qid,text,source,narrative,context\nq1,a,log,n,c\n")
    assert records[0].context == "c"
    assert records[0].metadata == {"source": "log", "narrative": "n"}
    assert notes(problems) == [
        "file:1: the column source becomes metadata",
        "file:1: the column narrative becomes metadata",
    ]


def test_tsv_knows_no_quoting() -> None:
    assert good(read_queries_tsv, 'q1\t"half a quote\n')[0].text == '"half a quote'


def test_a_csv_cell_may_hold_line_breaks_and_the_next_row_keeps_its_line() -> None:
    records = good(read_queries_csv, 'q1,"one\r\n""two"", three"\r\nq2,x\r\n')
    assert [(r.text, r.line) for r in records] == [('one\r\n"two", three', 1), ("x", 3)]


def test_text_is_kept_as_it_is() -> None:
    assert good(read_queries_tsv, "q1\t a  b \n")[0].text == " a  b "


def test_the_same_line_twice_is_noted_and_read_once() -> None:
    records, problems = read(read_queries_tsv, "q1\tone\nq1\tone\n")
    assert len(records) == 1
    assert notes(problems) == ["file:2: the query q1 is the same as in line 1"]


def test_ids_that_differ_in_case_or_normal_form_stay_apart() -> None:
    records = good(read_queries_tsv, "Nike\ta\nnike\tb\ne\u0301\tc\n\u00e9\td\n")
    assert [r.query_id for r in records] == ["Nike", "nike", "e\u0301", "\u00e9"]


def test_jsonl_takes_class_and_context_from_metadata() -> None:
    line = '{"_id": "q1", "text": "t", "metadata": {"class": "policy", "context": "c", "x": [1]}}'
    assert good(read_queries_jsonl, line) == [QueryRecord("q1", "t", "policy", "c", {"x": [1]}, 1)]


def test_json_queries_carry_their_line_and_other_keys_are_noted() -> None:
    content = (
        '{"version": {"queries": 1},\n"queries": [\n {"id": "q1", "query": "a", "tags": ["x"]},\n'
        ' {"id": "q2",\n  "query": "b", "expected_type": "factual"}\n]}\n'
    )
    records, problems = read(read_queries_json, content)
    assert records == [
        QueryRecord("q1", "a", None, "", {"tags": ["x"]}, 3),
        QueryRecord("q2", "b", "factual", "", {}, 4),
    ]
    assert notes(problems) == ['file:1: the key "version" is passed over']


def test_json_may_be_a_list() -> None:
    content = '\ufeff[{"id": "q1", "query": "a"}, {"id": "q2", "text": "b"}]'
    assert [r.query_id for r in good(read_queries_json, content)] == ["q1", "q2"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("queries.tsv", b"q1\ta\n"),
        ("queries.csv", b"q1,a\n"),
        ("queries.json", b'[{"id": "q1", "query": "a"}]'),
        ("queries.jsonl", b'{"_id": "q1", "text": "a"}\n'),
        ("queries.jsonl.gz", gzip.compress(b'{"_id": "q1", "text": "a"}\n', mtime=0)),
    ],
)
def test_the_name_tells_the_kind_of_file(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    problems = Problems()
    assert [r.text for r in read_queries(tmp_path / name, problems)] == ["a"]
    assert not problems


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    problems = Problems()
    assert list(read_queries(tmp_path / "queries.xlsx", problems)) == []
    assert str(problems.items[0]).startswith("queries.xlsx: the name must end in .tsv, .csv")

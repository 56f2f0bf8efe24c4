"""Qrels, judgments, controls, final labels and pools: what is read beyond the round trip."""

from datetime import UTC, datetime

import pytest

from studies.formats.controls import read_controls, write_controls
from studies.formats.judgments import read_judgments_csv
from studies.formats.pools import read_pool_csv, read_pool_json
from studies.formats.qrels import read_qrels, write_qrels
from studies.formats.records import ControlRecord, JudgmentRecord, PooledPair
from studies.formats.text import MAX_LINE_BYTES

from .reading import good, notes, read

HEAD = "query_id,doc_id,relevance"


@pytest.mark.parametrize(
    "line",
    ["q1 0 d1 2", "q1\t0\td1\t2", " q1   Q0  d1  +2 ", "q1 ana d1 2\r\n", "\ufeffq1 0 d1 2\n\n"],
)
def test_qrels_read_in_every_usual_form(line: str) -> None:
    (record,) = good(read_qrels, line)
    assert (record.query_id, record.doc_id, record.grade) == ("q1", "d1", 2)


def test_qrels_of_several_annotators_repeat_pairs_when_the_iteration_names_them() -> None:
    content = "q1 ana d1 2\nq1 ben d1 0\n"
    _, problems = read(read_qrels, content)
    assert problems.count == 1
    by_name = good(lambda s, **k: read_qrels(s, by_iteration=True, **k), content)
    assert [(r.iteration, r.grade) for r in by_name] == [("ana", 2), ("ben", 0)]


def test_qrels_are_written_with_single_spaces_and_lf() -> None:
    assert "".join(write_qrels([("q1", "d1", 2), ("q2", "d1", -1)])) == "q1 0 d1 2\nq2 0 d1 -1\n"


def test_judgments_need_three_columns_only() -> None:
    assert good(read_judgments_csv, f"{HEAD}\r\nq1,d1, 2 \r\n") == [
        JudgmentRecord("q1", "d1", None, "2", None, None, "", 2)
    ]


def test_blank_relevance_is_a_missing_label() -> None:
    records = good(read_judgments_csv, f"{HEAD}\nq1,d1,\nq1,d2,  \nq1,d3,unsure\n")
    assert [record.relevance for record in records] == ["", "", "unsure"]


def test_columns_may_stand_in_any_order_and_unknown_ones_are_noted() -> None:
    records, problems = read(
        read_judgments_csv, "relevance,mood,doc_id,query_id,annotator\n1,good,d1,q1,ana\n"
    )
    assert (records[0].doc_id, records[0].annotator) == ("d1", "ana")
    assert notes(problems) == ["file:1: the column mood is passed over"]


def test_notes_keep_their_quotes_commas_and_line_breaks() -> None:
    records = good(read_judgments_csv, f'{HEAD},notes\nq1,d1,1,"a ""b"",\nc"\nq1,d2,0,\n')
    assert [(record.notes, record.line) for record in records] == [('a "b",\nc', 2), ("", 4)]


def test_moments_are_read_with_their_offset() -> None:
    (record,) = good(read_judgments_csv, f"{HEAD},judged_at\nq1,d1,1,2024-05-01T12:00:00Z\n")
    assert record.judged_at == datetime(2024, 5, 1, 12, tzinfo=UTC)


def test_controls_take_a_grade_by_value_or_by_name() -> None:
    content = "query_id,doc_id,grade,decided_by,purpose\nq1,d1,2,recency,trap\nq1,d2,partial,fit,\n"
    assert good(read_controls, content) == [
        ControlRecord("q1", "d1", 2, "recency", "trap", 2),
        ControlRecord("q1", "d2", "partial", "fit", "", 3),
    ]


def test_controls_are_written_without_formulas_and_with_their_grades_as_numbers() -> None:
    records = [
        ControlRecord("=q", "d1", -1, "fit", "=1+1", 0),
        ControlRecord("=q", "d2", "=best", "fit", "", 0),
    ]
    lines = list(write_controls(records))
    assert lines[1:] == ["=q,d1,-1,fit,'=1+1\r\n", "=q,d2,'=best,fit,\r\n"]


def test_a_json_pool_ranks_by_the_order_of_its_lists() -> None:
    assert good(read_pool_json, '{"q2": ["b", "a"], "q1": [], "q3": ["a"]}') == [
        PooledPair("q2", "b", 1),
        PooledPair("q2", "a", 2),
        PooledPair("q3", "a", 1),
    ]


def test_a_document_twice_in_a_json_pool_keeps_its_first_place() -> None:
    pairs, problems = read(read_pool_json, '{"q1": ["a",\n"b",\n"a",\n"c"]}')
    assert [(p.doc_id, p.pool_rank) for p in pairs] == [("a", 1), ("b", 2), ("c", 3)]
    assert notes(problems) == ["file:3: query q1 has the document a already in line 1"]


def test_a_json_pool_may_be_one_long_line() -> None:
    content = '{"q1": [' + ", ".join(f'"{number:0500d}"' for number in range(40_000)) + "]}"
    assert len(content) > MAX_LINE_BYTES
    assert len(good(read_pool_json, content)) == 40_000


def test_a_csv_pool_without_ranks_counts_within_each_query() -> None:
    pairs = good(read_pool_csv, "query_id,doc_id\nq1,a\nq2,a\nq1,b\n")
    assert [p.pool_rank for p in pairs] == [1, 1, 2]

# ruff: noqa: E501 - one input and its refusal a line
"""Malformed inputs, each refused with its file, line and reason."""

from collections.abc import Callable
from typing import Any

import pytest

from studies.formats.controls import read_controls
from studies.formats.documents import read_corpus_csv, read_corpus_jsonl, read_corpus_tsv
from studies.formats.judgments import read_final_labels_csv, read_judgments_csv
from studies.formats.pools import read_pool_csv, read_pool_json
from studies.formats.qrels import read_qrels
from studies.formats.queries import (
    read_queries_csv,
    read_queries_json,
    read_queries_jsonl,
    read_queries_tsv,
)
from studies.formats.rubrics import read_rubric
from studies.formats.runs import read_run
from studies.formats.study import read_study_file

from .reading import read, reasons

OK_DOC = '{"_id": "d0", "text": "t"}\n'
JUDGED = "query_id,doc_id,relevance,active_seconds,judged_at\n"
GRADES = "grades:\n  - {value: 0, name: no}\n"
DIMENSION = "dimensions:\n  fit:\n    test: Does it fit?\n"

REFUSED: list[tuple[Callable[..., Any], str, str]] = [
    # queries
    (read_queries_tsv, "q1\tone\nq2\n", "f:2: 1 cells; a query has query_id text class context"),
    (read_queries_tsv, "q1\ta\tb\tc\td\n", "f:1: 5 cells; a query has query_id text class context"),
    (read_queries_tsv, "q1\tone\nq 2\ttwo\n", "f:2: query id: the id holds white space (U+0020 SPACE)"),
    (read_queries_tsv, "q1\t \n", "f:1: the query q1 has no text"),
    (read_queries_tsv, "query_id\tclass\nq1\ta\n", "f:1: the header lacks the column text"),
    (read_queries_tsv, "qid\ttext\ttext\nq1\ta\tb\n", "f:1: the header names text twice"),
    (read_queries_tsv, "qid\ttext\nq1\ta\tb\n", "f:2: 3 cells under a header of 2"),
    (read_queries_tsv, "q1\tone\nq1\ttwo\n", "f:2: the query q1 stands already in line 1, otherwise"),
    (read_queries_tsv, "", "f: the file holds no query"),
    (read_queries_csv, 'q1,"one\nq2,two\n', "f:1: a quoted cell that begins here is never closed"),
    (read_queries_csv, 'q1,"one"x\n', "f:1: text follows a closing quote; quotes inside a cell are doubled"),
    (read_queries_csv, "q1,o\rne\n", "f:1: a carriage return stands inside an unquoted cell"),
    (read_queries_jsonl, '{"_id": 7, "text": "t"}', 'f:1: "_id" must be a string, not a number'),
    (read_queries_jsonl, '{"text": "t"}', 'f:1: "_id" is missing'),
    (read_queries_jsonl, '{"_id": "q", "text": 3}', 'f:1: "text" must be a string, not a number'),
    (read_queries_jsonl, '\n{"_id": "q", "text": "t"', "f:2: not JSON: Expecting ',' delimiter (column 25)"),
    (read_queries_jsonl, '{"_id": "q", "text": "\\ud800"}', "f:1: the text holds U+D800, which cannot be stored"),
    (read_queries_jsonl, '{"_id": "q", "text": "\\u0000"}', "f:1: the text holds U+0000, which cannot be stored"),
    (read_queries_jsonl, '{"_id": "q", "_id": "r", "text": "t"}', 'f:1: the key "_id" stands twice'),
    (read_queries_jsonl, '{"_id": "q", "text": "t", "x": NaN}', "f:1: NaN is not a JSON number"),
    (read_queries_jsonl, '{"_id": "q", "text": "t", "x": 1e999}', "f:1: the number 1e999 is too large"),
    (read_queries_jsonl, '{"_id": "q", "text": "t", "x": ' + "[" * 90_000, "f:1: not JSON that can be read: it is nested too deeply"),
    (read_queries_jsonl, '["q"]', "f:1: each line must be a JSON object, not a list"),
    (read_queries_json, '{"queries": [\n{"id": "q1", "query": "a"},\n{"id": 2, "query": "b"}]}', 'f:3: "id" must be a string, not a number'),
    (read_queries_json, '{"queries": [\n"q1"]}', "f:2: a query must be an object, not a string"),
    (read_queries_json, '{"items": []}', 'f: the file needs one list under the key "queries"'),
    (read_queries_json, '[{"id": "q1", "query": "a"}] x', "f:1: something follows the end of the JSON value"),
    (read_queries_json, '[{"id": "q1", "query": "a"}\n{"id": "q2"}]', "f:2: not JSON: Expecting ',' (column 1)"),
    # documents
    (read_corpus_jsonl, OK_DOC + '{"id": "d1"}', 'f:2: "_id" is missing'),
    (read_corpus_jsonl, OK_DOC + '{"_id": 1}', "f:2: the document id must be a string, not a number"),
    (read_corpus_jsonl, OK_DOC + '{"_id": "a", "doc_id": "b"}', 'f:2: "_id" and "doc_id" differ'),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "text": ["t"]}', 'f:2: "text" must be a string, not a list'),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "title": 4}', 'f:2: "title" must be a string, not a number'),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "effective_date": "1.2.2024"}', "f:2: \"effective_date\" '1.2.2024' is not a date written YYYY-MM-DD"),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "effective_date": "2024-02-30"}', "f:2: \"effective_date\" '2024-02-30' is not a date written YYYY-MM-DD"),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "format": "pdf"}', "f:2: \"format\" is 'pdf', not one of text, markdown, html, image"),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d1", "superseded_by": "d1"}', "f:2: the document d1 is superseded by itself"),
    (read_corpus_jsonl, OK_DOC + '{"_id": "d0", "text": "u"}', "f:2: the document d0 stands already in line 1, otherwise"),
    (read_corpus_csv, "title,text\na,b\n", "f:1: the header lacks the column doc_id"),
    (read_corpus_csv, "doc_id,title,text\n,a,b\n", "f:2: document id: the id is empty"),
    (read_corpus_tsv, "doc_id\ttitle\nd1\ta\tb\n", "f:2: 3 cells under a header of 2"),
    # runs
    (read_run, "q1 Q0 d1 1 9.5\n", "f:1: 5 fields instead of 6 (query Q0 document rank score tag)"),
    (read_run, "query_id Q0 doc_id rank score tag\n", "f:1: the rank 'rank' is not an integer"),
    (read_run, "q1 Q0 d1 1 9,5 tag\n", "f:1: the score '9,5' is not a number"),
    (read_run, "q1 Q0 d1 1 nan tag\n", "f:1: the score 'nan' is not a finite number in plain digits"),
    (read_run, "q1 Q0 d1 1 inf tag\n", "f:1: the score 'inf' is not a finite number in plain digits"),
    (read_run, "q1 Q0 d1 1 -1e999 tag\n", "f:1: the score '-1e999' is not a finite number in plain digits"),
    (read_run, "q1 Q0 d1 1 1_0 tag\n", "f:1: the score '1_0' is not a finite number in plain digits"),
    (read_run, "q1 Q0 d1 1.0 9.5 tag\n", "f:1: the rank '1.0' is not an integer"),
    (read_run, "q1 Q0 d1 9999999999 9.5 tag\n", "f:1: the rank 9999999999 is outside of -2147483647 to 2147483647"),
    (read_run, "q1 Q0 d\x011 1 9.5 tag\n", "f:1: document id: the id holds a control character (U+0001)"),
    (read_run, "", "f: the run holds no line"),
    # pools
    (read_pool_json, '{"q1": ["d1"],\n "q1": ["d2"]}', "f:2: the query q1 stands already in line 1"),
    (read_pool_json, '{"q1": "d1"}', "f:1: the query q1 needs a list, not a string"),
    (read_pool_json, '{"q1": ["d1",\n 2]}', "f:2: query q1: document id must be a string, not a number"),
    (read_pool_json, '{"q 1": ["d1"]}', "f:1: query id: the id holds white space (U+0020 SPACE)"),
    (read_pool_json, '["q1"]', "f:1: the file must hold one object, {query_id: [doc_id, …]}"),
    (read_pool_json, '{"q1": ["d1",]}', "f:1: not JSON: Expecting value (column 14)"),
    (read_pool_csv, "query_id,rank\nq1,1\n", "f:1: the header lacks the column doc_id"),
    (read_pool_csv, "query_id,doc_id,rank\nq1,d1,0\n", "f:2: the rank 0 is outside of 1 to 2147483647"),
    (read_pool_csv, "query_id,doc_id,rank\nq1,d1,1\nq1,d1,2\n", "f:3: the pair q1 d1 stands already in line 2 with the rank 1"),
    # qrels
    (read_qrels, "q1 0 d1\n", "f:1: 3 fields instead of 4 (query 0 document grade)"),
    (read_qrels, "# comment line here\n", "f:1: the grade 'here' is not an integer"),
    (read_qrels, "q1 0 d1 1\nq1\t0\tmy doc\t1\n", "f:2: 5 fields instead of 4 (query 0 document grade) (white space inside an id?)"),
    (read_qrels, "q1 0 d1 0.5\n", "f:1: the grade '0.5' is not an integer"),
    (read_qrels, "q1 0 d1 ٣\n", "f:1: the grade '٣' is not an integer"),
    (read_qrels, "q1 0 d1 40000\n", "f:1: the grade 40000 is outside of -32767 to 32767"),
    (read_qrels, "q1 0 d1 1\nq2 0 d1 1\nq1 0 d1 2\n", "f:3: the pair q1 d1 stands already in line 1 with the grade 1, here with 2"),
    # judgments, controls, final labels
    (read_judgments_csv, "query_id,doc_id,label\nq1,d1,1\n", "f:1: the header lacks the column relevance"),
    (read_judgments_csv, "", "f: the file is empty; its header is query_id,doc_id,relevance"),
    (read_judgments_csv, JUDGED + "q1,d1\n", "f:2: 2 cells under a header of 5"),
    (read_judgments_csv, JUDGED + "q1,d1,1,-4,\n", "f:2: active_seconds '-4' is not a number of seconds"),
    (read_judgments_csv, JUDGED + "q1,d1,1,,2024-01-01T10:00:00\n", "f:2: judged_at '2024-01-01T10:00:00' lacks its offset from UTC (end it in Z or +00:00)"),
    (read_judgments_csv, JUDGED + "q1,d1,1,,9999-12-31T23:00:00-05:00\n", "f:2: judged_at '9999-12-31T23:00:00-05:00' is in UTC before the year 1 or after the year 9999"),
    (read_judgments_csv, JUDGED + "q1,d1,1,,0001-01-01T01:00:00+05:00\n", "f:2: judged_at '0001-01-01T01:00:00+05:00' is in UTC before the year 1 or after the year 9999"),
    (read_judgments_csv, JUDGED + "q1,d1,1,,yesterday\n", "f:2: judged_at 'yesterday' is not a time in ISO 8601"),
    (read_judgments_csv, JUDGED + 'q1,"d\n1",1,,\n', "f:2: document id: the id holds white space (U+000A)"),
    (read_controls, "query_id,doc_id,grade,decided_by\nq1,d1,1,\n", "f:2: decided_by is blank; it names the dimension that decides the pair"),
    (read_controls, "query_id,doc_id,grade,decided_by\nq1,d1, ,fit\n", "f:2: the grade is blank"),
    (read_controls, "query_id,doc_id,grade,decided_by\nq1,d1,1,fit\nq1,d1,2,fit\n", "f:3: the pair q1 d1 stands already in line 2, otherwise"),
    (read_final_labels_csv, "query_id,doc_id,relevance,decided_by,cause,reason,rubric_version,by,decided_at\nq1,d1,,,,,,,\n", "f:2: the relevance is blank; a final label is a grade or `dropped`"),
    # rubrics
    (read_rubric, "grades: [\n", "f:2: not YAML that can be read: did not find expected node content"),
    (read_rubric, "a: &x [1]\nb: *x\n", "f:2: not YAML that can be read: aliases (*name) are refused"),
    (read_rubric, GRADES + "  - {value: 0, name: yes}\n", "f:3: the grade 0 stands twice"),
    (read_rubric, GRADES + "  - {value: 1, name: no}\n", "f:3: the grade name no stands twice"),
    (read_rubric, GRADES + "  - {value: 1.5, name: half}\n", "f:3: a grade: value is 1.5, not an integer from -32767 to 32767"),
    (read_rubric, GRADES + "  - {value: 1, name: unsure}\n", "f:3: a grade cannot be called unsure, which has a meaning of its own"),
    (read_rubric, GRADES + "  - {value: 1, name: '2'}\n", "f:3: the grade 1 is called 2, another number"),
    (read_rubric, GRADES + "  - {value: 1, name: yes, colour: red}\n", "f:3: a grade: the key colour is unknown (known: value, name, definition, relevant, examples)"),
    (read_rubric, GRADES, "f:2: a rubric needs two grades or more"),
    (read_rubric, "grades:\n- {value: 0, name: a, relevant: true}\n- {value: 1, name: b, relevant: false}\n", "f:2: grade 0 is relevant but the higher 1 is not"),
    (read_rubric, DIMENSION + "    test: Again?\n", "f:4: the dimension fit: the key test stands already in line 3"),
    (read_rubric, DIMENSION + "    clause: x\n", "f:4: the dimension fit: the key clause is unknown (known: test, clauses)"),
    (read_rubric, DIMENSION + "    a_clause: x\n    clauses:\n      a: {text: y}\n", "f:6: the dimension fit: the clause a stands twice"),
    (read_rubric, DIMENSION + "levels: []\n", "f:4: the rubric: the key levels is unknown (known: note, grades, dimensions, edge_cases)"),
    (read_rubric, "dimensions:\n  fit: {test: ''}\n", "f:2: the dimension fit: test is missing"),
    (read_rubric, "edge_cases: !!python/object:os.system {}\n", "f:1: the rubric: edge_cases must be a list"),
    (read_rubric, "note: only\n", "f:1: the rubric has neither grades nor dimensions"),
    # study
    (read_study_file, "title: No slug\n", "f:1: the study: study is missing"),
    (read_study_file, "study: new\n", "f:1: study is 'new', which is an address of the site: choose another"),
    (read_study_file, "study: My Study\n", "f:1: study is 'My Study'; it takes up to 60 lower-case letters and digits, with single - or _ between them"),
    (read_study_file, "study: a\ndepht: 5\n", "f:2: the study: the key depht is unknown (known: study, title, description, annotators_per_query, minimum_votes, ordering, depth, documents, consensus, settle_own_pairs, judges_read_results, target, classes, people, rounds)"),
    (read_study_file, "study: a\ndepth: 0\n", "f:2: the study: depth is 0, not an integer from 1 to 1000"),
    (read_study_file, "study: a\nordering: random\n", "f:2: the study: ordering is 'random', not one of by_query, mixed"),
    (read_study_file, "study: a\ntarget: {at_least: 1.5}\n", "f:2: the target: at_least is 1.5, not 0 to 1 by hundredths"),
    (read_study_file, "study: a\ntarget: {weights: cubic, at_least: 0.7}\n", "f:2: the target: weights is 'cubic', not one of nominal, linear, quadratic"),
    (read_study_file, "study: a\ntarget: {weights: linear}\n", "f:2: the target: at_least is missing"),
    (read_study_file, "study: a\nstudy: b\n", "f:2: the study: the key study stands already in line 1"),
    (read_study_file, "study: a\npeople:\n- {name: ana, roles: [boss]}\n", "f:3: the role 'boss' is not one of annotator, adjudicator, admin, lead"),
    (read_study_file, "study: a\npeople:\n- {name: ana}\n", "f:3: the person ana has no role"),
    (read_study_file, "study: a\nclasses:\n- {name: x}\n- {name: x}\n", "f:4: classes: the name x stands twice"),
    (read_study_file, "study: a\nconsensus: mean\n", "f:2: the study: consensus is 'mean', not one of plurality, unanimous"),
    (read_study_file, "study: a\nrounds:\n- {name: r, kind: final}\n", "f:3: a round: kind is 'final', not one of calibration, main, relabel, recheck"),
    (read_study_file, "study: a\nrounds:\n- {name: r, queries: [q 1]}\n", "f:3: a round: queries: the id holds white space (U+0020 SPACE)"),
    (read_study_file, "study: a\nrounds:\n- {name: r, opens_at: soon}\n", "f:3: a round: opens_at is soon, not a date and time such as 2026-05-04T09:00+02:00"),
    (read_study_file, "study: a\nrounds:\n- {name: r, annotators_per_query: some}\n", "f:3: a round: annotators_per_query is some, not an integer from 1 to 1000"),
    (read_study_file, "- study\n", "f:1: the study must be a mapping of keys to values"),
    (read_study_file, "", "f: the file is empty"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("reader", "content", "reason"),
    REFUSED,
    ids=[f"{reader.__name__}-{number}" for number, (reader, _, _) in enumerate(REFUSED)],
)
def test_malformed_input_is_refused_with_file_line_and_reason(
    reader: Callable[..., Any], content: str, reason: str
) -> None:
    _, problems = read(reader, content, file="f")
    assert reason in reasons(problems)


def test_every_malformed_line_is_listed_and_the_good_ones_are_read() -> None:
    records, problems = read(read_qrels, "q1 0 d1 1\nq1 0 d2\nq1 0 d3 x\nq1 0 d4 2\n")
    assert [record.doc_id for record in records] == ["d1", "d4"]
    assert [problem.line for problem in problems.items] == [2, 3]

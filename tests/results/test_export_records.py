"""The judgments as CSV, the action log, and the report."""

import csv
import io
import json
from datetime import UTC, datetime

import pytest

from results.services.exports import stream_export
from studies.formats.judgments import read_judgments_csv
from studies.formats.problems import Problems
from studies.services.log import record_action
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import UNSURE, describe_json, export_bytes, export_lines, judge

HEADER = (
    "query_id,doc_id,class,annotator,round,rubric_version,relevance,decided_by,clause,notes,"
    "source,active_seconds,judged_at"
)


def read_rows(cast: Cast) -> list[dict[str, str]]:
    text = export_bytes(cast.study, "judgments").decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


def test_a_judgment_is_a_row_that_says_all_of_it(cast: Cast):
    moment = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
    make.make_judgment(
        cast.main,
        cast.pairs[0],
        cast.ana,
        2,
        clause="procedural",
        note='says "how", not what',
        active_seconds=4.5,
        judged_at=moment,
    )
    assert export_lines(cast.study, "judgments") == [
        HEADER,
        "q1,q1-d1,procedural,ana,main,1,2,answerability,procedural,"
        '"says ""how"", not what",app,4.5,2026-03-01T12:30:00+00:00',
    ]


def test_rows_go_by_query_document_annotator_and_round(cast: Cast):
    apart = make.make_round(cast.study, "again", kind="relabel", position=1)
    judge(apart, cast.pairs[:1], cast.ana, [1])
    judge(cast.main, cast.pairs[:2][::-1], cast.ben, [0, 1])
    judge(cast.main, cast.pairs[:1], cast.ana, [UNSURE])
    rows = read_rows(cast)
    assert [(r["doc_id"], r["annotator"], r["round"], r["relevance"]) for r in rows] == [
        ("q1-d1", "ana", "main", "unsure"),
        ("q1-d1", "ana", "again", "1"),
        ("q1-d1", "ben", "main", "1"),
        ("q1-d2", "ben", "main", "0"),
    ]
    assert describe_json(cast.study, "judgments")["counts"] == {"judgments": 4, "unsure": 1}


def test_free_text_cannot_run_as_a_formula_and_reads_back_as_it_was(cast: Cast):
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, note='=HYPERLINK("x")')
    (row,) = read_rows(cast)
    assert row["notes"] == '\'=HYPERLINK("x")'
    problems = Problems()
    content = io.BytesIO(export_bytes(cast.study, "judgments"))
    (record,) = read_judgments_csv(content, file="judgments.csv", problems=problems)
    assert record.notes == '=HYPERLINK("x")'
    assert not problems


def test_a_negative_grade_stays_a_number(cast: Cast):
    version = make.make_rubric(cast.study, grades={-1: "spam", 0: "no", 1: "yes"})
    judge(cast.main, cast.pairs[:1], cast.ana, [-1], rubric_version=version)
    assert read_rows(cast)[0]["relevance"] == "-1"


def test_the_counts_told_before_are_those_of_the_rows(cast: Cast):
    judge(cast.main, cast.pairs[:3], cast.ana, [1, UNSURE, 0])
    stream = stream_export(cast.study, "judgments")
    assert len(b"".join(stream).splitlines()) == 4
    told = describe_json(cast.study, "judgments")
    assert told["counts"] == dict(stream.manifest.counts) == {"judgments": 3, "unsure": 1}
    assert told["rubric_versions"] == sorted(stream.manifest.rubric_versions) == [1]


@pytest.mark.parametrize("kind", ["action-log", "consensus-qrels", "study"])
def test_an_export_without_labels_names_the_versions_that_the_rounds_are_under(
    cast: Cast, kind: str
):
    make.make_rubric(cast.study)
    make.make_round(cast.study, "later", position=1)
    make.make_rubric(cast.study)
    assert describe_json(cast.study, kind)["rubric_versions"] == [1, 2]
    stream = stream_export(cast.study, kind)
    list(stream)
    assert stream.manifest.as_json()["rubric_versions"] == [1, 2]


def test_the_action_log_holds_every_action_in_order(cast: Cast):
    record_action(
        cast.study,
        "judgment.recorded",
        user=cast.ana.user,
        member=cast.ana,
        data={"grade": 1},
        active_seconds=3.5,
        away_seconds=60.0,
    )
    record_action(cast.study, "round.closed")
    record_action(cast.other_study, "round.closed")
    first, second = [json.loads(line) for line in export_lines(cast.study, "action-log")]
    assert datetime.fromisoformat(first.pop("at")).utcoffset().total_seconds() == 0
    assert first == {
        "name": "judgment.recorded",
        "member": "ana",
        "user": "ana",
        "active_seconds": 3.5,
        "away_seconds": 60.0,
        "data": {"grade": 1},
    }
    assert second["name"] == "round.closed"
    # The first export is in the log by now.
    assert describe_json(cast.study, "action-log")["counts"] == {"actions": 3}

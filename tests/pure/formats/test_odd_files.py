"""The project's own odd files: one oddity each, read or refused as the design says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from studies.formats.qrels import read_qrels
from studies.formats.runs import rank_hits, read_run

from .reading import notes, read, reasons

BASE_QRELS = [("q1", "d1", 2), ("q1", "d2", 0), ("q2", "d3", 1)]
ReadOdd = Callable[[str], tuple[Any, Any]]


@pytest.fixture
def read_odd(shared_data: Path) -> ReadOdd:
    def read_file(name: str) -> tuple[Any, Any]:
        reader = read_run if name.endswith(".run") else read_qrels
        path = shared_data / "odd-files" / name
        return read(reader, path.read_bytes(), file=path.name)

    return read_file


@pytest.mark.parametrize("name", ["base", "tabs", "crlf", "same-pair-twice-same-grade"])
def test_qrels_that_differ_in_form_only_read_the_same(read_odd: ReadOdd, name: str) -> None:
    records, problems = read_odd(f"qrels/{name}.qrels")
    assert [(r.query_id, r.doc_id, r.grade) for r in records] == BASE_QRELS
    assert not problems


def test_a_repeated_pair_with_the_same_grade_is_noted(read_odd: ReadOdd) -> None:
    _, problems = read_odd("qrels/same-pair-twice-same-grade.qrels")
    assert notes(problems) == [
        "same-pair-twice-same-grade.qrels:2: the pair q1 d1 stands already in line 1"
    ]


def test_unicode_ids_are_kept_byte_for_byte(read_odd: ReadOdd) -> None:
    records, problems = read_odd("qrels/unicode-ids.qrels")
    assert not problems
    assert [(r.query_id, r.doc_id) for r in records] == [
        ("frage-ü", "文档1"),
        ("frage-ü", "<dbpedia:Mangú>"),
        ("q2", "d3"),
    ]


@pytest.mark.parametrize(
    ("name", "refused"),
    [
        ("header-row", [":1: a header row; qrels have none"]),
        (
            "doc-id-with-a-space",
            [":1: 5 fields instead of 4 (query 0 document grade) (white space inside an id?)"],
        ),
        ("grade-as-2-0", [
            ":1: the grade '2.0' is not an integer",
            ":2: the grade '0.0' is not an integer",
            ":3: the grade '1.0' is not an integer",
        ]),
    ],
)  # fmt: skip
def test_malformed_qrels_are_refused_by_line(
    read_odd: ReadOdd, name: str, refused: list[str]
) -> None:
    _, problems = read_odd(f"qrels/{name}.qrels")
    assert reasons(problems) == [f"{name}.qrels{reason}" for reason in refused]


@pytest.mark.parametrize(
    ("name", "tag"),
    [("base", "tag"), ("tabs", "tag"), ("tag-with-a-space-real-acordar-fsdm-d", "FSDM [d]")],
)
def test_runs_that_differ_in_form_only_read_the_same(
    read_odd: ReadOdd, name: str, tag: str
) -> None:
    run, problems = read_odd(f"runs/{name}.run")
    assert not problems
    assert (run.name, run.tag) == (name, tag)
    assert [(h.query_id, h.doc_id, h.rank, h.score) for h in run.hits] == [
        ("q1", "d1", 1, 9.5),
        ("q1", "d2", 2, 8.5),
        ("q2", "d3", 1, 7.0),
    ]


def test_the_score_wins_over_a_rank_that_contradicts_it(read_odd: ReadOdd) -> None:
    run, problems = read_odd("runs/rank-contradicts-score.run")
    assert [hit.doc_id for hit in rank_hits(run)["q1"]] == ["d1", "d2"]
    assert notes(problems) == [
        "rank-contradicts-score.run:1: the rank contradicts the score; the scores are followed"
    ]

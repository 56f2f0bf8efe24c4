"""Runs: fields, order, repeats; and the pool that several runs give."""

import math

import pytest

from studies.formats.records import PooledPair, RunFile, RunHit
from studies.formats.runs import pool_runs, rank_hits, read_run, run_name

from .reading import good, notes, read


def run(name: str, *documents: str, query_id: str = "q1") -> RunFile:
    return RunFile(
        name, name, [RunHit(query_id, d, i, 100.0 - i, i) for i, d in enumerate(documents, 1)]
    )


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("runs/BM25F.txt", "BM25F"),
        ("FSDM [d].txt", "FSDM [d]"),
        ("a.run.gz", "a"),
        ("v1.2.run", "v1.2"),
        ("plain", "plain"),
    ],
)
def test_a_run_is_named_by_its_file_without_the_ending(file: str, name: str) -> None:
    assert run_name(file) == name


def test_the_tag_is_the_rest_of_the_line_blanks_and_all() -> None:
    assert good(read_run, "q1  Q0\td1   1 9.5\tmy  tag [d] \r\n").tag == "my  tag [d] "


@pytest.mark.parametrize(
    ("written", "score"),
    [("1e-3", 0.001), ("-19.93", -19.93), ("7", 7.0), (".5", 0.5), ("-inf", -math.inf)],
)
def test_scores_may_be_any_finite_number_or_minus_infinity(written: str, score: float) -> None:
    assert good(read_run, f"q1 Q0 d1 1 {written} t\n").hits[0].score == score


def test_hits_rank_by_score_then_rank_then_document_id_descending() -> None:
    lines = ["a 3 1.0", "b 2 1.0", "c 9 2.0", "d 2 1.0", "é 2 1.0", "B 2 1.0"]
    content = "".join(f"q1 Q0 {d} {r} {s} t\n" for d, r, s in map(str.split, lines))
    ranked = rank_hits(good(read_run, content))
    assert [hit.doc_id for hit in ranked["q1"]] == ["c", "é", "d", "b", "B", "a"]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_of_a_document_that_stands_twice_the_better_position_is_kept(
    order: tuple[int, int],
) -> None:
    lines = ["q1 Q0 d1 1 9.0 t\n", "q1 Q0 d1 2 5.0 t\n"]
    result, problems = read(read_run, "".join(lines[i] for i in order))
    assert [hit.score for hit in result.hits] == [9.0]
    assert not problems
    assert notes(problems) == [
        "file:2: the document d1 stands for the query q1 already in line 1; the better "
        f"position, line {order.index(0) + 1}, is kept"
    ]


def test_a_second_tag_is_noted_and_the_first_kept() -> None:
    result, problems = read(read_run, "q1 Q0 d1 1 2 a\nq1 Q0 d2 2 1 b\n")
    assert result.tag == "a"
    assert notes(problems) == ["file:2: another tag, 'b'; 'a' is kept"]


def test_ranks_that_contradict_scores_are_noted_once_a_file() -> None:
    content = "".join(f"q{q} Q0 d{r} {r} {r} t\n" for q in (1, 2) for r in (1, 2, 3))
    _, problems = read(read_run, content)
    assert sum("contradicts" in note for note in notes(problems)) == 1


def test_ties_that_keep_their_ranks_contradict_nothing() -> None:
    _, problems = read(read_run, "q1 Q0 a 1 0 t\nq1 Q0 b 2 0 t\n")
    assert notes(problems) == []


def test_a_pool_takes_each_pair_once_at_its_best_position() -> None:
    pool = pool_runs([run("b", "x", "y", "z"), run("a", "y", "w", "x")], depth=2)
    # First places: y (run a) before x (run b); second places: w (run a); y is there already.
    assert pool == [PooledPair("q1", "y", 1), PooledPair("q1", "x", 2), PooledPair("q1", "w", 3)]


def test_the_pool_depends_neither_on_the_order_of_runs_nor_of_their_lines() -> None:
    a, b = run("a", "y", "w", "x"), run("b", "x", "y", "z")
    shuffled = RunFile("a", "a", a.hits[::-1])
    assert pool_runs([a, b], 3) == pool_runs([b, shuffled], 3)


def test_pool_ranks_count_within_each_query() -> None:
    pool = pool_runs([run("a", "x", "y"), run("b", "x", query_id="q2")], depth=5)
    assert [(p.query_id, p.pool_rank) for p in pool] == [("q1", 1), ("q1", 2), ("q2", 1)]


def test_a_depth_below_one_is_an_error() -> None:
    with pytest.raises(ValueError, match="pool depth"):
        pool_runs([run("a", "x")], depth=0)

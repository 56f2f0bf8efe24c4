"""Looking into exports: rows in the order of their ids pass, what tells of a rank does not."""

import pytest

from results.inspection import inspect_qrels, inspect_table

SCALE = frozenset({"-1", "0", "1", "2"})
QRELS = ["q1 0 a 2\n", "q1 0 b 0\n", "q2 0 a -1\n"]


def test_qrels_in_the_order_of_their_ids_are_free() -> None:
    assert inspect_qrels(QRELS, SCALE) == (3, [])


@pytest.mark.parametrize(
    ("lines", "finding"),
    [
        (["q1 0 b 2\n", "q1 0 a 1\n"], ("order", 2)),
        (["q1 0 a 2\n", "q1 0 a 2\n"], ("order", 2)),
        (["q2 0 a 2\n", "q1 0 b 1\n"], ("order", 2)),
        (["q1 1 a 2\n"], ("iteration", 1)),
        (["q1 0 a 7\n"], ("grade", 1)),
        (["q1 0 a 0.93\n"], ("grade", 1)),
        (["q1 0 a 2 bm25\n"], ("columns", 1)),
        (["q1 Q0 a 1 14.3 bm25\n"], ("columns", 1)),
        (["q1 0 a\n"], ("columns", 1)),
    ],
)
def test_what_tells_of_a_ranking_is_found_with_its_line(
    lines: list[str], finding: tuple[str, int]
) -> None:
    assert finding in inspect_qrels(lines, SCALE)[1]


@pytest.mark.parametrize(("kind", "sign"), [("ground-truth", ","), ("beir", "\t")])
def test_a_table_has_the_columns_of_its_format_and_no_other(kind: str, sign: str) -> None:
    names = {"ground-truth": ["query_id", "doc_id", "relevance"]}
    header = names.get(kind, ["query-id", "corpus-id", "score"])

    def inspect(*rows: list[str]) -> tuple[int, list[tuple[str, int]]]:
        return inspect_table(kind, [sign.join(row) + "\r\n" for row in rows], SCALE)

    assert inspect(header, ["q1", "a", "2"], ["q1", "b", "0"]) == (2, [])
    assert inspect([*header, "rank"], ["q1", "a", "2", "1"]) == (0, [("columns", 1)])
    assert inspect(header, ["q1", "b", "2"], ["q1", "a", "0"]) == (2, [("order", 3)])
    assert inspect() == (0, [("columns", 1)])


def test_only_the_first_findings_are_told() -> None:
    count, findings = inspect_qrels([f"q{n} 9 a 2\n" for n in range(9)], SCALE)
    assert (count, len(findings)) == (9, 5)

"""Looking into an export for what would tell of a ranking. Nothing here knows Django.

A file of labels is free of it when it has the columns of its format and no other, and when its
rows stand in the order of their ids: what a run returned first cannot be told from it then.
"""

import csv
from collections.abc import Iterable, Iterator

TABLES = {
    "ground-truth": (("query_id", "doc_id", "relevance"), ","),
    "beir": (("query-id", "corpus-id", "score"), "\t"),
}
FINDINGS_TOLD = 5

Finding = tuple[str, int]


def inspect_qrels(lines: Iterable[str], scale: frozenset[str]) -> tuple[int, list[Finding]]:
    """Look into TREC qrels. Returns the number of lines and the first findings, as
    `inspect_rows` gives them; `iteration` is a second column that is not 0. `scale` holds the
    grades as they are written."""

    def rows() -> Iterator[tuple[list[str], bool]]:
        for line in lines:
            query, _, rest = line.rstrip("\n").partition(" ")
            iteration, _, label = rest.partition(" ")
            yield [query, *label.split(" ")], iteration == "0"

    return inspect_rows(rows(), scale, first_line=1)


def inspect_table(
    kind: str, lines: Iterable[str], scale: frozenset[str]
) -> tuple[int, list[Finding]]:
    """Look into a table of `TABLES`; `columns` on line 1 is a header with other columns."""
    header, delimiter = TABLES[kind]
    rows = csv.reader(lines, delimiter=delimiter)
    if tuple(next(rows, ())) != header:
        return 0, [("columns", 1)]
    return inspect_rows(((row, True) for row in rows), scale, first_line=2)


def inspect_rows(
    rows: Iterable[tuple[list[str], bool]], scale: frozenset[str], *, first_line: int
) -> tuple[int, list[Finding]]:
    """Rows of query id, document id and grade, each with whether what stands beside is nothing.

    Findings, with their line: `columns` (more or fewer than three), `iteration` (something
    stands where only 0 does), `grade` (not on the scale: a score, say), `order` (not after the
    row before it by code points of the ids).
    """
    findings: list[Finding] = []
    count, before = 0, ("", "")
    for line, (row, is_plain) in enumerate(rows, start=first_line):
        count += 1
        for code in _find(row, is_plain, before, scale):
            if len(findings) < FINDINGS_TOLD:
                findings.append((code, line))
        before = (row[0], row[1]) if len(row) > 1 else before
    return count, findings


def _find(
    row: list[str], is_plain: bool, before: tuple[str, str], scale: frozenset[str]
) -> Iterator[str]:
    if len(row) != 3:
        yield "columns"
        return
    if not is_plain:
        yield "iteration"
    if row[2] not in scale:
        yield "grade"
    if (row[0], row[1]) <= before:
        yield "order"

"""Pools as JSON (lists in rank order) and as CSV."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from studies.formats.fields import id_cell, id_field, integer_cell, json_kind
from studies.formats.jsontext import JsonText, Located, whole_json
from studies.formats.problems import Problems, RecordError
from studies.formats.records import PooledPair
from studies.formats.tables import csv_rows, named_rows, write_csv
from studies.formats.text import require_id

HEADER = ("query_id", "doc_id", "rank")


def _read_outer(text: JsonText, position: int) -> tuple[object, int]:
    if text.text.startswith("{", position):
        return text.object(position, text.array)
    return text.value("", position)


def read_pool_json(stream: BinaryIO, *, file: str, problems: Problems) -> list[PooledPair]:
    """Read `{query_id: [doc_id, …]}`; the place in the list is the pool rank.

    A document that stands twice for a query keeps its first place and is noted.
    """
    queries = whole_json(stream, file=file, problems=problems, read=_read_outer)
    if queries is None:
        return []
    if not isinstance(queries, list) or not all(isinstance(q, Located) for q in queries):
        problems.add(file, 1, "the file must hold one object, {query_id: [doc_id, …]}")
        return []
    pairs: list[PooledPair] = []
    first: dict[str | None, int] = {}
    for query in queries:
        if query.key in first:
            reason = f"the query {query.key} stands already in line {first[query.key]}"
            problems.add(file, query.line, reason)
            continue
        first[query.key] = query.line
        pairs.extend(_pairs_of(query, file, problems))
    return pairs


def _pairs_of(query: Located, file: str, problems: Problems) -> Iterator[PooledPair]:
    try:
        query_id = id_cell(query.key or "", "query id")
        if not isinstance(query.value, list):
            raise RecordError(f"the query {query_id} needs a list, not {json_kind(query.value)}")
    except RecordError as error:
        problems.add(file, query.line, str(error))
        return
    lines: dict[str, int] = {}
    for item in query.value:
        try:
            doc_id = id_field(item.value, "document id")
        except RecordError as error:
            problems.add(file, item.line, f"query {query_id}: {error}")
            continue
        if doc_id in lines:
            text = f"query {query_id} has the document {doc_id} already in line {lines[doc_id]}"
            problems.note(file, item.line, text)
            continue
        lines[doc_id] = item.line
        yield PooledPair(query_id, doc_id, len(lines))


def read_pool_csv(stream: BinaryIO, *, file: str, problems: Problems) -> list[PooledPair]:
    """Read `query_id,doc_id[,rank]`; ranks are kept as given, from 1.

    Without ranks the order within the query counts. A repeated pair is noted when its rank
    is the same and refused otherwise.
    """
    rows = named_rows(
        csv_rows(stream, file=file, problems=problems),
        file=file,
        problems=problems,
        required=HEADER[:2],
        optional=HEADER[2:],
    )
    pairs: list[PooledPair] = []
    first: dict[tuple[str, str], tuple[int, int | None]] = {}
    sizes: Counter[str] = Counter()
    for line, cells in rows:
        try:
            key, rank = _pair_cells(cells)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        if key in first:
            _report_repeat(key, rank, first[key], file, line, problems)
            continue
        first[key] = (line, rank)
        sizes[key[0]] += 1
        pairs.append(PooledPair(*key, sizes[key[0]] if rank is None else rank))
    return pairs


def _pair_cells(cells: dict[str, str]) -> tuple[tuple[str, str], int | None]:
    query_id = id_cell(cells["query_id"], "query id")
    doc_id = id_cell(cells["doc_id"], "document id")
    rank = integer_cell(cells["rank"], "the rank", low=1) if "rank" in cells else None
    return (query_id, doc_id), rank


def _report_repeat(
    key: tuple[str, str],
    rank: int | None,
    first: tuple[int, int | None],
    file: str,
    line: int,
    problems: Problems,
) -> None:
    text = f"the pair {key[0]} {key[1]} stands already in line {first[0]}"
    if rank == first[1]:
        problems.note(file, line, text)
    else:
        problems.add(file, line, f"{text} with the rank {first[1]}")


def write_pool_csv(pairs: Iterable[PooledPair]) -> Iterator[str]:
    """Lines of `pool.csv`, pairs in the order given. Raises ValueError for a refused id."""
    return write_csv(
        HEADER,
        (
            (require_id(p.query_id, "query id"), require_id(p.doc_id, "document id"),
             str(p.pool_rank))
            for p in pairs
        ),
    )  # fmt: skip

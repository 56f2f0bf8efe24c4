"""Queries as TSV, CSV, JSON lines (BEIR's `queries.jsonl`) and JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from studies.formats.fields import id_cell, id_field, json_kind, name_cell, string_field
from studies.formats.jsontext import JsonText, Located, json_line, json_objects, whole_json
from studies.formats.problems import Problems, RecordError
from studies.formats.records import QueryRecord
from studies.formats.tables import Row, csv_rows, read_header, rows_under, tsv_rows
from studies.formats.text import FirstSeen, open_source, require_id

ID_KEYS = ("query_id", "qid", "id", "_id")
TEXT_KEYS = ("text", "query")
CLASS_KEYS = ("class", "query_class", "expected_type", "expected_tipe")
CONTEXT_KEYS = ("context", "information_need", "narrative", "description")
POSITIONS = ("query_id", "text", "class", "context")


def _first_key(keys: Iterable[str], fields: Mapping[str, object]) -> str:
    """The first of `keys` that `fields` has; the first of all when it has none."""
    names = list(keys)
    return next((key for key in names if key in fields), names[0])


def _query(
    query_id: str, fields: Mapping[str, object], metadata: Mapping[str, object], line: int
) -> QueryRecord:
    """A record out of its known fields; of several names for a thing the first one counts,
    and the others stay metadata."""
    text_key, class_key, context_key = (
        _first_key(keys, fields) for keys in (TEXT_KEYS, CLASS_KEYS, CONTEXT_KEYS)
    )
    text = string_field(fields, text_key) or ""
    if not text.strip():
        raise RecordError(f"the query {query_id} has no text")
    return QueryRecord(
        query_id=query_id,
        text=text,
        query_class=name_cell(string_field(fields, class_key) or "", "the class"),
        context=string_field(fields, context_key) or "",
        metadata={k: v for k, v in metadata.items() if k not in (class_key, context_key)},
        line=line,
    )


def _query_from_cells(cells: Mapping[str, str], line: int) -> QueryRecord:
    id_key, text_key = _first_key(ID_KEYS, cells), _first_key(TEXT_KEYS, cells)
    metadata = {k: v for k, v in cells.items() if k and v and k not in (id_key, text_key)}
    return _query(id_cell(cells[id_key], "query id"), cells, metadata, line)


def _query_from_json(item: Mapping[str, object], id_keys: Iterable[str], line: int) -> QueryRecord:
    id_key, text_key = _first_key(id_keys, item), _first_key(TEXT_KEYS, item)
    if id_key not in item:
        raise RecordError(f'"{id_key}" is missing')
    nested = item.get("metadata")
    own = {k: v for k, v in item.items() if k not in (id_key, text_key)}
    if isinstance(nested, dict):
        del own["metadata"]
        if both := sorted(own.keys() & nested.keys()):
            raise RecordError(f'"{both[0]}" stands in the query and in its metadata')
        own |= nested
    query_id = id_field(item[id_key], f'"{id_key}"')
    return _query(query_id, {**own, text_key: item.get(text_key)}, own, line)


def _note_columns(names: list[str], line: int, file: str, problems: Problems) -> None:
    known = {
        _first_key(keys, dict.fromkeys(names))
        for keys in (ID_KEYS, TEXT_KEYS, CLASS_KEYS, CONTEXT_KEYS)
    }
    for name in names:
        if name and name not in known:
            problems.note(file, line, f"the column {name} becomes metadata")


def _cells_by_name(
    rows: Iterator[Row], file: str, problems: Problems
) -> Iterator[tuple[int, dict[str, str]]]:
    first = next(rows, None)
    if first is None:
        problems.add(file, None, "the file holds no query")
        return
    if first[1][0].strip() not in ID_KEYS:
        for line, cells in chain([first], rows):
            if not 2 <= len(cells) <= len(POSITIONS):
                problems.add(file, line, f"{len(cells)} cells; a query has {' '.join(POSITIONS)}")
                continue
            yield line, dict(zip(POSITIONS, cells, strict=False))
        return
    header = read_header(first, file=file, problems=problems)
    if header is None:
        return
    if not any(key in header.names for key in TEXT_KEYS):
        problems.add(file, header.line, "the header lacks the column text")
        return
    _note_columns(header.names, header.line, file, problems)
    yield from rows_under(header, rows, file=file, problems=problems, short_rows=True)


def _from_rows(rows: Iterator[Row], file: str, problems: Problems) -> Iterator[QueryRecord]:
    seen = FirstSeen()
    for line, cells in _cells_by_name(rows, file, problems):
        try:
            query = _query_from_cells(cells, line)
        except RecordError as error:
            problems.add(file, line, str(error))
            continue
        if not _repeats(seen, query, tuple(cells.items()), file, problems):
            yield query


def _repeats(
    seen: FirstSeen, query: QueryRecord, content: object, file: str, problems: Problems
) -> bool:
    return seen.repeats(
        query.query_id,
        repr(content),
        label=f"the query {query.query_id}",
        file=file,
        line=query.line,
        problems=problems,
    )


def read_queries_tsv(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[QueryRecord]:
    """Queries of a TSV file, with or without a header (known by its first cell)."""
    rows = tsv_rows(stream, file=file, problems=problems)
    return _from_rows(rows, file, problems)


def read_queries_csv(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[QueryRecord]:
    """Queries of a CSV file, with or without a header (known by its first cell)."""
    rows = csv_rows(stream, file=file, problems=problems)
    return _from_rows(rows, file, problems)


def read_queries_jsonl(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[QueryRecord]:
    """Queries of a JSON lines file: `_id`, `text`, `metadata.class`, `metadata.context`.

    The class and context are also found beside `_id`; every other key becomes metadata.
    """
    objects = (
        Located(line, item) for line, _, item in json_objects(stream, file=file, problems=problems)
    )
    return _from_items(objects, ("_id", "query_id", "qid", "id"), file, problems)


def read_queries_json(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[QueryRecord]:
    """Queries of a JSON file: `{"queries": [{"id", "query", …}]}`, or a list of these.

    Other keys beside `queries` are noted; the file is held in memory.
    """
    value = whole_json(stream, file=file, problems=problems, read=_read_outer)
    if value is None:
        return
    items = _query_list(value, file, problems)
    yield from _from_items(items, ("id", "_id", "query_id", "qid"), file, problems)


def _read_outer(text: JsonText, position: int) -> tuple[object, int]:
    if not text.text.startswith("{", position):
        return text.array("", position)

    def read_member(key: str, start: int) -> tuple[object, int]:
        return text.array(key, start) if key == "queries" else text.value(key, start)

    return text.object(position, read_member)


def _listed(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _query_list(value: object, file: str, problems: Problems) -> list[Located]:
    """The located queries: `value` holds them, or holds the members of the outer object."""
    located = [item for item in _listed(value) if isinstance(item, Located)]
    if not located:
        problems.add(file, None, "the file holds no query")
        return []
    if all(item.key is None for item in located):
        return located
    lists = [item for item in located if item.key == "queries"]
    for item in located:
        if item.key != "queries":
            problems.note(file, item.line, f'the key "{item.key}" is passed over')
    if len(lists) != 1 or not isinstance(lists[0].value, list):
        problems.add(file, None, 'the file needs one list under the key "queries"')
        return []
    return _query_list(lists[0].value, file, problems)


def _from_items(
    items: Iterable[Located], id_keys: tuple[str, ...], file: str, problems: Problems
) -> Iterator[QueryRecord]:
    seen = FirstSeen()
    for item in items:
        try:
            if not isinstance(item.value, dict):
                raise RecordError(f"a query must be an object, not {json_kind(item.value)}")
            query = _query_from_json(item.value, id_keys, item.line)
        except RecordError as error:
            problems.add(file, item.line, str(error))
            continue
        if not _repeats(seen, query, item.value, file, problems):
            yield query


_READERS: dict[str, Callable[..., Iterator[QueryRecord]]] = {
    ".tsv": read_queries_tsv,
    ".csv": read_queries_csv,
    ".json": read_queries_json,
    ".jsonl": read_queries_jsonl,
    ".jsonl.gz": read_queries_jsonl,
}


def read_queries(path: Path, problems: Problems) -> Iterator[QueryRecord]:
    """Queries of a file whose kind its name tells. Raises OSError when it cannot be opened."""
    ending = next((end for end in _READERS if path.name.endswith(end)), None)
    if ending is None:
        problems.add(path.name, None, f"the name must end in {', '.join(_READERS)}")
        return
    with open_source(path) as stream:
        yield from _READERS[ending](stream, file=path.name, problems=problems)


def write_queries_jsonl(queries: Iterable[QueryRecord]) -> Iterator[str]:
    """Lines of `queries.jsonl`, which `read_queries_jsonl` reads back equal.

    Raises ValueError for an id, a text or metadata that the file cannot carry.
    """
    for query in queries:
        if reserved := query.metadata.keys() & {"class", "context"}:
            raise ValueError(f"the metadata of {query.query_id} names {sorted(reserved)[0]}")
        yield json_line(
            {
                "_id": require_id(query.query_id, "query id"),
                "text": query.text,
                "metadata": {
                    **query.metadata,
                    "class": query.query_class,
                    "context": query.context,
                },
            }
        )

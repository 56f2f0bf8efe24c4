"""Rows on their way in: COPY into a temporary table, then set by set into the study."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from os import urandom
from tempfile import TemporaryFile
from typing import Any
from weakref import finalize

from django.db import connection, transaction
from django.db.backends.utils import CursorWrapper
from psycopg import sql
from psycopg.copy import Copy, FileWriter

from studies.models import Study
from studies.services.imports.report import Progress, no_progress

REPORT_EVERY = 2000
IDS_AT_ONCE = 1024
CHUNK = 256 * 1024

EXTERNAL_ID = 'text COLLATE "C"'
"""The type of a staged external id: compared byte for byte, as the study's own are."""


COPY = sql.SQL("COPY {} FROM STDIN")
OF_NO_QUERY = """
SELECT {counted} FROM {table} s
WHERE NOT EXISTS (
    SELECT FROM studies_query q WHERE q.study_id = %(study)s AND q.external_id = s.query_id
)
"""
# The planner knows nothing of a table just filled, and would nest loops over it. How many rows it
# has decides that, not how their values are spread: a small sample does.
ANALYZE = sql.SQL("""
SET LOCAL default_statistics_target = 10;
ANALYZE {};
SET LOCAL default_statistics_target TO DEFAULT
""")


class Spool:
    """Rows set aside in a temporary file, in the form in which COPY takes them.

    What was read and checked once is staged from here without being read again. The file goes
    when the spool does.
    """

    def __init__(self) -> None:
        self._file = TemporaryFile()  # noqa: SIM115 - closed with the spool
        finalize(self, self._file.close)
        self.count = 0

    def fill(self, rows: Iterable[Sequence[object]]) -> None:
        """Add rows after those that are here already."""
        with connection.cursor() as cursor, Copy(cursor.cursor, writer=FileWriter(self._file)) as c:
            for row in rows:
                c.write_row(row)
                self.count += 1

    def chunks(self) -> Iterator[bytes]:
        """All of it, some hundred kilobytes at a time."""
        self._file.seek(0)
        while chunk := self._file.read(CHUNK):
            yield chunk


def stage(
    cursor: CursorWrapper,
    table: str,
    columns: Mapping[str, str],
    rows: Iterable[Sequence[object]],
) -> int:
    """Copy `rows` into a new temporary table with these columns (name -> type).

    Returns their number. The table lives until the transaction ends or the name is staged
    again.
    """
    name = _make_table(cursor, table, columns)
    count = 0
    with cursor.copy(COPY.format(name)) as copy:
        for row in rows:
            copy.write_row(row)
            count += 1
    cursor.execute(ANALYZE.format(name))
    return count


def stage_chunks(
    cursor: CursorWrapper,
    table: str,
    columns: Mapping[str, str],
    chunks: Iterable[bytes],
    *,
    key: str,
) -> None:
    """As `stage`, with the rows of a spool, which are joined by their `key` alone."""
    name = _make_table(cursor, table, columns)
    with cursor.copy(COPY.format(name)) as copy:
        for chunk in chunks:
            copy.write(chunk)
    # Statistics of whole texts take as long as those of everything else together.
    cursor.execute(ANALYZE.format(sql.SQL("{} ({})").format(name, sql.Identifier(key))))


def draw_public_ids() -> Iterator[str]:
    """Random ids for rows on their way in, without end.

    Drawn many at once: PostgreSQL built without OpenSSL, as the embedded one is, opens the system's
    source of randomness for each `gen_random_uuid()`.
    """
    while True:
        drawn = urandom(16 * IDS_AT_ONCE).hex()
        for start in range(0, len(drawn), 32):
            yield drawn[start : start + 32]


def _make_table(cursor: CursorWrapper, table: str, columns: Mapping[str, str]) -> sql.Identifier:
    name = sql.Identifier(table)
    cursor.execute(sql.SQL("DROP TABLE IF EXISTS pg_temp.{}").format(name))
    cursor.execute(
        sql.SQL("CREATE TEMPORARY TABLE {} ({}) ON COMMIT DROP").format(
            name,
            sql.SQL(", ").join(
                sql.SQL("{} {}").format(sql.Identifier(column), sql.SQL(kind))
                for column, kind in columns.items()
            ),
        )
    )
    return name


def materialise(cursor: CursorWrapper, table: str, query: str, values: Mapping[str, Any]) -> None:
    """Keep the rows of a query in a new temporary table, as `stage` does with rows at hand."""
    execute(cursor, f"DROP TABLE IF EXISTS pg_temp.{table}", {})
    execute(cursor, f"CREATE TEMPORARY TABLE {table} ON COMMIT DROP AS {query}", values)
    cursor.execute(ANALYZE.format(sql.Identifier(table)))


def count_of_no_query(
    cursor: CursorWrapper, table: str, study: Study, *, counted: str = "count(*)"
) -> int:
    """How much was staged of queries that the study lacks; they were refused before."""
    ((count,),) = fetch(
        cursor, OF_NO_QUERY.format(counted=counted, table=table), {"study": study.pk}
    )
    return int(count)


def refresh_statistics(cursor: CursorWrapper, *tables: str) -> None:
    """Let the planner know of the rows just added, which the rest of the import joins. A table may
    be followed by the columns in question, in brackets."""
    for table in tables:
        execute(cursor, f"ANALYZE {table}", {})


def fetch(cursor: CursorWrapper, query: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """All rows of a query."""
    cursor.execute(query, values)
    return list(cursor.fetchall())


def execute(cursor: CursorWrapper, statement: str, values: Mapping[str, Any]) -> int:
    """Run a statement; returns how many rows it wrote."""
    cursor.execute(statement, values)
    return int(cursor.rowcount)


def execute_by_query(
    cursor: CursorWrapper, statement: str, values: Mapping[str, Any]
) -> dict[int, int]:
    """Run a statement that writes rows and returns the `query_id` of each; returns how many it
    wrote of each query."""
    counted = f"WITH written AS ({statement}) SELECT query_id, count(*) FROM written GROUP BY 1"  # noqa: S608 - put together from constants
    return dict(fetch(cursor, counted, values))


class Watch:
    """Tells of rows as they go by."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._progress = progress or no_progress
        self._total = total
        self._done = 0

    def rows(self, rows: Iterable[Sequence[object]], message: str) -> Iterator[Sequence[object]]:
        """The same rows, reported now and then."""
        self._progress(self._done, self._total, message)
        for row in rows:
            yield row
            self._done += 1
            if self._done % REPORT_EVERY == 0:
                self._progress(min(self._done, self._total), self._total, message)

    def groups(
        self, groups: Iterable[tuple[int, Sequence[object]]], message: str
    ) -> Iterator[Sequence[object]]:
        """The rows, each of which stands for as many as comes with it."""
        reported = self._done
        self._progress(self._done, self._total, message)
        for size, row in groups:
            yield row
            self._done += size
            if self._done - reported >= REPORT_EVERY:
                reported = self._done
                self._progress(min(self._done, self._total), self._total, message)

    def spool(self, spool: Spool, message: str) -> Iterator[bytes]:
        """The chunks of a spool, its rows counted at the end."""
        self._progress(self._done, self._total, message)
        yield from spool.chunks()
        self._done += spool.count


class _Undo(Exception):
    """Ends a dry run."""


@contextmanager
def all_or_nothing(*, dry_run: bool) -> Iterator[CursorWrapper]:
    """One transaction, rolled back when the block raises, and at its end on a dry run."""
    try:
        with transaction.atomic():
            with connection.cursor() as cursor:
                yield cursor
            if dry_run:
                # What is checked at commit is checked in a dry run too.
                connection.check_constraints()
                raise _Undo
    except _Undo:
        pass

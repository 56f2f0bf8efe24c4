"""`log.jsonl`: the log of a study that moves, put before what is logged here."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from django.db.backends.utils import CursorWrapper
from psycopg.types.json import Jsonb

from studies.formats.fields import instant_cell, json_kind, string_field
from studies.formats.jsontext import json_objects
from studies.formats.problems import Problems, RecordError
from studies.formats.text import open_source
from studies.models import Study
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import execute, stage

LONGEST_NAME = 60

COLUMNS = {
    "line": "integer",
    "at": "timestamptz",
    "name": "text",
    "member": 'text COLLATE "C"',
    "username": "text",
    "data": "jsonb",
    "active_seconds": "double precision",
    "away_seconds": "double precision",
}

ADD_IDENTITIES = """
INSERT INTO studies_member (study_id, name, roles, is_machine, is_active, created_at)
SELECT DISTINCT %(study)s, s.member, '{}'::varchar[], s.member = ANY(%(machines)s), true, now()
FROM staged_action s WHERE s.member IS NOT NULL
ON CONFLICT (study_id, name) DO NOTHING
"""

ADD_ACTIONS = """
INSERT INTO studies_action (study_id, at, name, user_id, member_id, data, active_seconds,
    away_seconds)
SELECT %(study)s, s.at, s.name, u.id, m.id, s.data, s.active_seconds, s.away_seconds
FROM staged_action s
LEFT JOIN studies_member m ON m.study_id = %(study)s AND m.name = s.member
LEFT JOIN studies_user u ON u.username = s.username
ORDER BY s.line
"""


class LoggedAction(NamedTuple):
    """One line of the log; the fields are the columns of the staging table."""

    line: int
    at: datetime
    name: str
    member: str | None
    username: str | None
    data: dict[str, object]
    active_seconds: float | None
    away_seconds: float | None


def read_log(path: Path, problems: Problems) -> Iterator[LoggedAction]:
    """The actions of an exported log, in order; lines that are none are refused."""
    with open_source(path) as stream:
        for line, _, fields in json_objects(stream, file=path.name, problems=problems):
            try:
                yield _action(fields, line)
            except RecordError as error:
                problems.add(path.name, line, str(error))


def _action(fields: dict[str, object], line: int) -> LoggedAction:
    at = instant_cell(string_field(fields, "at") or "", '"at"')
    name = string_field(fields, "name") or ""
    data = fields.get("data") or {}
    if at is None:
        raise RecordError('"at" is missing')
    if not 1 <= len(name) <= LONGEST_NAME:
        raise RecordError(f'"name" needs 1 to {LONGEST_NAME} characters')
    if not isinstance(data, dict):
        raise RecordError(f'"data" must be an object, not {json_kind(data)}')
    return LoggedAction(
        line,
        at,
        name,
        string_field(fields, "member"),
        string_field(fields, "user"),
        data,
        _seconds(fields, "active_seconds"),
        _seconds(fields, "away_seconds"),
    )


def _seconds(fields: dict[str, object], key: str) -> float | None:
    value = fields.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        raise RecordError(f'"{key}" must be a number of seconds, not {value!r}')
    return float(value)


def restore_log(
    cursor: CursorWrapper,
    study: Study,
    path: Path,
    report: ImportReport,
    *,
    machines: list[str],
) -> None:
    """Append the actions of an exported log; members they name are created as identities."""
    problems = Problems()
    # Psycopg's wrapper.
    rows = (action._replace(data=Jsonb(action.data)) for action in read_log(path, problems))  # type: ignore[arg-type]
    read = stage(cursor, "staged_action", COLUMNS, rows)
    for problem in problems.items:
        report.refuse("actions", problem.file, problem.line, problem.reason)
    values = {"study": study.pk, "machines": machines}
    execute(cursor, ADD_IDENTITIES, values)
    report.count("actions", read=read, new=execute(cursor, ADD_ACTIONS, values))

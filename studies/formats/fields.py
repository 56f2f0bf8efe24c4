"""Single values: numbers, dates and strings out of cells and JSON, refused with a reason."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, date, datetime

from studies.formats.problems import RecordError
from studies.formats.spreadsheets import neutralise, restore
from studies.formats.text import check_id, check_name

MAX_GRADE = 32_767
MAX_INTEGER = 2**31 - 1

_INTEGER = re.compile(r"[+-]?[0-9]{1,18}")
_SECONDS = re.compile(r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")

_JSON_KINDS: dict[type, str] = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    list: "a list",
    dict: "an object",
    type(None): "null",
}


def json_kind(value: object) -> str:
    """What a JSON value is, in words."""
    return _JSON_KINDS.get(type(value), "a string")


def id_cell(value: str, what: str) -> str:
    """An id exactly as it stands. Raises RecordError."""
    if reason := check_id(value):
        raise RecordError(f"{what}: {reason}")
    return value


def id_field(value: object, what: str) -> str:
    """An id out of JSON, where it must be a string. Raises RecordError."""
    if not isinstance(value, str):
        raise RecordError(f"{what} must be a string, not {json_kind(value)}")
    return id_cell(value, what)


def string_field(fields: Mapping[str, object], key: str) -> str | None:
    """A string out of JSON; None where the key is absent or null. Raises RecordError."""
    value = fields.get(key)
    if value is None or isinstance(value, str):
        return value
    raise RecordError(f'"{key}" must be a string, not {json_kind(value)}')


def name_cell(value: str, what: str) -> str | None:
    """A name, or None where the cell is blank. Raises RecordError."""
    if not value.strip():
        return None
    if reason := check_name(value):
        raise RecordError(f"{what}: {reason}")
    return value


def integer_cell(value: str, what: str, *, low: int = -MAX_INTEGER, high: int = MAX_INTEGER) -> int:
    """A whole number in decimal digits. Raises RecordError."""
    if not _INTEGER.fullmatch(value):
        raise RecordError(f"{what} {value!r} is not an integer")
    number = int(value)
    if not low <= number <= high:
        raise RecordError(f"{what} {value} is outside of {low} to {high}")
    return number


def grade_cell(value: str) -> int:
    """A grade of qrels. Raises RecordError, also for `2.0`: no grade is rounded silently."""
    return integer_cell(value, "the grade", low=-MAX_GRADE, high=MAX_GRADE)


def score_cell(value: str) -> float:
    """A score of a run: any finite number, or `-inf`, as log probabilities have it.

    `nan` has no place in an order and `inf` is always an accident; both are refused, as is
    a number too large for a double. Raises RecordError.
    """
    try:
        score = float(value)
    except ValueError:
        raise RecordError(f"the score {value!r} is not a number") from None
    if math.isfinite(score) and value.isascii() and "_" not in value:
        return score
    if value.lower() == "-inf":
        return score
    raise RecordError(f"the score {value!r} is not a finite number in plain digits")


def seconds_cell(value: str, what: str) -> float | None:
    """Seconds, zero or more; None where blank. Raises RecordError."""
    if not value.strip():
        return None
    if not _SECONDS.fullmatch(value) or math.isinf(float(value)):
        raise RecordError(f"{what} {value!r} is not a number of seconds")
    return float(value)


def version_cell(value: str) -> int | None:
    """A rubric version, counted from 1; None where blank. Raises RecordError."""
    if not value.strip():
        return None
    return integer_cell(value, "the rubric version", low=1)


def iso_date(value: str, what: str) -> date:
    """A date written YYYY-MM-DD. Raises RecordError."""
    try:
        if _DATE.fullmatch(value):
            return date.fromisoformat(value)
    except ValueError:
        pass
    raise RecordError(f"{what} {value!r} is not a date written YYYY-MM-DD")


def instant_cell(value: str, what: str) -> datetime | None:
    """A moment in UTC, out of ISO 8601 with its offset from it; None where blank. Raises
    RecordError."""
    if not value.strip():
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise RecordError(f"{what} {value!r} is not a time in ISO 8601") from None
    if moment.tzinfo is None:
        raise RecordError(f"{what} {value!r} lacks its offset from UTC (end it in Z or +00:00)")
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        reason = f"{what} {value!r} is in UTC before the year 1 or after the year 9999"
        raise RecordError(reason) from None


def free_text(value: str) -> str:
    """Free text out of a cell that `safe_cell` wrote."""
    return restore(value)


def optional_name(cells: Mapping[str, str], column: str) -> str | None:
    """A name out of a cell that `safe_cell` wrote; None where absent or blank."""
    return name_cell(restore(cells.get(column, "")), column)


def safe_cell(value: str | None) -> str:
    """A name or free text as a cell that no spreadsheet runs; None becomes a blank cell."""
    return "" if value is None else neutralise(value)


def safe_label(value: str) -> str:
    """A grade or its name as a cell; a number stays a number, also below zero."""
    return value if _INTEGER.fullmatch(value) else neutralise(value)


def plain_cell(value: float | datetime | None) -> str:
    """A number, or a moment in UTC, as a cell that the readers take back exactly."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return (value if value.tzinfo is UTC else value.astimezone(UTC)).isoformat()
    return repr(value)

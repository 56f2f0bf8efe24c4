"""JSON as the study files use it: no repeated keys, no NaN, every refusal with its line."""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple

from studies.formats.fields import json_kind
from studies.formats.problems import Problems, RecordError
from studies.formats.text import check_text, content_lines, whole_text

MAX_JSON_BYTES = 256 * 1024**2
"""A JSON file that is not in lines is read whole, up to this size."""

_BLANKS = re.compile(r"[ \t\n\r]*")


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in keys if keys.count(key) > 1)
        raise RecordError(f'the key "{twice}" stands twice')
    return fields


def _constant(name: str) -> object:
    raise RecordError(f"{name} is not a JSON number")


def _finite(digits: str) -> float:
    number = float(digits)
    if math.isinf(number):
        raise RecordError(f"the number {digits} is too large")
    return number


_decoder = json.JSONDecoder(
    object_pairs_hook=_object, parse_constant=_constant, parse_float=_finite
)


def _check_strings(value: object) -> None:
    """Refuse strings that only an escape can bring in: NUL and lone surrogates."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, str) and (reason := check_text(item)):
            raise RecordError(reason)
        if isinstance(item, dict):
            pending.extend(item.keys())
            pending.extend(item.values())
        elif isinstance(item, list):
            pending.extend(item)


def _reason(error: Exception) -> str:
    if isinstance(error, json.JSONDecodeError):
        return f"not JSON: {error.msg} (column {error.colno})"
    if isinstance(error, RecursionError):
        return "not JSON that can be read: it is nested too deeply"
    if isinstance(error, RecordError):
        return str(error)
    # All that is left: Python reads no integer of more than some thousand digits.
    return "a number has more digits than can be read"


def json_objects(
    stream: BinaryIO, *, file: str, problems: Problems
) -> Iterator[tuple[int, str, dict[str, object]]]:
    """Line number, raw line and object of each line of a JSON lines file."""
    for line, text in content_lines(stream, file=file, problems=problems):
        try:
            value = _decoder.decode(text)
            if "\\u" in text:
                _check_strings(value)
        except (ValueError, RecursionError) as error:
            problems.add(file, line, _reason(error))
            continue
        if isinstance(value, dict):
            yield line, text, value
        else:
            problems.add(file, line, f"each line must be a JSON object, not {json_kind(value)}")


class Located(NamedTuple):
    """A JSON value, the line it begins in, and the key it stood under if in an object."""

    line: int
    value: object
    key: str | None = None


ReadValue = Callable[[str, int], tuple[object, int]]
"""Reads the value at a position that stands under a key; gives it and where it ends."""


class JsonText:
    """A whole JSON text whose outer levels are read with their lines.

    The standard library tells no positions, so the outer brackets are walked here and
    everything inside is left to its decoder.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._escapes = "\\u" in text
        self._breaks = [found.start() for found in re.finditer("\n", text)]

    def line(self, position: int) -> int:
        return bisect_right(self._breaks, position - 1) + 1

    def skip(self, position: int) -> int:
        found = _BLANKS.match(self.text, position)
        return found.end() if found else position

    def value(self, key: str, position: int) -> tuple[object, int]:
        """Any value, without the lines of its parts."""
        try:
            value, end = _decoder.raw_decode(self.text, position)
            if self._escapes:
                _check_strings(value)
        except json.JSONDecodeError:
            raise
        except (ValueError, RecursionError) as error:
            raise RecordError(_reason(error), self.line(position)) from None
        return value, end

    def array(self, key: str, position: int) -> tuple[object, int]:
        """A list as Located items; any other value as it is."""
        if not self.text.startswith("[", position):
            return self.value(key, position)
        items: list[Located] = []
        position = self.skip(position + 1)
        while not self.text.startswith("]", position):
            if items:
                position = self._expect(",", position)
            value, end = self.value("", position)
            items.append(Located(self.line(position), value))
            position = self.skip(end)
        return items, position + 1

    def object(self, position: int, read: ReadValue) -> tuple[list[Located], int]:
        """An object as Located members, repeated keys and all, in order."""
        members: list[Located] = []
        position = self.skip(position + 1)
        while not self.text.startswith("}", position):
            if members:
                position = self._expect(",", position)
            start = position
            key, end = self.value("", position)
            if not isinstance(key, str):
                raise json.JSONDecodeError("Expecting property name", self.text, start)
            value, end = read(key, self._expect(":", self.skip(end)))
            members.append(Located(self.line(start), value, key))
            position = self.skip(end)
        return members, position + 1

    def _expect(self, character: str, position: int) -> int:
        if not self.text.startswith(character, position):
            raise json.JSONDecodeError(f"Expecting '{character}'", self.text, position)
        return self.skip(position + 1)


def whole_json(
    stream: BinaryIO,
    *,
    file: str,
    problems: Problems,
    read: Callable[[JsonText, int], tuple[object, int]],
) -> object | None:
    """The outermost value of a JSON file as `read` gives it, None when it was refused.

    `read` gets the text and the position where that value begins, and gives it and its end.
    """
    text = whole_text(stream, file=file, problems=problems, max_bytes=MAX_JSON_BYTES)
    if text is None:
        return None
    document = JsonText(text)
    try:
        value, end = read(document, document.skip(0))
    except json.JSONDecodeError as error:
        problems.add(file, error.lineno, _reason(error))
        return None
    except RecordError as error:
        problems.add(file, error.line, str(error))
        return None
    rest = document.skip(end)
    if rest < len(text):
        problems.add(file, document.line(rest), "something follows the end of the JSON value")
        return None
    return value


def json_line(value: object) -> str:
    """One line of JSON, ending in LF. Raises ValueError for what JSON or UTF-8 cannot hold."""
    _check_strings(value)
    return json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n"

"""Bytes to lines: encodings, line ends, compression, and the characters an id may hold."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import unicodedata
import zlib
from collections.abc import Hashable, Iterator
from pathlib import Path
from typing import BinaryIO, cast

from studies.formats.problems import Problems, RecordError

MAX_LINE_BYTES = 16 * 1024**2
"""A longer line is refused: no reader holds more than one line in memory."""

MAX_DECOMPRESSED_BYTES = 8 * 1024**3
"""A compressed file that grows beyond this is refused."""

MAX_ID_LENGTH = 512
MAX_NAME_LENGTH = 150

_GZIP_START = b"\x1f\x8b"
_UTF_16_STARTS = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
_READ_ERRORS = (EOFError, zlib.error, gzip.BadGzipFile)

# A U+FEFF at the start of a file is taken for its byte order mark, so an id cannot hold one.
_NOT_IN_IDS = re.compile(r"[\s\x00-\x1f\x7f-\x9f\ufeff\ud800-\udfff]")
_NOT_IN_TEXTS = re.compile(r"[\x00\ud800-\udfff]")
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class TooLargeError(EOFError):
    """A compressed file holds more than it may."""


class _BoundedGzip(io.RawIOBase):
    """Decompressed bytes of a gzip file, up to a limit."""

    def __init__(self, path: Path, limit: int) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115 - closed by close()
        self._left = limit
        self._limit = limit

    def readable(self) -> bool:
        return True

    # The buffers that io hands over.
    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        data = self._file.read(len(buffer))
        self._left -= len(data)
        if self._left < 0:
            raise TooLargeError(f"it holds more than {self._limit:,} bytes when decompressed")
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def open_source(path: Path, *, max_bytes: int = MAX_DECOMPRESSED_BYTES) -> BinaryIO:
    """Open a file for the readers here, decompressing it when its name ends in `.gz`.

    A compressed file that is cut off, damaged or larger than `max_bytes` becomes a problem
    of the reader that reads it. Raises OSError when the file cannot be opened.
    """
    if path.name.endswith(".gz"):
        return cast(BinaryIO, io.BufferedReader(_BoundedGzip(path, max_bytes), 1024**2))
    return path.open("rb", buffering=1024**2)


def _undecodable(raw: bytes, error: UnicodeDecodeError) -> str:
    byte = raw[error.start]
    if byte == 0xED and raw[error.start + 1 : error.start + 2] >= b"\xa0":
        return f"not UTF-8: byte {error.start + 1} begins a lone surrogate"
    return (
        f"not UTF-8: byte {error.start + 1} is 0x{byte:02X} (another encoding, such as "
        "Latin-1? save the file as UTF-8)"
    )


def _wrong_start(raw: bytes) -> str | None:
    if raw.startswith(_UTF_16_STARTS):
        return "the file is UTF-16 or UTF-32; save it as UTF-8"
    if raw.startswith(_GZIP_START):
        return "the file is compressed; its name must end in .gz"
    return None


def _unreadable(error: Exception) -> str:
    if isinstance(error, TooLargeError):
        return f"the compressed file is refused: {error}"
    if isinstance(error, EOFError):
        return "the compressed file is cut off"
    return f"the compressed file is damaged ({error})"


def _long_line(raw: bytes, stream: BinaryIO, limit: int) -> str:
    """A line whose content just fits; a longer one is passed over and RecordError raised."""
    if raw.endswith(b"\n"):
        return raw.decode()
    while (chunk := stream.readline(limit)) and not chunk.endswith(b"\n"):
        pass
    raise RecordError(f"the line is longer than {limit:,} bytes")


def lines_with_ends(
    stream: BinaryIO, *, file: str, problems: Problems, limit: int = MAX_LINE_BYTES
) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each good line, its line end included.

    Lines end in LF or CRLF and nowhere else: a lone CR, U+0085, U+2028 and form feeds are
    text. Lines that are not UTF-8, hold NUL or are too long are refused and left out; a
    file that begins as UTF-16 or gzip is refused once.
    """
    number = 0
    try:
        while raw := stream.readline(limit + 1):
            number += 1
            if number == 1:
                raw = raw.removeprefix(codecs.BOM_UTF8)
                if reason := _wrong_start(raw):
                    problems.add(file, 1, reason)
                    return
            try:
                text = raw.decode() if len(raw) <= limit else _long_line(raw, stream, limit)
                if "\0" in text:
                    raise RecordError(f"character {text.index(chr(0)) + 1} is NUL (U+0000)")
            except UnicodeDecodeError as error:
                problems.add(file, number, _undecodable(raw, error))
            except RecordError as error:
                problems.add(file, number, str(error))
            else:
                yield number, text
    except _READ_ERRORS as error:
        problems.add(file, number + 1, _unreadable(error))


def decoded_lines(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """Number (from 1) and text of each good line, without its LF or CRLF."""
    for number, text in lines_with_ends(stream, file=file, problems=problems):
        yield number, _without_end(text)


def _without_end(text: str) -> str:
    return text[:-2] if text.endswith("\r\n") else text.removesuffix("\n")


def content_lines(stream: BinaryIO, *, file: str, problems: Problems) -> Iterator[tuple[int, str]]:
    """Like `decoded_lines`, without blank lines.

    Those that content follows are noted (the first of several), those at the end are not.
    """
    blank_from: int | None = None
    for number, text in lines_with_ends(stream, file=file, problems=problems):
        if not text or text.isspace():
            blank_from = blank_from or number
            continue
        if blank_from is not None:
            problems.note(file, blank_from, "blank line passed over")
            blank_from = None
        yield number, _without_end(text)


def whole_text(
    stream: BinaryIO, *, file: str, problems: Problems, max_bytes: int = MAX_LINE_BYTES
) -> str | None:
    """The whole of a small file, its line ends as they are; None when it was refused."""
    try:
        raw = stream.read(max_bytes + 1)
    except _READ_ERRORS as error:
        problems.add(file, None, _unreadable(error))
        return None
    if len(raw) > max_bytes:
        problems.add(file, None, f"the file is larger than {max_bytes:,} bytes")
        return None
    before = problems.count
    lines = lines_with_ends(io.BytesIO(raw), file=file, problems=problems, limit=max_bytes)
    text = "".join(line for _, line in lines)
    return text if problems.count == before else None


def shown_name(name: str) -> str:
    """A file's name as it can be shown, also where it is not UTF-8 on the disk."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def character_name(character: str) -> str:
    """A character by its code, and its name where it has one: `U+00A0 NO-BREAK SPACE`."""
    name = unicodedata.name(character, "")
    return f"U+{ord(character):04X} {name}".rstrip()


def _character_kind(character: str) -> str:
    if "\ud800" <= character <= "\udfff":
        return "a lone surrogate"
    if character.isspace():
        return "white space"
    return "a byte order mark" if character == "\ufeff" else "a control character"


def check_id(value: str) -> str | None:
    """Why `value` cannot be an id of a query or document, or None when it can.

    Ids are compared and kept byte for byte. One that holds white space (anything `str.split`
    or `\\s` splits on) breaks every qrels reader; control characters, surrogates and U+FEFF
    do not survive the files.
    """
    # What is printable holds no control character, surrogate or white space but the blank.
    if value.isprintable() and " " not in value and 0 < len(value) <= MAX_ID_LENGTH:
        return None
    if not value:
        return "the id is empty"
    if found := _NOT_IN_IDS.search(value):
        character = found[0]
        return f"the id holds {_character_kind(character)} ({character_name(character)})"
    if len(value) > MAX_ID_LENGTH:
        return f"the id has {len(value)} characters, more than {MAX_ID_LENGTH}"
    return None


def check_text(value: str) -> str | None:
    """Why `value` cannot be stored as text (NUL, lone surrogates), or None when it can."""
    if found := _NOT_IN_TEXTS.search(value):
        return f"the text holds {character_name(found[0])}, which cannot be stored"
    return None


def check_name(value: str) -> str | None:
    """Why `value` cannot name a class, person, round, dimension or clause, or None."""
    if not value.strip():
        return "the name is blank"
    if value != value.strip():
        return f"the name {value!r} begins or ends with white space"
    if found := _NOT_IN_NAMES.search(value):
        return f"the name holds {character_name(found[0])}"
    if len(value) > MAX_NAME_LENGTH:
        return f"the name has {len(value)} characters, more than {MAX_NAME_LENGTH}"
    return None


def require_id(value: str, what: str) -> str:
    """`value`, or ValueError naming it: for writers, which never change an id."""
    if reason := check_id(value):
        raise ValueError(f"{what} {value!r}: {reason}")
    return value


def require_text(value: str, what: str) -> str:
    """`value`, or ValueError when it cannot be written as UTF-8."""
    if reason := check_text(value):
        raise ValueError(f"{what}: {reason}")
    return value


class FirstSeen:
    """Where each key stood first, and whether a repeat says the same.

    Keeps a line number and a hash of the content for each key, so that millions of
    documents can be checked without holding their texts.
    """

    def __init__(self) -> None:
        self._seen: dict[Hashable, int] = {}

    def repeats(
        self,
        key: Hashable,
        content: Hashable,
        *,
        label: str,
        file: str,
        line: int,
        problems: Problems,
    ) -> bool:
        """Whether `key` came before: an identical repeat is noted, another is refused."""
        packed = (hash(content) & 0xFFFFFFFFFFFFFFFF) << 40 | line
        if key not in self._seen:
            self._seen[key] = packed
            return False
        first = self._seen[key]
        first_line = first & 0xFFFFFFFFFF
        if first >> 40 == packed >> 40:
            problems.note(file, line, f"{label} is the same as in line {first_line}")
        else:
            problems.add(file, line, f"{label} stands already in line {first_line}, otherwise")
        return True

"""Zip archives of a study's files, unpacked within bounds.

An archive is hostile until read: its own figures are checked before they are believed, and what
comes out of it is counted while it is written.
"""

from __future__ import annotations

import gzip
import re
import stat
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, BinaryIO

from studies.formats.placing import FOLDERS, place_entry
from studies.formats.problems import Problems
from studies.formats.text import shown_name

CHUNK = 1024**2
END_RECORD = b"PK\x05\x06"
END_RECORD_BYTES = 22
LOCATOR_64 = b"PK\x06\x07"
LOCATOR_64_BYTES = 20
LONGEST_COMMENT = 2**16
LARGEST_DIRECTORY_ENTRY = 1024
LONGEST_NAME_BYTES = 255
IS_ENCRYPTED = 0x1

ARCHIVE_ENDINGS = (
    ".zip", ".jar", ".tar", ".tgz", ".tar.gz", ".tbz2", ".tar.bz2", ".txz", ".tar.xz",
    ".7z", ".rar", ".bz2", ".xz", ".zst",
)  # fmt: skip
_UNSAFE = re.compile(r"^[A-Za-z]:|[\x00-\x1f\x7f\\]")
_READ_ERRORS = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError)


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much an upload may unpack to: number of files, bytes of one, bytes together."""

    entries: int
    file_bytes: int
    total_bytes: int


class TooMuch(Exception):
    """More came out of a compressed file than may."""


def unpack_archive(
    stream: BinaryIO, folder: Path, *, file: str, bounds: Bounds, problems: Problems
) -> None:
    """Unpack the files of a study from a zip archive into `folder`.

    A single folder around all of it is taken away. What is no file of a study is passed over and
    noted; entries that could harm are refused by name, and then nothing more is unpacked.
    """
    try:
        if fault := _directory_fault(stream, bounds):
            problems.add(file, None, fault)
            return
        with zipfile.ZipFile(stream) as archive:
            _Unpacking(archive, folder, file, bounds, problems).run()
    except _READ_ERRORS as error:
        problems.add(file, None, f"the zip archive is damaged ({error})")


def _directory_fault(stream: BinaryIO, bounds: Bounds) -> str | None:
    """Why the archive's list of contents is not even read: it would be held in memory whole."""
    size = stream.seek(0, 2)
    start = max(0, size - END_RECORD_BYTES - LONGEST_COMMENT - LOCATOR_64_BYTES)
    stream.seek(start)
    tail = stream.read()
    records = [match.start() for match in re.finditer(re.escape(END_RECORD), tail)]
    if not records:
        return "the file is no zip archive"
    for at in records:
        record = tail[at : at + END_RECORD_BYTES]
        locator = tail[max(0, at - LOCATOR_64_BYTES) : at]
        entries = int.from_bytes(record[10:12], "little")
        directory = int.from_bytes(record[12:16], "little")
        if (
            locator.startswith(LOCATOR_64)
            or entries > bounds.entries
            or directory > bounds.entries * LARGEST_DIRECTORY_ENTRY
        ):
            return f"the archive lists more than {bounds.entries:,} files"
    stream.seek(0)
    return None


class _Unpacking:
    def __init__(
        self,
        archive: zipfile.ZipFile,
        folder: Path,
        file: str,
        bounds: Bounds,
        problems: Problems,
    ) -> None:
        self.archive = archive
        self.folder = folder
        self.file = file
        self.bounds = bounds
        self.problems = problems
        self.left = bounds.total_bytes

    def run(self) -> None:
        entries = [info for info in self.archive.infolist() if not self._is_passed_over(info)]
        if len(entries) > self.bounds.entries:
            self.problems.add(
                self.file, None, f"the archive lists more than {self.bounds.entries:,} files"
            )
        before = self.problems.count
        for info in entries:
            if fault := _entry_fault(info):
                self._refuse(info, fault)
        if self.problems.count == before:
            for info, path in self._placed(entries):
                if not self._unpack(info, path):
                    break

    def _refuse(self, info: zipfile.ZipInfo, reason: str) -> None:
        self.problems.add(f"{self.file}/{shown_name(info.filename)}", None, reason)

    @staticmethod
    def _is_passed_over(info: zipfile.ZipInfo) -> bool:
        """Folders, which need no entry, and what macOS adds beside each file."""
        return info.is_dir() or info.filename.startswith("__MACOSX/")

    def _placed(self, entries: list[zipfile.ZipInfo]) -> Iterator[tuple[zipfile.ZipInfo, str]]:
        prefix = _common_folder([info.filename for info in entries])
        taken: set[str] = set()
        for info in entries:
            path = place_entry(info.filename.removeprefix(prefix))
            if path is None:
                note = "passed over; it is no file of a study"
                self.problems.note(f"{self.file}/{shown_name(info.filename)}", None, note)
            elif path in taken:
                self._refuse(info, "the archive holds this name twice")
            else:
                taken.add(path)
                yield info, path

    def _unpack(self, info: zipfile.ZipInfo, path: str) -> bool:
        """Write one entry; False when it is refused, and the rest is then left alone."""
        target = self.folder / path
        target.parent.mkdir(exist_ok=True)
        if target.exists():
            self._refuse(info, "a file of this name was uploaded beside the archive too")
            return False
        limit = min(self.left, self.bounds.file_bytes)
        try:
            with self.archive.open(info) as source, target.open("xb") as sink:
                self.left -= copy_bounded(source, sink, limit)
        except TooMuch:
            self._refuse(info, say_too_much(self.bounds))
            return False
        except _READ_ERRORS as error:
            self._refuse(info, f"it cannot be unpacked ({error})")
            return False
        return True


def _entry_fault(info: zipfile.ZipInfo) -> str | None:
    """Why an entry must not be unpacked, seen from its name and its kind."""
    # zipfile cuts a name at a NUL and turns other separators; the original tells.
    name = info.orig_filename
    if name.startswith("/") or _UNSAFE.search(name):
        return "a path in an archive is relative, with / between its parts and nothing else"
    if any(part in {"", ".", ".."} for part in name.split("/")):
        return "a path in an archive must not lead out of its folder"
    if any(len(part.encode(errors="replace")) > LONGEST_NAME_BYTES for part in name.split("/")):
        return f"the name is longer than {LONGEST_NAME_BYTES} bytes"
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in {0, stat.S_IFREG}:
        return "only files are unpacked: no links and nothing special"
    if info.flag_bits & IS_ENCRYPTED:
        return "the entry is encrypted; make the archive without a password"
    if name.lower().endswith(ARCHIVE_ENDINGS):
        return "an archive within the archive is not unpacked; put its files into this one"
    return None


def _common_folder(names: list[str]) -> str:
    """The folder around all of the names, with its slash; "" where there is none."""
    tops = {name.split("/", 1)[0] for name in names if "/" in name}
    if len(tops) != 1 or any("/" not in name for name in names):
        return ""
    top = tops.pop()
    return "" if top in FOLDERS else f"{top}/"


def copy_bounded(source: IO[bytes], sink: IO[bytes], limit: int) -> int:
    """Copy at most `limit` bytes; returns their number. Raises TooMuch when there are more."""
    count = 0
    while chunk := source.read(CHUNK):
        count += len(chunk)
        if count > limit:
            raise TooMuch
        sink.write(chunk)
    return count


def check_compressed(path: Path, *, file: str, bounds: Bounds, problems: Problems) -> None:
    """Refuse a `.gz` that holds more than a file may. A damaged one is left to its reader."""
    count = 0
    try:
        with gzip.open(path, "rb") as stream:
            while chunk := stream.read(CHUNK):
                count += len(chunk)
                if count > bounds.file_bytes:
                    problems.add(file, None, say_too_much(bounds))
                    return
    except (OSError, EOFError, zlib.error):
        return


def say_too_much(bounds: Bounds) -> str:
    return (
        f"unpacked it is larger than allowed ({bounds.file_bytes // 1024**2:,} MiB for one file, "
        f"{bounds.total_bytes // 1024**2:,} MiB together)"
    )

"""What a kind of export is made of."""

from collections.abc import Callable, Generator, Iterable, Iterator
from dataclasses import dataclass

from django.utils.functional import Promise

from results.services.exports.manifest import Manifest
from studies.models import Member, Study


class ExportRefused(Exception):
    """The export cannot be made; the message says why and what to do. Nothing was written."""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is asked for. `annotator` is set for the kinds that need one; of the kinds that hold
    the log, `until` is the number of actions after which it ends, None for all of them."""

    study: Study
    annotator: Member | None = None
    with_texts: bool = False
    until: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of an export that is a folder: its name, with `/` between folders, and content,
    which has lines where it `is_text`."""

    name: str
    chunks: Iterable[bytes]
    is_text: bool = True


Describe = Callable[[ExportRequest, Manifest], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportKind:
    """A kind of export. `describe` fills the counts of a manifest without making the export;
    one that `is_release` hands labels over, which a red gate does not let pass without a reason;
    one that `is_whole` holds the labels of every round as they were recorded.
    """

    name: str
    title: str | Promise
    ending: str
    content_type: str
    describe: Describe
    needs_annotator: bool = False
    is_release: bool = False
    is_whole: bool = False
    offers_texts: bool = False
    has_log: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class TextKind(ExportKind):
    """One text file: its lines in order, each with its line end."""

    lines: Callable[[ExportRequest, Manifest], Iterator[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FolderKind(ExportKind):
    """Several files, in a folder or in a zip archive."""

    entries: Callable[[ExportRequest, Manifest], Iterator[Entry]]


def encode(lines: Iterable[str], *, chunk_size: int = 64 * 1024) -> Generator[bytes, None, None]:
    """Lines as UTF-8 in chunks of about `chunk_size` characters."""
    waiting: list[str] = []
    size = 0
    for line in lines:
        waiting.append(line)
        size += len(line)
        if size >= chunk_size:
            yield "".join(waiting).encode()
            waiting, size = [], 0
    if waiting:
        yield "".join(waiting).encode()

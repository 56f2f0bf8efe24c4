"""Several files as one: a zip archive made while it is read, or a folder."""

import zipfile
from collections.abc import Generator, Iterable, Iterator
from pathlib import Path

from results.services.exports.kinds import Entry
from results.services.exports.manifest import Digest, FileSeal, Manifest

# The same content gives the same archive: no clock enters it.
NO_TIME = (1980, 1, 1, 0, 0, 0)
READABLE_FILE = 0o100644 << 16


class _Outlet:
    """A file that cannot be wound back; what was written is taken out as it comes."""

    def __init__(self) -> None:
        self._written: list[bytes] = []

    def write(self, data: bytes, /) -> int:
        self._written.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing is held back."""

    def close(self) -> None:
        """There is nothing to close."""

    def take(self) -> bytes:
        taken = b"".join(self._written)
        self._written.clear()
        return taken


def zip_chunks(entries: Iterable[Entry], manifest: Manifest) -> Generator[bytes, None, None]:
    """The bytes of a zip archive, holding one chunk of one entry in memory."""
    outlet = _Outlet()
    with zipfile.ZipFile(outlet, "w", zipfile.ZIP_DEFLATED) as archive:
        for entry in entries:
            information = zipfile.ZipInfo(entry.name, NO_TIME)
            information.compress_type = zipfile.ZIP_DEFLATED
            information.external_attr = READABLE_FILE
            # The size is not known beforehand, and may be beyond what the old format holds.
            with archive.open(information, "w", force_zip64=True) as member:
                for chunk in _sealed(entry, manifest):
                    member.write(chunk)
                    yield outlet.take()
    yield outlet.take()


def write_folder(entries: Iterable[Entry], folder: Path, manifest: Manifest) -> None:
    """Write the entries below an empty folder. The manifest's checksum is that of the list of
    their checksums, as `sha256sum` writes it."""
    for entry in entries:
        target = folder / entry.name
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            for chunk in _sealed(entry, manifest):
                file.write(chunk)
    total = Digest()
    for seal in manifest.files:
        total.update(f"{seal.sha256}  {seal.name}\n".encode())
    manifest.sha256 = total.sha256
    manifest.bytes = sum(seal.bytes for seal in manifest.files)
    manifest.lines = sum(seal.lines or 0 for seal in manifest.files)


def _sealed(entry: Entry, manifest: Manifest) -> Iterator[bytes]:
    """The chunks of an entry; its checksum stands in the manifest once they have passed."""
    digest = Digest()
    for chunk in entry.chunks:
        digest.update(chunk)
        yield chunk
    lines = digest.lines if entry.is_text else None
    manifest.files.append(FileSeal(entry.name, digest.sha256, digest.bytes, lines))

"""Putting an export and its manifest in place: both whole, or neither."""

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from results.services.exports.kinds import ExportRefused
from results.services.exports.manifest import Digest


def manifest_path(path: Path) -> Path:
    """Where the manifest of the export at `path` stands."""
    return path.with_name(f"{path.name}.manifest.json")


def check_place(path: Path, *, is_folder: bool) -> None:
    """Raises ExportRefused where no export and manifest of this name can be put."""
    if not path.name:
        raise ExportRefused(f"{path} is a folder, and its manifest has no place; name a new one.")
    if not path.parent.is_dir():
        raise ExportRefused(f"The folder {path.parent} does not exist; make it first.")
    _check_file(manifest_path(path))
    if not is_folder:
        _check_file(path)
    elif os.path.lexists(path) and (path.is_symlink() or not path.is_dir() or any(path.iterdir())):
        raise ExportRefused(f"{path} exists already; name a new folder, or remove that one.")


def _check_file(path: Path) -> None:
    """Raises ExportRefused where something stands that is no file to be replaced."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        kind = "link" if path.is_symlink() else "folder" if path.is_dir() else "device or pipe"
        raise ExportRefused(
            f"{path} is a {kind}, which would have to be replaced; name a file. An export is put "
            "in place whole, with its manifest beside it."
        )


def put_in_place(made: Path, account: Path, path: Path) -> None:
    """The export and its manifest, or neither: an earlier manifest is put back where the export
    cannot follow."""
    manifest, earlier = manifest_path(path), account.with_suffix(".earlier")
    with ExitStack() as undo:
        if manifest.exists():
            os.replace(manifest, earlier)
            undo.callback(os.replace, earlier, manifest)
        else:
            undo.callback(manifest.unlink, missing_ok=True)
        os.replace(account, manifest)
        if made.is_dir() and path.is_dir():
            path.rmdir()
        os.replace(made, path)
        undo.pop_all()
    earlier.unlink(missing_ok=True)


@contextmanager
def temporary_names(path: Path) -> Iterator[tuple[Path, Path]]:
    """Names beside the target for the export and its manifest; nothing stays there."""
    token = secrets.token_hex(4)
    made = path.with_name(f".{path.name}.{token}.part")
    account = path.with_name(f".{path.name}.{token}.manifest.part")
    try:
        yield made, account
    finally:
        shutil.rmtree(made, ignore_errors=True) if made.is_dir() else made.unlink(missing_ok=True)
        account.unlink(missing_ok=True)


def write_file(target: Path, chunks: Iterator[bytes]) -> Digest:
    digest = Digest()
    with target.open("xb") as file:
        for chunk in chunks:
            digest.update(chunk)
            file.write(chunk)
    return digest

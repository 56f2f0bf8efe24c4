"""Links among a study's files: what they name must be in the study's folder too."""

from pathlib import Path

LEAVES = "this is a link out of the study's folder; put the file or folder itself here"


def leads_out(path: Path, folder: Path) -> bool:
    """Whether `path` is a symbolic link to anything that is not within `folder`."""
    if not path.is_symlink():
        return False
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        # A link that leads to itself in the end leads to nothing in the folder.
        return True

"""Where an uploaded file belongs in a study's folder, told by its name."""

from __future__ import annotations

from studies.formats.documents import IMAGE_ENDINGS, TEXT_ENDINGS
from studies.formats.folder import (
    CORPUS_FILES,
    POOL_FILES,
    QUERY_FILES,
    SINGLE_FILES,
    is_rubric_name,
)

RUN_ENDINGS = (".run", ".trec", ".run.gz", ".trec.gz")
FOLDERS = ("runs", "documents", "images")

MEANINGS = (
    dict.fromkeys(QUERY_FILES, "queries")
    | dict.fromkeys(CORPUS_FILES, "documents")
    | dict.fromkeys(POOL_FILES, "pool")
    | {name: kind.replace("_", " ") for name, kind in SINGLE_FILES.items()}
    | {"study.yaml": "settings"}
)


def place_file(name: str) -> str | None:
    """The path in a study's folder of a file that was uploaded alone, None for no such file.

    Files of the contract stay at the top; runs, images and texts are told by their endings.
    """
    if name in MEANINGS or is_rubric_name(name):
        return name
    ending = name.lower()
    for folder, endings in (
        ("runs", RUN_ENDINGS),
        ("images", IMAGE_ENDINGS),
        ("documents", tuple(TEXT_ENDINGS)),
    ):
        if ending.endswith(endings):
            return f"{folder}/{name}"
    return None


def place_entry(path: str) -> str | None:
    """The same for a path in an archive, whose own folders are kept; None for what is no
    file of a study."""
    folder, _, name = path.rpartition("/")
    if not folder:
        return path if path in MEANINGS or is_rubric_name(path) else None
    return path if folder in FOLDERS and not name.startswith(".") else None


def name_meaning(path: str) -> str:
    """What a file in a study's folder is: queries, documents, a run, …"""
    folder, _, name = path.rpartition("/")
    if folder:
        return {"runs": "run", "images": "image", "documents": "document"}[folder]
    # Nearly right names are refused; until then they are what was meant.
    nearly = "settings" if name.lower().startswith("study.") else "rubric"
    return MEANINGS.get(name, nearly)

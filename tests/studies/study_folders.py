"""Studies as files, small enough to be read in a test."""

import json
from collections.abc import Mapping
from pathlib import Path

STUDY = "study: help\ntitle: Help centre\n"
QUERIES = "q1\thow do I reset it?\tprocedural\nq2\twhat does it cost?\tfactual\n"
RUN_A = "q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.0 a\nq2 Q0 d3 1 1.0 a\n"
RUN_B = "q1 Q0 d2 1 9.0 b\nq1 Q0 d4 2 8.0 b\n"


def corpus(*ids: str, **fields: object) -> str:
    """Lines of `corpus.jsonl`, one for each id."""
    return "".join(
        json.dumps({"_id": id, "title": f"Title of {id}", "text": f"Text of {id}.", **fields})
        + "\n"
        for id in ids
    )


HELP: dict[str, str | bytes] = {
    "study.yaml": STUDY,
    "queries.tsv": QUERIES,
    "corpus.jsonl": corpus("d1", "d2", "d3", "d4"),
    "runs/a.run": RUN_A,
    "runs/b.run": RUN_B,
}


def write_folder(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write the files under the folder, whose other files stay."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content if isinstance(content, bytes) else content.encode()
        path.write_bytes(data)
    return folder


def help_study(folder: Path, **changes: str | bytes) -> Path:
    """The help centre's study; keyword `queries_tsv` replaces or adds `queries.tsv`."""
    named = {name.replace("__", "/").replace("_", "."): text for name, text in changes.items()}
    return write_folder(folder, HELP | named)

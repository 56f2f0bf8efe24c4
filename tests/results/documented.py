"""Which keys of a report the tables of keys in `docs/` do not name."""

import re
from collections.abc import Iterator
from typing import Any

from tests.conftest import ROOT

# Their own keys are grades, names of dimensions, numbers of versions and the like.
KEYED_BY_DATA = {"labels", "decided_by", "rubric_versions", "causes", "values"}


def list_documented_keys(*names: str) -> set[str]:
    """Every word in code type in the sections on keys of these documents."""
    documents = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in names]
    sections = [part for text in documents for part in text.split("\n## ")[1:]]
    told = "\n".join(part for part in sections if part.startswith("Keys"))
    return set(re.findall(r"`([a-z0-9_]+)`", told))


def list_rows(name: str) -> set[str]:
    """Every word in code type that begins a row of a table of this document."""
    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    heads = re.findall(r"^\| (`[^|]*) \|", text, re.MULTILINE)
    return set(re.findall(r"`([a-z0-9_]+)`", " ".join(heads)))


def walk_keys(found: Any) -> Iterator[str]:
    """The keys at every depth of a payload."""
    if isinstance(found, list):
        for each in found:
            yield from walk_keys(each)
    elif isinstance(found, dict):
        for key, value in found.items():
            # By grade, where runs and labels stand under one name.
            if not key.lstrip("-").isdigit():
                yield key
            if key not in KEYED_BY_DATA:
                yield from walk_keys(value)


def list_undocumented_keys(payload: dict[str, Any]) -> list[str]:
    """Keys of a report without a row of their own in docs/statistics.md, and those further in that
    neither it nor docs/diagnosis.md names."""
    return sorted(
        ({*payload} - list_rows("statistics.md"))
        | ({*walk_keys(payload)} - list_documented_keys("statistics.md", "diagnosis.md"))
    )

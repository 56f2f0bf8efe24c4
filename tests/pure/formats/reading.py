"""Reading bytes with a reader, for the tests of this folder."""

import io
from collections.abc import Callable, Iterable
from typing import Any

from studies.formats.problems import Problems


def read(
    reader: Callable[..., Any], content: bytes | str, file: str = "file"
) -> tuple[Any, Problems]:
    """What `reader` gives for `content` (lists for generators), and what it refused."""
    raw = content.encode() if isinstance(content, str) else content
    problems = Problems()
    result = reader(io.BytesIO(raw), file=file, problems=problems)
    if isinstance(result, Iterable) and not isinstance(result, list):
        result = list(result)
    return result, problems


def good(reader: Callable[..., Any], content: bytes | str) -> Any:
    """What `reader` gives for `content` that nothing may be refused of."""
    result, problems = read(reader, content)
    assert problems.items == []
    return result


def reasons(problems: Problems) -> list[str]:
    """The refusals as people see them."""
    return [str(problem) for problem in problems.items]


def notes(problems: Problems) -> list[str]:
    """The notes as people see them."""
    return [str(note) for note in problems.notes]

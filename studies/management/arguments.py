"""Types of arguments that several commands take."""

from argparse import ArgumentTypeError
from pathlib import Path

WRONG_USAGE = 2
"""The exit status for options that do not fit together; what is refused ends with 1."""


def read_text(raw: str) -> str:
    """A name as the command line gives it. Raises ArgumentTypeError where it is not UTF-8: no
    file, page or database can hold such a name."""
    try:
        raw.encode()
    except UnicodeEncodeError:
        shown = raw.encode(errors="surrogateescape").decode(errors="replace")
        raise ArgumentTypeError(f"{shown} is not UTF-8") from None
    return raw


def read_path(raw: str) -> Path:
    """A path, whose name goes into reports and the log. Raises ArgumentTypeError as above."""
    return Path(read_text(raw))

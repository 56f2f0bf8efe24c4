"""An import in a terminal: a bar while it runs, a report when it ends."""

from __future__ import annotations

import sys
from typing import TextIO

from studies.services.imports.report import ImportReport, Progress, no_progress

WIDTH = 30


def terminal_progress(stream: TextIO = sys.stderr) -> Progress:
    """A progress bar on a terminal; nothing where the stream is no terminal."""
    if not stream.isatty():
        return no_progress

    def show(done: int, total: int, message: str) -> None:
        filled = WIDTH * done // total if total else 0
        share = f"{done / total:4.0%}" if total else f"{done:,}"
        stream.write(f"\r\033[K[{'#' * filled:<{WIDTH}}] {share} {message}")
        stream.flush()

    return show


def clear_progress(stream: TextIO = sys.stderr) -> None:
    """Take the bar away before a report is written."""
    if stream.isatty():
        stream.write("\r\033[K")
        stream.flush()


def format_report(report: ImportReport) -> str:
    """The report, line by line."""
    return "\n".join(report.lines())

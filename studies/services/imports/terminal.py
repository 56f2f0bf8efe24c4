"""An import in a terminal: a bar while it runs, a report when it ends."""

from __future__ import annotations

import sys
from typing import TextIO

from studies.services.imports.report import ImportReport, Progress, no_progress

WIDTH = 30


def terminal_progress(stream: TextIO | None = None) -> Progress:
    """A progress bar on a terminal (standard error's); nothing where the stream is none."""
    terminal = stream or sys.stderr
    if not terminal.isatty():
        return no_progress

    def show(done: int, total: int, message: str) -> None:
        filled = WIDTH * done // total if total else 0
        share = f"{done / total:4.0%}" if total else f"{done:,}"
        terminal.write(f"\r\033[K[{'#' * filled:<{WIDTH}}] {share} {message}")
        terminal.flush()

    return show


def clear_progress(stream: TextIO | None = None) -> None:
    """Take the bar away before a report is written."""
    terminal = stream or sys.stderr
    if terminal.isatty():
        terminal.write("\r\033[K")
        terminal.flush()


def format_report(report: ImportReport) -> str:
    """The report, line by line."""
    return "\n".join(report.lines())

"""Processes that the tests look at from outside."""

import os
from pathlib import Path


def is_running(pid: int) -> bool:
    """Whether the process exists and is no zombie; it may end between the two looks."""
    try:
        os.kill(pid, 0)
        return ") Z" not in read_stat(pid)
    except ProcessLookupError:
        return False


def read_stat(pid: int) -> str:
    """What Linux tells of the process; nothing on a system without /proc."""
    if not Path("/proc/self").exists():
        return ""
    try:
        return Path(f"/proc/{pid}/stat").read_text()
    except FileNotFoundError:
        raise ProcessLookupError(pid) from None

"""What one can see of an embedded server from outside: its files, its locks, its socket.

Standard library only, because the keeper runs without site-packages.
"""

import fcntl
import os
import socket
from pathlib import Path
from typing import NamedTuple

SUPERUSER = "postgres"
DATABASE = "dissensus"
PORT = 5432  # only names the socket file: the server listens on no network address

EXIT_ANOTHER_KEEPER = 75


class KeeperError(Exception):
    """The server cannot run; the message says why and what to do."""


class Postmaster(NamedTuple):
    """What a cluster's postmaster.pid says. `ready` is the server's own word."""

    pid: int
    data: str
    socket_directory: str
    ready: bool


def data_directory(home: Path) -> Path:
    """The cluster inside the embedded server's home."""
    return home / "data"


def log_file(home: Path) -> Path:
    """Where the server writes its messages."""
    return home.parent / "log" / "postgres.log"


def read_postmaster(home: Path) -> Postmaster | None:
    """What postmaster.pid says now, or None without one (or with one half written)."""
    try:
        lines = (data_directory(home) / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    if len(lines) < 5 or not lines[0].strip().isdigit():
        return None
    status = lines[7].strip() if len(lines) > 7 else ""
    return Postmaster(int(lines[0]), lines[1].strip(), lines[4].strip(), status == "ready")


def ready_socket_directory(home: Path) -> str | None:
    """The socket's folder, if a server is up and accepts connections there, else None."""
    postmaster = read_postmaster(home)
    if postmaster is None or not postmaster.ready:
        return None
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(f"{postmaster.socket_directory}/.s.PGSQL.{PORT}")
        except OSError:
            return None
    return postmaster.socket_directory


def users_lock(home: Path) -> Path:
    """Shared by every process that uses the server."""
    return home / "users.lock"


def keeper_lock(home: Path) -> Path:
    """Held by the keeper, whose process id it holds."""
    return home / "keeper.lock"


def open_lock(path: Path) -> int:
    """A descriptor of a lock file, made if missing; not handed on to other programs."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int, operation: int) -> bool:
    """Take a lock without waiting; whether it was free."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether any process holds the lock file."""
    descriptor = open_lock(path)
    try:
        return not try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)

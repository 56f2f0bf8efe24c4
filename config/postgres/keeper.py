"""The keeper: one small process that starts, watches and stops the embedded PostgreSQL.

Runs in the background as `python -E -S -m config.postgres.keeper HOME PROGRAMS`: no
site-packages, no Django, a few megabytes.

Every process that uses the server holds a shared `flock` on `HOME/users.lock`; the keeper holds
`HOME/keeper.lock`, and its process id stands in it. The kernel drops a lock when its process ends
in any way, kill -9 included, and a forked child keeps its parent's; a list of process ids knows
neither. The keeper

- starts the server, or adopts one whose keeper was killed;
- starts it again when it dies while somebody uses it;
- stops it as soon as it can take `users.lock` for itself alone.

Layout of HOME: `data/` (the cluster), `run/` (the socket, unless its path would be too long) and
the two locks. The server's log is `../log/postgres.log`.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from config.postgres import account, cluster
from config.postgres.state import (
    EXIT_ANOTHER_KEEPER,
    KeeperError,
    data_directory,
    keeper_lock,
    log_file,
    open_lock,
    read_postmaster,
    ready_socket_directory,
    try_lock,
    users_lock,
)

EXIT_REFUSED = 1

WATCH_SECONDS = 0.2
START_SECONDS = 120.0
STOP_SECONDS = 30.0
LOG_LIMIT_BYTES = 10_000_000


def _is_server(pid: int, data: Path) -> bool:
    """Whether this process is a PostgreSQL server on this cluster, not a later bearer of its id."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        if Path("/proc/self").exists():
            return False
        listing = ["ps", "-o", "command=", "-p", str(pid)]
        answer = subprocess.run(listing, capture_output=True, check=False)
        command = answer.stdout.decode()
    return "postgres" in command and str(data) in command


class Keeper:
    """Holds one embedded server up for as long as it has users."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home = home
        self.programs = programs
        self.data = data_directory(home)
        self.account = account.server_account(home)
        self.pid = 0
        self.child: subprocess.Popen[bytes] | None = None
        self.socket_directory = ""
        self.log_start = 0

    def start(self) -> None:
        """Make the cluster if there is none, then adopt or start its server.

        Returns when the server accepts connections. Raises KeeperError if it cannot.
        """
        if self.account.uid is not None:
            account.let_pass(self.home)
            account.let_pass(self.programs)
            account.let_programs_be_run(self.programs)
        if not self.data.exists():
            cluster.make_cluster(self.home, self.programs, self.account)
        cluster.check_version(self.home, self.programs)
        running = read_postmaster(self.home)
        if running is not None and _is_server(running.pid, self.data):
            self.pid, self.child = running.pid, None
            self.socket_directory = running.socket_directory
            self._wait_until_ready()
        else:
            self._start_server()

    def watch(self) -> None:
        """Keep the server running until its last user has ended, then stop it."""
        users = open_lock(users_lock(self.home))
        while not try_lock(users, fcntl.LOCK_EX):
            time.sleep(WATCH_SECONDS)
            if not self.is_alive():
                self.start()
        self.stop()

    def stop(self) -> None:
        """Shut the server down in order; at once if it does not follow."""
        for order in (signal.SIGINT, signal.SIGQUIT):
            if self.is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, order)
            deadline = time.monotonic() + STOP_SECONDS
            while self.is_alive() and time.monotonic() < deadline:
                time.sleep(0.02)
        if self.socket_directory and Path(self.socket_directory).parent != self.home:
            shutil.rmtree(self.socket_directory, ignore_errors=True)

    def is_alive(self) -> bool:
        """Whether the server's first process exists (ready or not)."""
        if self.child is not None:
            return self.child.poll() is None
        return _is_server(self.pid, self.data)

    def _start_server(self) -> None:
        """Start the server; after a crash, wait for the last of the old one's processes first."""
        self.socket_directory = cluster.choose_socket_directory(self.home, self.account)
        deadline = time.monotonic() + START_SECONDS
        while True:
            cluster.forget_dead_server(self.home, self.socket_directory)
            self._launch()
            try:
                self._wait_until_ready()
            except KeeperError as error:
                old_still_ends = "is still in use" in str(error)
                if not old_still_ends or time.monotonic() > deadline:
                    raise
                time.sleep(WATCH_SECONDS)
            else:
                return

    def _launch(self) -> None:
        log = log_file(self.home)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.replace(log.with_suffix(".log.1"))
        self.log_start = log.stat().st_size if log.exists() else 0
        command = cluster.server_command(self.home, self.programs, self.socket_directory)
        with log.open("ab") as output:
            self.child = self.account.popen(command, stdin=subprocess.DEVNULL, stdout=output)
        self.pid = self.child.pid

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while ready_socket_directory(self.home) is None:
            if not self.is_alive():
                raise KeeperError(f"PostgreSQL did not start. Its log says:\n{self._log_tail()}")
            if time.monotonic() > deadline:
                raise KeeperError(
                    f"PostgreSQL is not ready after {START_SECONDS:.0f} s; it may still be "
                    f"recovering. Its data are kept. See {log_file(self.home)} and try again."
                )
            time.sleep(0.02)

    def _log_tail(self) -> str:
        with log_file(self.home).open("rb") as log:
            log.seek(self.log_start)
            return log.read().decode(errors="replace")[-2000:].strip()


def run(home: Path, programs: Path) -> int:
    """Become the keeper of HOME in the background.

    Returns 0 in the caller's process as soon as the server is ready, 75 if HOME has a keeper
    already, 1 after writing the reason to standard error.
    """
    lock = open_lock(keeper_lock(home))
    if not try_lock(lock, fcntl.LOCK_EX):
        return EXIT_ANOTHER_KEEPER
    answer, report = os.pipe()
    if os.fork() == 0:
        os.close(answer)
        _keep(home, programs, report)
    os.close(report)
    with os.fdopen(answer, "rb") as pipe:
        message = pipe.read().decode()
    if message == "ready":
        return 0
    sys.stderr.write(message or "The keeper of the embedded PostgreSQL was killed.")
    return EXIT_REFUSED


def _keep(home: Path, programs: Path, report: int) -> None:
    """The background half of `run`: never returns."""
    os.setsid()
    os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    keeper_lock(home).write_text(f"{os.getpid()}\n")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    keeper = None
    try:
        keeper = Keeper(home, programs)
        keeper.start()
        os.write(report, b"ready")
    except Exception as error:
        os.write(report, str(error).encode())
    os.close(report)
    # A server that is slow to recover has a keeper all the same.
    if keeper is None or not keeper.is_alive():
        os._exit(EXIT_REFUSED)
    try:
        keeper.watch()
    finally:
        keeper.stop()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), Path(sys.argv[2])))

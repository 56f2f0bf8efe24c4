"""Runs the web server and the worker side by side, and ends all when one is told to.

`manage.py serve` checks the settings and then becomes this program, which imports the standard
library only: the process that merely watches stays at a few megabytes.

Each child leads a session of its own, so Ctrl-C reaches only this process, which stops the
children in order. Linux ends the children when this process is killed; elsewhere, kill -9 of this
process leaves them running.
"""

import argparse
import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from config import postgres

PYTHON = sys.executable
STOP_SECONDS = 15.0
STEADY_SECONDS = 10.0
LONGEST_PAUSE_SECONDS = 8.0
GIVE_UP_AFTER = 5
PR_SET_PDEATHSIG = 1

CORES = os.cpu_count() or 1

# Granian hands each request to one of these threads, and each may hold one database connection:
# no more of them than the connection pool holds (DISSENSUS_DATABASE_POOL, 8).
THREADS_PER_WEB_PROCESS = min(8, 2 * CORES + 1)

# The worker and PostgreSQL want cores too; a web process takes about 70 MB.
DEFAULT_WEB_PROCESSES = max(1, min(4, CORES // 2))
DEFAULT_JOB_PROCESSES = 1


class ProcessesError(Exception):
    """The processes cannot run; the message says why and what to do."""


@dataclass(frozen=True)
class ProcessSpec:
    """One child: the name before its log lines, and its command line."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str] = field(default_factory=dict)


def web_process(*, host: str, port: int, processes: int, path_prefix: str = "") -> ProcessSpec:
    """The web server: granian, with the WSGI application in `processes` workers."""
    command = [
        *(PYTHON, "-m", "granian", "--interface", "wsgi", "--http", "1", "--no-ws"),
        *("--host", host, "--port", str(port), "--workers", str(processes)),
        *("--blocking-threads", str(THREADS_PER_WEB_PROCESS)),
        *("--respawn-failed-workers", "--workers-kill-timeout", "10"),
        *(("--url-path-prefix", path_prefix) if path_prefix else ()),
        "config.wsgi:application",
    ]
    return ProcessSpec("web", command)


def worker_process(*, processes: int) -> ProcessSpec:
    """The worker: Celery, running `processes` jobs at a time."""
    command = [
        *(PYTHON, "-m", "celery", "--app", "config", "--quiet", "worker"),
        *("--loglevel", "INFO", "--pool", "prefork", "--concurrency", str(processes)),
        *("--without-gossip", "--without-mingle", "--without-heartbeat"),
    ]
    # Celery warns root on every start; containers run as an ordinary user.
    return ProcessSpec("job", command, {"PYTHONWARNINGS": "ignore:You're running the worker with"})


def check_port_is_free(host: str, port: int) -> None:
    """Raise ProcessesError unless a server could listen there now."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except socket.gaierror as error:
        raise ProcessesError(f"The host {host!r} is not known: {error.strerror}.") from error
    with socket.socket(family, kind, protocol) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(address)
        except OSError as error:
            raise ProcessesError(
                f"Port {port} on {host} cannot be used ({error.strerror}); nothing was started. "
                f"Choose another: `make run PORT={port + 1}` or "
                f"`manage.py serve --port {port + 1}`."
            ) from error


def accepts_connections(host: str, port: int) -> bool:
    """Whether a server listens there."""
    # Compared with, not bound to.
    reachable = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    try:
        socket.create_connection((reachable, port), timeout=1).close()
    except OSError:
        return False
    return True


def _end_with_parent() -> Callable[[], None] | None:
    """What a child does before its program starts: ask Linux to end it with this process."""
    if not sys.platform.startswith("linux"):
        return None
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    parent = os.getpid()

    def ask() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:
            os._exit(1)

    return ask


def _print_line(name: str, line: str) -> None:
    # Whoever read our output may have gone; the children must not stall because of that.
    with contextlib.suppress(OSError, ValueError):
        sys.stdout.write(f"{name:<4} | {line}\n")
        sys.stdout.flush()


@dataclass
class _Child:
    spec: ProcessSpec
    process: subprocess.Popen[str] | None = None
    started_at: float = 0.0
    start_again_at: float = 0.0
    quick_deaths: int = 0
    reader: threading.Thread | None = field(default=None, repr=False)

    def start(self) -> None:
        self.started_at = time.monotonic()
        self.process = subprocess.Popen(
            self.spec.command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=os.environ | {"PYTHONUNBUFFERED": "1"} | dict(self.spec.environment),
            start_new_session=True,
            preexec_fn=_end_with_parent(),
        )
        self.reader = threading.Thread(target=self._pass_on_lines, args=[self.process], daemon=True)
        self.reader.start()

    def _pass_on_lines(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                _print_line(self.spec.name, line.rstrip())

    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal_leader(self, number: signal.Signals) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError):
                self.process.send_signal(number)

    def end_for_good(self) -> None:
        """Kill whatever is left of the child and of what it started, and collect it."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        if self.reader is not None:
            self.reader.join(timeout=2)


class Supervisor:
    """Runs children until told to stop, or until one cannot be kept running.

    A child that dies is started again after a pause that doubles from one second; one that dies
    five times within ten seconds of its start ends all, with exit status 1.
    """

    def __init__(self, specs: Sequence[ProcessSpec]) -> None:
        self.children = [_Child(spec) for spec in specs]
        self.wake = threading.Event()
        self.stop_requests = 0

    def run(self, *, when_ready: Callable[[], bool] = lambda: True) -> int:
        """Run until SIGINT, SIGTERM or failure; returns the exit status.

        `when_ready` is called again and again until it returns True.
        """
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        for child in self.children:
            child.start()
        try:
            return self._watch(when_ready)
        finally:
            self._stop()

    def _on_signal(self, *_: object) -> None:
        self.stop_requests += 1
        self.wake.set()

    def _watch(self, when_ready: Callable[[], bool]) -> int:
        ready = False
        while not self.stop_requests:
            ready = ready or when_ready()
            for child in self.children:
                if not child.is_running() and not self._start_again(child):
                    return 1
            self.wake.wait(0.2)
        return 0

    def _start_again(self, child: _Child) -> bool:
        """Start a dead child once its pause is over; False when it has failed too often."""
        now = time.monotonic()
        if child.process is not None:
            status = child.process.returncode
            child.end_for_good()
            child.process = None
            steady = now - child.started_at > STEADY_SECONDS
            child.quick_deaths = 1 if steady else child.quick_deaths + 1
            if child.quick_deaths >= GIVE_UP_AFTER:
                _print_line(
                    "all",
                    f"{child.spec.name} ended {GIVE_UP_AFTER} times right after its start (last "
                    f"with status {status}); its messages are above. Stopping everything.",
                )
                return False
            pause = min(2.0 ** (child.quick_deaths - 1), LONGEST_PAUSE_SECONDS)
            child.start_again_at = now + pause
            _print_line(
                "all",
                f"{child.spec.name} ended with status {status}; starting it again in {pause:.0f} s",
            )
        elif now >= child.start_again_at:
            child.start()
        return True

    def _stop(self) -> None:
        """Ask every child to finish, wait, and kill what does not; at once if asked twice."""
        _print_line("all", "Stopping; a second Ctrl-C stops at once.")
        for child in self.children:
            child.signal_leader(signal.SIGTERM)
        deadline = time.monotonic() + STOP_SECONDS
        while any(child.is_running() for child in self.children):
            if self.stop_requests > 1 or time.monotonic() > deadline:
                _print_line("all", "Not everything ended in time and is killed; jobs that were "
                            "running are taken up a minute after the next start.")  # fmt: skip
                break
            time.sleep(0.05)
        for child in self.children:
            child.end_for_good()


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """What `manage.py serve` hands over."""
    parser = argparse.ArgumentParser(prog="config.processes")
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--address", required=True, help="what people type into the browser")
    parser.add_argument("--path-prefix", default="")
    parser.add_argument("--web-processes", type=int, required=True, help="0: no web server")
    parser.add_argument("--job-processes", type=int, required=True, help="0: no worker")
    parser.add_argument("--embedded-postgres", type=Path)
    return parser.parse_args(arguments)


def process_specs(options: argparse.Namespace) -> list[ProcessSpec]:
    """The children that the options ask for."""
    specs = []
    if options.web_processes:
        specs.append(
            web_process(
                host=options.host,
                port=options.port,
                processes=options.web_processes,
                path_prefix=options.path_prefix,
            )
        )
    if options.job_processes:
        specs.append(worker_process(processes=options.job_processes))
    return specs


def main(arguments: Sequence[str]) -> int:
    """Serve until stopped; returns the exit status."""
    options = parse_arguments(arguments)

    def announce() -> bool:
        if options.web_processes and not accepts_connections(options.host, options.port):
            return False
        if options.web_processes:
            _print_line("all", f"Dissensus is at {options.address} (Ctrl-C stops it)")
        return True

    try:
        if options.embedded_postgres is not None:
            postgres.find_or_start(options.embedded_postgres)
        return Supervisor(process_specs(options)).run(when_ready=announce)
    except postgres.EmbeddedPostgresError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    finally:
        if options.embedded_postgres is not None:
            postgres.leave(options.embedded_postgres)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

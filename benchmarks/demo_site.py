"""A running site with the demo study, in a folder of its own that is gone afterwards."""

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

ROOT = Path(__file__).resolve().parent.parent
PATIENCE_SECONDS = 90
ELSEWHERE = {"DATABASE_URL", "CELERY_BROKER_URL", "BASE_URL", "DJANGO_SETTINGS_MODULE"}


@dataclass(frozen=True)
class DemoSite:
    """Where the site is, its process, the folder it writes to, and passwords by name."""

    address: str
    pid: int
    folder: Path
    passwords: Mapping[str, str]


@contextmanager
def demo_site() -> Iterator[DemoSite]:
    """Serve the demo study, with its own PostgreSQL and worker, while the block runs."""
    with tempfile.TemporaryDirectory(prefix="dissensus-") as folder:
        environment = {name: text for name, text in os.environ.items() if name not in ELSEWHERE}
        environment |= {"DISSENSUS_VAR_DIR": folder}
        _manage(environment, "migrate", "--verbosity", "0")
        passwords = _read_logins(_manage(environment, "demo"))
        port = _find_port()
        command = [sys.executable, "manage.py", "serve", "--port", str(port)]
        server = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL)
        try:
            address = f"http://localhost:{port}"
            _wait_for(f"{address}/healthz")
            yield DemoSite(address, server.pid, Path(folder), passwords)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait()


def _manage(environment: Mapping[str, str], *arguments: str) -> str:
    command = [sys.executable, "manage.py", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    return done.stdout


def _read_logins(text: str) -> dict[str, str]:
    """Passwords by name, from the table that the demo prints."""
    return dict(re.findall(r"^  \w+ +(\w+) +(\S+)$", text, re.MULTILINE))


def _find_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def _wait_for(url: str) -> None:
    end = time.monotonic() + PATIENCE_SECONDS
    while True:
        try:
            urlopen(url, timeout=5).close()
        except (URLError, OSError):
            if time.monotonic() > end:
                raise
            time.sleep(0.2)
        else:
            return

"""The embedded server, with real processes that start together, get killed and come back."""

import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from config import postgres
from config.postgres import keeper, state
from tests.config.running import is_running

ROOT = Path(postgres.__file__).resolve().parent.parent.parent

# A user of the server: connects, says so, and stays until its standard input closes.
USER = """
import sys
from pathlib import Path
import psycopg
from config import postgres

url = postgres.ensure_server(Path(sys.argv[1]))
with psycopg.connect(url) as connection:
    connection.execute("SELECT 1")
print(url, flush=True)
sys.stdin.read()
"""

FORKING_USER = """
import os, sys, time
from pathlib import Path
from config import postgres

postgres.ensure_server(Path(sys.argv[1]))
if os.fork() == 0:
    print("forked", flush=True)
    sys.stdin.read()
os._exit(0)
"""


@pytest.fixture
def home() -> Iterator[Path]:
    """A home of its own, outside pytest's folder, whose path is long and closed to others."""
    folder = Path(tempfile.mkdtemp(prefix="embedded-"))
    yield folder / "postgres"
    wait_for(lambda: not keeper_is_there(folder / "postgres"))
    shutil.rmtree(folder)


@pytest.fixture
def start_user(home: Path) -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start a process that uses the server of `home`; all are ended after the test."""
    started: list[subprocess.Popen[str]] = []

    def start(script: str = USER, at: Path = home) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-c", script, str(at)],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        end(process)


def first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    assert line, "the process ended without a word"
    return line


def end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    process.wait()
    process.stdout.close()


def wait_for(condition: Callable[[], bool], seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in a minute"
        time.sleep(0.02)


def keeper_is_there(home: Path) -> bool:
    return home.exists() and state.is_locked(state.keeper_lock(home))


def server_pid(home: Path) -> int:
    postmaster = state.read_postmaster(home)
    assert postmaster is not None
    return postmaster.pid


def keeper_pid(home: Path) -> int:
    return int(state.keeper_lock(home).read_text())


def test_processes_that_start_together_share_one_server(home, start_user):
    users = [start_user() for _ in range(4)]

    assert len({first_line(user) for user in users}) == 1
    assert len(list(home.glob("data*"))) == 1


def test_the_server_stops_with_its_last_user_and_not_before(home, start_user):
    first, second = start_user(), start_user()
    url = first_line(first)
    first_line(second)
    pid = server_pid(home)

    end(first)
    time.sleep(3 * keeper.WATCH_SECONDS)
    with psycopg.connect(url) as connection:
        connection.execute("SELECT 1")
    end(second)

    wait_for(lambda: not is_running(pid))
    assert state.read_postmaster(home) is None


def test_the_server_stops_when_its_last_user_is_killed(home, start_user):
    users = [start_user() for _ in range(2)]
    for user in users:
        first_line(user)
    pid = server_pid(home)

    for user in users:
        user.kill()

    wait_for(lambda: not is_running(pid))


def test_a_forked_child_remains_a_user_after_its_parent_has_ended(home, start_user):
    parent = start_user(FORKING_USER)
    assert first_line(parent) == "forked"
    parent.wait()
    pid = server_pid(home)

    time.sleep(3 * keeper.WATCH_SECONDS)
    assert is_running(pid)
    end(parent)

    wait_for(lambda: not is_running(pid))


def test_data_survive_a_killed_server_and_clients_come_back_at_the_same_address(home, start_user):
    url = first_line(start_user())
    with psycopg.connect(url) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")
    killed = server_pid(home)

    os.kill(killed, signal.SIGKILL)

    wait_for(lambda: not is_running(killed))
    wait_for(lambda: state.ready_socket_directory(home) is not None)
    with psycopg.connect(url) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_data_survive_when_everything_is_killed_at_once(home, start_user):
    user = start_user()
    with psycopg.connect(first_line(user)) as connection:
        connection.execute("CREATE TABLE kept AS SELECT 42 AS answer")

    for pid in (keeper_pid(home), server_pid(home), user.pid):
        os.kill(pid, signal.SIGKILL)

    with psycopg.connect(first_line(start_user())) as connection:
        assert connection.execute("SELECT answer FROM kept").fetchone() == (42,)


def test_a_server_whose_keeper_was_killed_is_adopted_and_stopped_at_the_end(home, start_user):
    first_line(start_user())
    pid = server_pid(home)
    os.kill(keeper_pid(home), signal.SIGKILL)
    wait_for(lambda: not keeper_is_there(home))

    second = start_user()
    first_line(second)
    assert server_pid(home) == pid
    assert keeper_is_there(home)


def test_a_stale_pid_file_that_names_a_living_process_does_not_block_the_start(home, start_user):
    end_of_first = start_user()
    first_line(end_of_first)
    kept = (home / "data" / "postmaster.pid").read_text()
    end(end_of_first)
    wait_for(lambda: not keeper_is_there(home))

    stale = kept.replace(kept.splitlines()[0], str(os.getpid()), 1)
    (home / "data" / "postmaster.pid").write_text(stale)

    assert first_line(start_user()).startswith("postgresql://")


def test_leaving_waits_until_the_server_has_stopped(home):
    postgres.ensure_server(home)
    pid = server_pid(home)

    postgres.leave(home)

    assert not is_running(pid)


def test_leaving_does_not_wait_for_a_server_that_others_use(home, start_user):
    first_line(start_user())
    postgres.ensure_server(home)

    postgres.leave(home)

    assert is_running(server_pid(home))


def test_a_path_too_long_for_a_socket_gets_a_private_folder_elsewhere(home, start_user):
    deep = home.parent / ("d" * 60) / ("e" * 60) / "postgres"
    user = start_user(at=deep)
    first_line(user)

    folder = Path(state.ready_socket_directory(deep) or "")
    assert not folder.is_relative_to(deep)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700

    end(user)
    wait_for(lambda: not keeper_is_there(deep))
    assert not folder.exists()


def test_data_of_another_major_version_are_refused_and_left_alone(home):
    (home / "data").mkdir(parents=True)
    (home / "data" / "PG_VERSION").write_text("13\n")

    with pytest.raises(postgres.EmbeddedPostgresError, match="written by PostgreSQL 13"):
        postgres.ensure_server(home)

    assert [path.name for path in (home / "data").iterdir()] == ["PG_VERSION"]
    postgres.leave(home)


def test_an_interrupted_creation_leaves_nothing_in_the_way(home, start_user):
    (home / "data.partial").mkdir(parents=True)
    (home / "data.partial" / "half").write_text("made")

    first_line(start_user())

    assert not (home / "data.partial").exists()


def test_the_server_is_durable_private_and_compares_bytewise(home, start_user):
    with psycopg.connect(first_line(start_user())) as connection:
        names = ("fsync", "synchronous_commit", "full_page_writes", "listen_addresses",
                 "server_encoding")  # fmt: skip
        values = [connection.execute(f"SHOW {name}").fetchone()[0] for name in names]
        words = connection.execute(
            "SELECT array_agg(w ORDER BY w) FROM unnest(ARRAY['a', 'B', 'ä', 'Ä']) AS w"
        ).fetchone()[0]
        lowered = connection.execute("SELECT lower('ÄŽ')").fetchone()[0]

    assert values == ["on", "on", "on", "", "UTF8"]
    assert words == ["B", "a", "Ä", "ä"]
    assert lowered == "äž"
    assert stat.S_IMODE((home / "data").stat().st_mode) == 0o700


DJANGO_USER = """
import django
django.setup()
from django.db import connection
with connection.cursor() as cursor:
    cursor.execute("SELECT current_database()")
    print(*cursor.fetchone())
with connection._nodb_cursor() as cursor:
    cursor.execute("SELECT current_database()")
    print(*cursor.fetchone())
connection.close_pool()
"""


def test_django_reaches_the_server_through_its_backend(home):
    environment = os.environ | {
        "DISSENSUS_VAR_DIR": str(home.parent),
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
    }
    environment.pop("DATABASE_URL", None)

    answer = subprocess.run(
        [sys.executable, "-c", DJANGO_USER],
        cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip

    assert answer.stdout.split() == ["dissensus", "postgres"]


def test_a_server_that_cannot_run_is_an_operational_error_for_django(home, settings):
    from django.db.utils import OperationalError

    from config.database.base import DatabaseWrapper

    (home / "data").mkdir(parents=True)
    (home / "data" / "PG_VERSION").write_text("13\n")
    settings.EMBEDDED_POSTGRES_DIR = home
    connection = DatabaseWrapper({"NAME": "dissensus", "OPTIONS": {}}, alias="refused")

    with pytest.raises(OperationalError, match=r"docs/backup\.md"):
        connection.get_connection_params()
    postgres.leave(home)


def test_importing_the_settings_starts_no_server(tmp_path):
    environment = os.environ | {
        "DISSENSUS_VAR_DIR": str(tmp_path),
        "DJANGO_SETTINGS_MODULE": "config.settings.dev",
    }
    subprocess.run(
        [sys.executable, "manage.py", "check"], cwd=ROOT, env=environment, check=True,
        capture_output=True,
    )  # fmt: skip

    assert not (tmp_path / "postgres").exists()

"""The supervisor behind `manage.py serve`, with small stand-ins for its children."""

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config import processes
from tests.config.running import is_running

ROOT = Path(processes.__file__).resolve().parent.parent

STEADY = "import sys, time; print('here I am', flush=True); time.sleep(600)"
BROKEN = "raise SystemExit('no such luck')"
DEAF = (
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN);"
    "print('deaf', flush=True); time.sleep(600)"
)
WITH_A_CHILD = (
    "import subprocess, sys, time;"
    "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']);"
    "print('grandchild', p.pid, flush=True); time.sleep(600)"
)

RUN = """
import sys
from config import processes
from tests.config.running import is_running

processes.STOP_SECONDS = 1.0
processes.GIVE_UP_AFTER = 2
specs = [
    processes.ProcessSpec(name, [sys.executable, "-c", script])
    for name, script in zip(sys.argv[1::2], sys.argv[2::2])
]
sys.exit(processes.Supervisor(specs).run())
"""


@pytest.fixture
def supervise() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Run a supervisor over scripts given by name."""
    started: list[subprocess.Popen[str]] = []

    def start(**scripts: str) -> subprocess.Popen[str]:
        arguments = [part for item in scripts.items() for part in item]
        process = subprocess.Popen(
            [sys.executable, "-c", RUN, *arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def read_until(process: subprocess.Popen[str], word: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if word in line:
            return line.strip()
    raise AssertionError(f"the output ended without {word!r}")


def wait_until_gone(pid: int) -> None:
    deadline = time.monotonic() + 60
    while is_running(pid):
        assert time.monotonic() < deadline, f"process {pid} still runs after a minute"
        time.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_all_children_and_ends_well(supervise, number):
    supervisor = supervise(web=STEADY, job=STEADY)
    read_until(supervisor, "here I am")
    read_until(supervisor, "here I am")

    supervisor.send_signal(number)

    assert supervisor.wait(60) == 0


def test_lines_bear_the_name_of_the_child(supervise):
    supervisor = supervise(web=STEADY)

    assert read_until(supervisor, "here I am") == "web  | here I am"


def test_a_child_that_does_not_listen_is_killed(supervise):
    supervisor = supervise(web=DEAF)
    read_until(supervisor, "deaf")

    supervisor.terminate()

    assert "killed" in read_until(supervisor, "Not everything ended")
    assert supervisor.wait(60) == 0


def test_what_a_child_started_is_ended_with_it(supervise):
    supervisor = supervise(web=WITH_A_CHILD)
    grandchild = int(read_until(supervisor, "grandchild").split()[-1])

    supervisor.terminate()
    supervisor.wait(60)

    wait_until_gone(grandchild)


def test_a_child_that_was_killed_is_started_again(supervise):
    supervisor = supervise(web="import os; print('id', os.getpid(), flush=True);" + STEADY)
    first = int(read_until(supervisor, "id").split()[-1])

    os.kill(first, signal.SIGKILL)

    assert "starting it again" in read_until(supervisor, "ended with status -9")
    assert int(read_until(supervisor, "id").split()[-1]) != first


def test_a_child_that_cannot_run_ends_all_with_its_words(supervise):
    supervisor = supervise(web=BROKEN, job=STEADY)

    assert read_until(supervisor, "no such luck").startswith("web  |")
    assert "Stopping everything" in read_until(supervisor, "right after its start")
    assert supervisor.wait(60) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux ends orphans")
def test_children_end_when_the_supervisor_is_killed(supervise):
    supervisor = supervise(web="import os; print('id', os.getpid(), flush=True);" + STEADY)
    child = int(read_until(supervisor, "id").split()[-1])

    supervisor.kill()

    wait_until_gone(child)


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        yield listener.getsockname()[1]


def test_a_taken_port_is_one_clear_error_before_anything_starts(taken_port):
    with pytest.raises(CommandError, match=f"Port {taken_port} on 127.0.0.1 cannot be used"):
        call_command("serve", "--port", str(taken_port))


def test_an_unknown_host_is_named():
    with pytest.raises(CommandError, match=r"host 'no\.such\.host\.invalid' is not known"):
        call_command("serve", "--host", "no.such.host.invalid")


@pytest.mark.parametrize(
    "arguments", [["--port", "0"], ["--port", "70000"], ["--web-processes", "0"]]
)
def test_numbers_that_make_no_sense_are_refused(arguments):
    with pytest.raises(CommandError, match="must") as refused:
        call_command("serve", *arguments)
    assert refused.value.returncode == 2


def arguments_for(*serve_arguments: str) -> list[str]:
    from config.management.commands import serve

    options = serve.Command().create_parser("manage.py", "serve").parse_args(serve_arguments)
    return serve.program(vars(options))[3:]


@pytest.mark.parametrize(
    ("serve_arguments", "children"),
    [([], ["web", "job"]), (["--web-only"], ["web"]), (["--worker-only"], ["job"])],
)
def test_the_options_choose_the_children(serve_arguments, children):
    options = processes.parse_arguments(arguments_for(*serve_arguments))

    assert [spec.name for spec in processes.process_specs(options)] == children


def test_the_database_of_the_settings_decides_whether_a_server_is_kept(settings):
    settings.DATABASES["default"]["ENGINE"] = "config.database"
    assert "--embedded-postgres" in arguments_for()

    settings.DATABASES["default"]["ENGINE"] = "django.db.backends.postgresql"
    assert "--embedded-postgres" not in arguments_for()


def test_a_path_prefix_reaches_the_web_server(settings):
    from config.env import parse_base_url

    settings.BASE_URL = parse_base_url("https://example.org/judge")
    options = processes.parse_arguments(arguments_for("--web-only"))

    command = processes.process_specs(options)[0].command
    assert command[command.index("--url-path-prefix") + 1] == "/judge"


@pytest.mark.parametrize(
    ("base_url", "expected"),
    [("", "http://localhost:8123/"), ("https://example.org/judge", "https://example.org/judge/")],
)
def test_without_a_base_url_the_address_is_that_of_the_port(
    settings, monkeypatch, base_url, expected
):
    from config.env import parse_base_url
    from config.management.commands import serve

    became = []
    monkeypatch.setattr(serve.os, "execve", lambda *arguments: became.append(arguments))
    monkeypatch.setattr(serve.processes, "check_port_is_free", lambda *_: None)
    monkeypatch.setenv("BASE_URL", base_url)
    settings.BASE_URL = parse_base_url(base_url or "http://localhost:8000")

    call_command("serve", "--port", "8123")

    (_, _, environment) = became.pop()
    assert environment["BASE_URL"] == expected

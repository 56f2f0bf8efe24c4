"""The files for containers, checked without containers."""

import http.client
import os
import re
import shlex
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import psycopg
import pytest
import yaml
from django.core.management import get_commands, load_command_class

ROOT = Path(__file__).resolve().parent.parent.parent
OURS = ("migrate", "web", "worker")


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def known_variables() -> set[str]:
    """Every variable that the settings read."""
    sources = [ROOT / "config" / "env.py", *(ROOT / "config" / "settings").glob("*.py")]
    text = "\n".join(path.read_text() for path in sources)
    return set(re.findall(r'read\w*\(\s*"([A-Z][A-Z_]+)"', text)) | {"DJANGO_SETTINGS_MODULE"}


def parse_manage_command(command: str) -> None:
    """Raises if this is no command of ours, or one with options it does not have."""
    program, script, name, *arguments = shlex.split(command)
    assert (program, script) == ("python", "manage.py")
    loaded = load_command_class(get_commands()[name], name)
    loaded.create_parser("manage.py", name).parse_args(arguments)


def test_the_services_are_those_of_the_design(compose):
    assert set(compose["services"]) == {*OURS, "postgres", "redis"}


@pytest.mark.parametrize("service", OURS)
def test_each_service_runs_a_command_that_exists(compose, service):
    parse_manage_command(compose["services"][service]["command"])


@pytest.mark.parametrize("service", OURS)
def test_each_service_names_only_variables_that_the_settings_read(compose, service):
    assert set(compose["services"][service]["environment"]) <= known_variables()


def test_production_gets_all_it_refuses_to_start_without(compose):
    required = {"DISSENSUS_SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "BASE_URL"}

    assert required <= set(compose["services"]["web"]["environment"])


def test_no_secret_has_a_default(compose):
    text = (ROOT / "docker-compose.yml").read_text()
    for name in ("DISSENSUS_SECRET_KEY", "POSTGRES_PASSWORD", "BASE_URL"):
        uses = re.findall(rf"\$\{{{name}([^}}]*)\}}", text)
        assert uses
        assert all(use.startswith(":?") for use in uses)


def test_every_volume_and_every_service_waited_for_is_declared(compose):
    for service in compose["services"].values():
        assert set(service.get("depends_on", {})) <= set(compose["services"])
        for volume in service.get("volumes", []):
            assert volume.split(":")[0] in compose["volumes"]


def test_web_and_worker_start_after_the_migrations_and_are_scaled(compose):
    for name in ("web", "worker"):
        service = compose["services"][name]
        assert service["depends_on"]["migrate"]["condition"] == "service_completed_successfully"
        assert service["deploy"]["replicas"] > 1


def test_the_published_port_is_the_one_that_the_web_server_listens_on(compose):
    web = compose["services"]["web"]
    port = shlex.split(web["command"])[shlex.split(web["command"]).index("--port") + 1]

    assert web["ports"][0].endswith(f":{port}")
    assert web["healthcheck"]["test"][-1] == port


def test_the_image_runs_as_an_ordinary_user_with_the_locked_packages():
    dockerfile = (ROOT / "Dockerfile").read_text()

    assert "--require-hashes -r requirements.lock" in dockerfile
    last_user = re.findall(r"^USER (\S+)", dockerfile, re.MULTILINE)[-1]
    assert last_user not in {"root", "0"}
    command = re.search(r"^CMD (\[.*\])", dockerfile, re.MULTILINE)
    assert command is not None
    parse_manage_command(shlex.join(yaml.safe_load(command[1])))


def test_the_image_does_not_carry_what_was_written_here():
    ignored = (ROOT / ".dockerignore").read_text().split()

    assert {"var", ".*"} <= set(ignored)


@pytest.fixture
def own_database() -> Iterator[str]:
    """A database of its own on the test server."""
    parts = urlsplit(os.environ["DISSENSUS_TEST_DATABASE_URL"])
    name = f"dissensus_compose_{os.getpid()}"
    with psycopg.connect(urlunsplit(parts), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield urlunsplit(parts._replace(path=f"/{name}"))
    with psycopg.connect(urlunsplit(parts), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def health(port: int) -> int | None:
    connection = http.client.HTTPConnection("localhost", port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status
    except OSError:
        return None
    finally:
        connection.close()


@pytest.mark.server
@pytest.mark.redis
def test_the_same_commands_serve_without_containers(compose, own_database, tmp_path):
    port = free_port()
    broker = urlsplit(os.environ["DISSENSUS_TEST_REDIS_URL"])._replace(path="/9")
    environment = os.environ | {
        "DJANGO_SETTINGS_MODULE": "config.settings.prod",
        "DISSENSUS_SECRET_KEY": "only-for-this-test-" + "0123456789abcdef" * 3,
        "DATABASE_URL": own_database,
        "CELERY_BROKER_URL": urlunsplit(broker),
        "BASE_URL": f"http://localhost:{port}",
        "DISSENSUS_VAR_DIR": str(tmp_path),
        "DISSENSUS_MEDIA_DIR": str(tmp_path / "media"),
    }

    def command(service: str) -> list[str]:
        words = shlex.split(compose["services"][service]["command"])[1:]
        return [sys.executable, *(str(port) if word == "8000" else word for word in words)]

    def manage(*arguments: str) -> None:
        subprocess.run([sys.executable, *arguments], cwd=ROOT, env=environment, check=True,
                       capture_output=True)  # fmt: skip

    subprocess.run(command("migrate"), cwd=ROOT, env=environment, check=True, capture_output=True)
    logs = [(tmp_path / name).open("w") for name in ("web.log", "worker.log")]
    servers = [
        subprocess.Popen(command(name), cwd=ROOT, env=environment, stdout=log, stderr=log)
        for name, log in zip(("web", "worker"), logs, strict=True)
    ]
    try:
        deadline = time.monotonic() + 60
        while health(port) != 200:
            assert time.monotonic() < deadline, (tmp_path / "web.log").read_text()
            time.sleep(0.2)
        manage("-m", "config.healthcheck", "--port", str(port))
        while "ready." not in (tmp_path / "worker.log").read_text():
            assert time.monotonic() < deadline, (tmp_path / "worker.log").read_text()
            time.sleep(0.2)
        manage("-m", "celery", "--app", "config", "inspect", "ping", "--timeout", "10")
    finally:
        for server in servers:
            server.terminate()
        statuses = [server.wait(60) for server in servers]
        for log in logs:
            log.close()
    assert statuses == [0, 0]
    assert not (tmp_path / "postgres").exists()

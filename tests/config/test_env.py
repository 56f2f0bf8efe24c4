"""Environment readers refuse a bad value by name, and production refuses to start without."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from config import env
from config.secrets import keep_secret
from tests.conftest import ROOT

PRODUCTION = {
    "DJANGO_SETTINGS_MODULE": "config.settings.prod",
    "DISSENSUS_SECRET_KEY": "x" * 50,
    "DATABASE_URL": "postgresql://app:secret@db.example.org/dissensus",
    "CELERY_BROKER_URL": "redis://broker.example.org/0",
    "BASE_URL": "https://judge.example.org/tools",
}


@pytest.mark.parametrize(
    ("reader", "value"),
    [
        (env.read_bool, "perhaps"),
        (env.read_int, "many"),
        (env.read_int, "-1"),
        (lambda name: env.read(name, env.parse_base_url), "judge.example.org"),
        (lambda name: env.read(name, env.parse_base_url), "https://u:p@example.org"),
        (lambda name: env.read(name, env.parse_database_url), "sqlite:///here"),
        (lambda name: env.read(name, env.parse_database_url), "postgresql://host/"),
        (env.read_secret, "short"),
    ],
)
def test_bad_value_is_refused_by_name(
    monkeypatch: pytest.MonkeyPatch, reader: object, value: str
) -> None:
    monkeypatch.setenv("SOME_VARIABLE", value)
    with pytest.raises(env.SettingError, match="SOME_VARIABLE"):
        reader("SOME_VARIABLE")  # type: ignore[operator]  # readers of several types


def test_secret_never_appears_in_its_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_SECRET", "hunter2")
    with pytest.raises(env.SettingError) as error:
        env.read_secret("A_SECRET")
    assert "hunter2" not in str(error.value)


def test_base_url_gives_host_origin_and_prefix() -> None:
    url = env.parse_base_url("https://judge.example.org:8443/tools/")
    assert (url.host, url.origin, url.path_prefix, url.is_secure) == (
        "judge.example.org",
        "https://judge.example.org:8443",
        "/tools",
        True,
    )


def test_database_url_is_read_with_quoted_parts_and_options() -> None:
    parsed = env.parse_database_url("postgresql://a%40b:p%2Fw@h:6543/db?sslmode=require")
    assert (parsed["USER"], parsed["PASSWORD"], parsed["PORT"]) == ("a@b", "p/w", "6543")
    assert parsed["OPTIONS"] == {"sslmode": "require"}


ASK_FOR_REDIRECTS = """
import django
django.setup()
from django.middleware.security import SecurityMiddleware
from django.test import RequestFactory
redirect = SecurityMiddleware(lambda request: None).process_request
for path in ("/healthz", "/login/", "/not-healthz"):
    request = RequestFactory().get(path, headers={"host": "judge.example.org"})
    print(request.path, redirect(request) is not None)
"""


def start_production(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if name in {"PATH", "HOME"}}
    return subprocess.run(
        [sys.executable, *(arguments or ("manage.py", "check"))],
        cwd=ROOT,
        env=clean | PRODUCTION | changes,
        capture_output=True,
        text=True,
        check=False,
    )


def test_production_starts_with_everything_set() -> None:
    assert start_production().returncode == 0


@pytest.mark.parametrize("prefix", ["", "/tools"])
def test_only_the_health_address_is_answered_without_tls(prefix: str) -> None:
    base_url = f"https://judge.example.org{prefix}"
    done = start_production("-c", ASK_FOR_REDIRECTS, BASE_URL=base_url)
    assert done.stdout.splitlines() == [
        f"{prefix}/healthz False",
        f"{prefix}/login/ True",
        f"{prefix}/not-healthz True",
    ]


@pytest.mark.parametrize(
    "name", ["DISSENSUS_SECRET_KEY", "DATABASE_URL", "CELERY_BROKER_URL", "BASE_URL"]
)
def test_production_refuses_to_start_without(name: str) -> None:
    done = start_production(**{name: ""})
    assert done.returncode != 0
    assert name in done.stderr


def test_kept_secret_is_private_and_stays_the_same(tmp_path: Path) -> None:
    path = tmp_path / "private" / "key"
    first = keep_secret(path)
    assert keep_secret(path) == first
    assert len(first) >= 50
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0

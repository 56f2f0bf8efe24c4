"""The commands of the Makefile, as far as they can be tried without a network."""

import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

RECORDING_PYTHON = """#!/bin/sh
echo "$@" >> "$(dirname "$0")/../../calls"
case "$*" in *"{fails}"*) exit 1;; esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with lock files and an environment whose python only notes what it is told."""
    (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text())
    (tmp_path / "requirements.lock").write_text("runtime\n")
    (tmp_path / "requirements-dev.lock").write_text("everything\n")
    put_python(tmp_path)
    return tmp_path


def put_python(checkout: Path, fails: str = "nothing does") -> None:
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True, exist_ok=True)
    python.write_text(RECORDING_PYTHON.format(fails=fails))
    python.chmod(0o755)


def make(checkout: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", *arguments], cwd=checkout, env=environment, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


def calls(checkout: Path) -> list[str]:
    notes = checkout / "calls"
    lines = notes.read_text().splitlines() if notes.exists() else []
    notes.unlink(missing_ok=True)
    return [line for line in lines if "--version" not in line]


def installs(checkout: Path) -> list[str]:
    return [line.split()[-1] for line in calls(checkout) if " install " in line]


def test_help_names_every_command(checkout):
    answer = make(checkout).stdout

    for command in ("help", "install", "run", "test", "lint", "bench", "screenshots", "lock"):
        assert f"make {command} " in answer


def test_packages_are_installed_once_and_again_when_the_lock_changes(checkout):
    make(checkout, "install")
    assert installs(checkout) == ["requirements.lock"]

    make(checkout, "install")
    assert installs(checkout) == []

    (checkout / "requirements.lock").write_text("newer\n")
    make(checkout, "install")
    assert installs(checkout) == ["requirements.lock"]


def test_an_environment_for_development_serves_for_running(checkout):
    make(checkout, "install-dev")
    assert installs(checkout) == ["requirements-dev.lock"]

    make(checkout, "install")
    assert installs(checkout) == []


def test_a_failed_installation_is_told_and_tried_again(checkout):
    put_python(checkout, fails=" install ")
    failed = make(checkout, "install")
    assert failed.returncode != 0
    assert "could not be installed" in failed.stderr
    calls(checkout)

    put_python(checkout)
    assert make(checkout, "install").returncode == 0
    assert installs(checkout) == ["requirements.lock"]


def test_run_migrates_loads_the_demo_and_serves_on_the_port(checkout):
    make(checkout, "install")
    calls(checkout)

    make(checkout, "run", "PORT=8123")

    assert [line.split()[1] for line in calls(checkout)] == ["serve", "migrate", "demo", "serve"]


def test_run_stops_at_a_taken_port_before_anything_is_changed(checkout):
    put_python(checkout, fails="--check-port")

    assert make(checkout, "run").returncode != 0
    assert not [line for line in calls(checkout) if "migrate" in line]


def test_a_machine_without_a_fitting_python_is_told_what_to_install(checkout):
    (checkout / ".venv" / "bin" / "python").unlink()

    answer = make(checkout, "install", "PYTHON_CANDIDATES=false")

    assert answer.returncode != 0
    assert "No Python 3.11, 3.12 or 3.13" in answer.stderr

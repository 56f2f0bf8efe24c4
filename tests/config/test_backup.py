"""Backups and their restoration, in an installation of its own."""

import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from config import postgres

ROOT = Path(postgres.__file__).resolve().parent.parent.parent
Manage = Callable[..., str]


@pytest.fixture
def manage() -> Iterator[Manage]:
    """Run manage.py commands in an installation of its own, whose server runs all the while."""
    with tempfile.TemporaryDirectory(prefix="backup-", ignore_cleanup_errors=True) as folder:
        environment = os.environ | {
            "DISSENSUS_VAR_DIR": folder,
            "DJANGO_SETTINGS_MODULE": "config.settings.dev",
        }
        environment.pop("DATABASE_URL", None)
        home = Path(folder) / "postgres"
        postgres.ensure_server(home)

        def run(*arguments: str) -> str:
            answer = subprocess.run(
                [sys.executable, "manage.py", *arguments],
                cwd=ROOT, env=environment, capture_output=True, text=True, check=True,
            )  # fmt: skip
            return answer.stdout

        run("migrate", "--verbosity", "0")
        yield run
        postgres.leave(home)


def count_users(manage: Manage) -> int:
    code = "from studies.models import User; print('users', User.objects.count())"
    return int(manage("shell", "--verbosity", "0", "-c", code).split()[-1])


def add_user(manage: Manage, name: str) -> None:
    manage(
        "shell", "-c", f"from studies.models import User; User.objects.create(username='{name}')"
    )


def test_a_restored_backup_holds_what_was_there_and_not_what_came_later(manage, tmp_path):
    add_user(manage, "anna")
    manage("backup", str(tmp_path / "kept.dump"))
    add_user(manage, "ben")

    manage("restore", str(tmp_path / "kept.dump"), "--replace")

    assert count_users(manage) == 1
    assert stat.S_IMODE((tmp_path / "kept.dump").stat().st_mode) == 0o600


def test_a_broken_backup_changes_nothing(manage, tmp_path):
    add_user(manage, "anna")
    (tmp_path / "broken.dump").write_bytes(b"no backup at all")

    with pytest.raises(subprocess.CalledProcessError) as caught:
        manage("restore", str(tmp_path / "broken.dump"), "--replace")

    assert "pg_restore failed" in caught.value.stderr
    assert count_users(manage) == 1


def test_an_existing_file_is_never_overwritten(tmp_path):
    (tmp_path / "kept.dump").write_text("precious")

    with pytest.raises(CommandError, match="was kept"):
        call_command("backup", str(tmp_path / "kept.dump"))

    assert (tmp_path / "kept.dump").read_text() == "precious"


def test_restoring_asks_for_consent(tmp_path):
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", str(tmp_path / "any.dump"))

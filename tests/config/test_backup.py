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


@pytest.fixture(scope="module")
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


def run_sql(manage: Manage, statement: str) -> None:
    code = f"from django.db import connection; connection.cursor().execute({statement!r})"
    manage("shell", "--verbosity", "0", "-c", code)


def test_a_restored_backup_holds_what_was_there_and_not_what_came_later(manage, tmp_path):
    before = count_users(manage)
    manage("backup", str(tmp_path / "kept.dump"))
    add_user(manage, "came_later")
    run_sql(manage, "CREATE TABLE made_later AS SELECT 1 AS one")

    manage("restore", str(tmp_path / "kept.dump"), "--replace")

    assert count_users(manage) == before
    run_sql(manage, "CREATE TABLE made_later AS SELECT 2 AS two")
    assert stat.S_IMODE((tmp_path / "kept.dump").stat().st_mode) == 0o600


def test_a_backup_cut_short_changes_nothing(manage, tmp_path):
    add_user(manage, "was_there")
    before = count_users(manage)
    manage("backup", str(tmp_path / "whole.dump"))
    whole = (tmp_path / "whole.dump").read_bytes()
    (tmp_path / "cut-short.dump").write_bytes(whole[: len(whole) * 3 // 4])

    with pytest.raises(subprocess.CalledProcessError) as caught:
        manage("restore", str(tmp_path / "cut-short.dump"), "--replace")

    assert "pg_restore failed" in caught.value.stderr
    assert count_users(manage) == before


def test_an_existing_file_is_never_overwritten(tmp_path):
    (tmp_path / "kept.dump").write_text("precious")

    with pytest.raises(CommandError, match="was kept"):
        call_command("backup", str(tmp_path / "kept.dump"))

    assert (tmp_path / "kept.dump").read_text() == "precious"


def test_restoring_asks_for_consent(tmp_path):
    with pytest.raises(CommandError, match="--replace"):
        call_command("restore", str(tmp_path / "any.dump"))

"""Backups of the whole database with PostgreSQL's own programs, while people go on working."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from config import postgres

EMPTY_THE_DATABASE = "DROP SCHEMA public CASCADE; CREATE SCHEMA public"


class BackupError(Exception):
    """A backup or a restoration failed; the message says why and what was kept."""


def make_backup(path: Path) -> None:
    """Write the database as it is at this moment to `path`, in pg_dump's custom format.

    The file appears whole or not at all, readable by its owner only. Raises BackupError if it
    exists already or pg_dump fails.
    """
    if path.exists():
        raise BackupError(f"{path} exists already and was kept. Choose another name.")
    partial = path.with_name(f"{path.name}.partial")
    try:
        partial.touch(mode=0o600)
        options = ["--format=custom", "--no-owner", "--file", str(partial)]
        _run("pg_dump", *_connection_options(), *options)
        partial.rename(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)


def restore_backup(path: Path) -> None:
    """Make the database what `path` holds, and nothing else, in one transaction.

    Raises BackupError if the file cannot be read or applied; the database is then as it was.
    """
    if not path.is_file():
        raise BackupError(f"{path} is no file. Nothing was changed.")
    with tempfile.TemporaryDirectory() as folder:
        # Read to its end before anything is applied: a file cut short must not be half applied.
        script = Path(folder) / "restore.sql"
        _run("pg_restore", "--no-owner", "--file", str(script), str(path))
        statements = ["--command", EMPTY_THE_DATABASE, "--file", str(script)]
        options = ["--no-psqlrc", "--quiet", "--single-transaction", "--set", "ON_ERROR_STOP=1"]
        _run("psql", *_connection_options(), *options, *statements)


def _connection_options() -> list[str]:
    """Options by which every program of PostgreSQL finds the server; starts the embedded one."""
    parameters = connection.get_connection_params()
    names = {"host": "--host", "port": "--port", "user": "--username", "dbname": "--dbname"}
    return [f"{option}={parameters[name]}" for name, option in names.items() if name in parameters]


def _run(program: str, *arguments: str) -> None:
    _, environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    answer = subprocess.run(
        [_find(program), *arguments],
        env=os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    if answer.returncode != 0:
        raise BackupError(f"{program} failed; the database was not changed.\n{answer.stderr}")


def _find(program: str) -> str:
    """The program that fits the server: the embedded server's own, else the machine's."""
    if connection.settings_dict["ENGINE"] == "config.database":
        return str(postgres.programs_directory() / program)
    found = shutil.which(program)
    if found is None:
        raise BackupError(
            f"{program} was not found. Install PostgreSQL's client programs, of the server's "
            "major version or later."
        )
    return found

"""Backups of the whole database with PostgreSQL's own programs, while people go on working."""

import os
import shutil
import subprocess
from pathlib import Path

from django.db import connection
from django.db.backends.postgresql.client import DatabaseClient

from config import postgres


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
        _run("pg_dump", "--format=custom", "--no-owner", "--file", str(partial))
        partial.rename(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror}.") from error
    finally:
        partial.unlink(missing_ok=True)


def restore_backup(path: Path) -> None:
    """Put the database back as `path` has it, in one transaction: all of it or no change.

    Raises BackupError if pg_restore fails.
    """
    if not path.is_file():
        raise BackupError(f"{path} is no file. Nothing was changed.")
    options = ("--clean", "--if-exists", "--no-owner", "--single-transaction", "--exit-on-error")
    _run("pg_restore", *options, str(path), database_option=True)


def _run(program: str, *arguments: str, database_option: bool = False) -> None:
    parameters = connection.get_connection_params()  # starts the embedded server
    options, environment = DatabaseClient.settings_to_cmd_args_env(connection.settings_dict, [])
    options = [option for option in options[1:] if option != parameters["dbname"]]
    database = ["--dbname", parameters["dbname"]] if database_option else []
    target = [] if database_option else [parameters["dbname"]]
    answer = subprocess.run(  # noqa: S603
        [_find(program), *options, *database, *arguments, *target],
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

"""The cluster on disk: made whole or not at all, checked, and given its settings."""

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from config.postgres.account import Account
from config.postgres.state import (
    DATABASE,
    PORT,
    SUPERUSER,
    KeeperError,
    data_directory,
    read_postmaster,
)

# A socket's path must fit into 104 bytes on macOS, 108 on Linux.
SOCKET_PATH_LIMIT = 100

SERVER_SETTINGS = {
    "listen_addresses": "",
    "port": str(PORT),
    "unix_socket_permissions": "0700",
    "max_connections": "200",
    "fsync": "on",
    "synchronous_commit": "on",
    "full_page_writes": "on",
    "shared_buffers": "48MB",
    "io_method": "sync",
    "wal_level": "minimal",
    "max_wal_senders": "0",
    "max_logical_replication_workers": "0",
    "jit": "off",
    "timezone": "UTC",
    "log_timezone": "UTC",
    "log_checkpoints": "off",
    "log_line_prefix": "%m [%p] ",
}


def make_cluster(home: Path, programs: Path, account: Account) -> None:
    """Make the cluster aside and move it into place whole: a killed attempt leaves nothing.

    Raises KeeperError with the words of the program that failed.
    """
    partial = home / "data.partial"
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(mode=0o700)
    account.own(partial)
    initdb = [str(programs / "initdb"), "-D", str(partial), "-U", SUPERUSER, "--auth=trust"]
    # Bytewise comparison everywhere, with Unicode's upper and lower case.
    collation = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
    _run(account, [*initdb, "--encoding=UTF8", *collation, "--no-instructions"])
    single = [str(programs / "postgres"), "--single", "-D", str(partial), SUPERUSER]
    _run(account, single, statement=f"CREATE DATABASE {DATABASE}\n")
    partial.rename(data_directory(home))


def _run(account: Account, command: list[str], *, statement: str = "") -> None:
    process = account.popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    output, _ = process.communicate(statement.encode())
    if process.returncode != 0:
        raise KeeperError(
            "The database cluster could not be made; nothing was kept of the attempt. "
            f"{Path(command[0]).name} said:\n{output.decode(errors='replace').strip()}"
        )


def check_version(home: Path, programs: Path) -> None:
    """Raise KeeperError unless the cluster was written by the major version that we bring."""
    version_file = data_directory(home) / "PG_VERSION"
    found = version_file.read_text().strip() if version_file.exists() else "unknown"
    ask = [str(programs / "postgres"), "--version"]
    answer = subprocess.run(ask, capture_output=True, check=True)
    ours = answer.stdout.decode().split()[-1].split(".")[0]
    if found != ours:
        raise KeeperError(
            f"The data in {home} were written by PostgreSQL {found}, and this installation "
            f"brings PostgreSQL {ours}. Nothing was changed. Make a backup with the release that "
            "wrote them, move the folder away and restore the backup here (docs/backup.md)."
        )


def server_command(home: Path, programs: Path, socket_directory: str) -> list[str]:
    """The command line that runs the cluster's server in the foreground."""
    settings = SERVER_SETTINGS | {"unix_socket_directories": socket_directory}
    options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
    return [str(programs / "postgres"), "-D", str(data_directory(home)), *options]


def forget_dead_server(home: Path, socket_directory: str) -> None:
    """Remove what a killed server left: PostgreSQL believes it while any process bears its id.

    Call this only when no server runs on the cluster.
    """
    (data_directory(home) / "postmaster.pid").unlink(missing_ok=True)
    for name in (f".s.PGSQL.{PORT}.lock", f".s.PGSQL.{PORT}"):
        (Path(socket_directory) / name).unlink(missing_ok=True)


def choose_socket_directory(home: Path, account: Account) -> str:
    """A folder of mode 0700 for the socket: `HOME/run`, or a short one in the temporary folder.

    After a crash the old server's folder is used again, so that clients that know it recover.
    """
    crashed = read_postmaster(home)
    if crashed is not None and crashed.data == str(data_directory(home)):
        folder = Path(crashed.socket_directory)
        owner = os.geteuid() if account.uid is None else account.uid
        if folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == owner:
            return str(folder)
    folder = home / "run"
    if _fits(str(folder)):
        folder.mkdir(mode=0o700, exist_ok=True)
    else:
        inherited = tempfile.gettempdir()
        # A socket's path is short or nothing.
        base = inherited if _fits(f"{inherited}/dissensus-12345678") else "/tmp"  # noqa: S108
        folder = Path(tempfile.mkdtemp(prefix="dissensus-", dir=base))
    account.own(folder)
    return str(folder)


def _fits(directory: str) -> bool:
    return len(os.fsencode(f"{directory}/.s.PGSQL.{PORT}.lock")) <= SOCKET_PATH_LIMIT

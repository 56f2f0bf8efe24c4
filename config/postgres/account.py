"""Whom the embedded server runs as, and what that account must be able to reach.

PostgreSQL refuses to run as root. Started by root, the server runs as an ordinary account, which
must be able to walk to its data and its programs: the folders above them get the right to be
passed through (`o+x`), not to be listed. Secrets do not belong there: they lie beside the
server's home, in `var/private`, which only their owner can enter.
"""

import os
import shutil
import stat
import subprocess
import time
from pathlib import Path
from typing import IO, NamedTuple

from config.postgres.state import KeeperError, data_directory

ROOT_RUNS_SERVER_AS = "dissensus"


class Account(NamedTuple):
    """The account that the server runs as; None means our own."""

    uid: int | None
    gid: int | None

    def own(self, path: Path) -> None:
        """Hand a path to this account, if it is not our own."""
        if self.uid is not None and self.gid is not None:
            os.chown(path, self.uid, self.gid)

    def popen(
        self, command: list[str], *, stdin: int, stdout: int | IO[bytes]
    ) -> subprocess.Popen[bytes]:
        """Start a program as this account, in a place that it may enter."""
        return subprocess.Popen(
            command,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={"PATH": os.defpath, "LC_ALL": "C", "TZ": "UTC"},
            user=self.uid,
            group=self.gid,
            extra_groups=None if self.uid is None else [],
        )


def server_account(home: Path) -> Account:
    """Our own account, or for root an ordinary one: the data's owner, else a system account.

    Raises KeeperError if the data belong to somebody else or no account can be made.
    """
    data = data_directory(home)
    owner = data.stat() if data.exists() else None
    if os.geteuid() != 0:
        if owner is not None and owner.st_uid != os.geteuid():
            raise KeeperError(
                f"The data in {data} belong to another account (uid {owner.st_uid}). Nothing was "
                "changed. Run the command as that account, or set DISSENSUS_VAR_DIR to a folder "
                "of your own."
            )
        return Account(None, None)
    if owner is not None and owner.st_uid != 0:
        return Account(owner.st_uid, owner.st_gid)
    return _system_account()


def _system_account() -> Account:
    import pwd

    for _ in range(20):  # another process may be changing the list of accounts
        try:
            entry = pwd.getpwnam(ROOT_RUNS_SERVER_AS)
        except KeyError:
            _add_system_account()
            time.sleep(0.1)
        else:
            return Account(entry.pw_uid, entry.pw_gid)
    raise KeeperError(
        f"PostgreSQL refuses to run as root, and the account {ROOT_RUNS_SERVER_AS!r} for it could "
        "not be made. Run Dissensus as an ordinary user, or set DATABASE_URL to a server."
    )


def _add_system_account() -> None:
    useradd = shutil.which("useradd", path=f"{os.defpath}:/usr/sbin:/sbin")
    if useradd is not None:
        options = ["--system", "--user-group", "--no-create-home", "--shell", "/usr/sbin/nologin"]
        command = [useradd, *options, ROOT_RUNS_SERVER_AS]
        subprocess.run(command, capture_output=True, check=False)


def let_pass(path: Path) -> None:
    """Let other accounts walk through a folder and all folders above it."""
    for folder in (path, *path.parents):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def let_programs_be_run(programs: Path) -> None:
    """Open the wheel's own files to the server's account where a strict umask closed them."""
    mode = (programs / "postgres").stat().st_mode
    if mode & stat.S_IROTH and mode & stat.S_IXOTH:
        return
    package = programs.parent.parent
    for root in (programs.parent, package.parent / f"{package.name}.libs"):
        for path in (root, *root.rglob("*")):
            mode = stat.S_IMODE(path.stat().st_mode)
            wanted = stat.S_IROTH | (stat.S_IXOTH if mode & stat.S_IXUSR else 0)
            path.chmod(mode | wanted)

"""The keeper: one small process that starts, watches and stops the embedded PostgreSQL.

Run by path with a bare interpreter (`python -I -S postgres_keeper.py HOME BIN`), so it imports
the standard library only and costs a few megabytes. POSIX only.

Every process that uses the server holds a shared `flock` on `HOME/users.lock`; the keeper holds
`HOME/keeper.lock`. The kernel drops both locks when a process ends in any way, kill -9 included,
and a forked child keeps its parent's. A list of process ids knows neither. The keeper therefore

- starts the server, or adopts one whose keeper was killed;
- starts it again when it dies while somebody uses it;
- stops it as soon as it can take `users.lock` for itself alone.

Layout of HOME: `data/` (the cluster), `run/` (the socket, unless its path would be too long),
`users.lock`, `keeper.lock`, and the server's log in `../log/postgres.log`.

Run by root, the server itself runs as an ordinary account, because PostgreSQL refuses root.
That account must be able to walk to its data and its programs, so the folders above them get the
right to be passed through (`o+x`, not to be listed). Secrets do not belong under HOME: they live
beside it, in files that only their owner can read.
"""

import contextlib
import fcntl
import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, NamedTuple

SUPERUSER = "postgres"
DATABASE = "dissensus"
PORT = 5432  # only names the socket file: the server listens on no network address
ROOT_RUNS_SERVER_AS = "dissensus"

EXIT_REFUSED = 1
EXIT_ANOTHER_KEEPER = 75

WATCH_SECONDS = 0.2
START_SECONDS = 120.0
STOP_SECONDS = 30.0
LOG_LIMIT_BYTES = 10_000_000

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


class KeeperError(Exception):
    """The server cannot run; the message says why and what to do."""


class Postmaster(NamedTuple):
    """What a cluster's postmaster.pid says. `ready` is the server's own word."""

    pid: int
    data: str
    socket_directory: str
    ready: bool


def data_directory(home: Path) -> Path:
    """The cluster inside the embedded server's home."""
    return home / "data"


def log_file(home: Path) -> Path:
    """Where the server writes its messages."""
    return home.parent / "log" / "postgres.log"


def read_postmaster(home: Path) -> Postmaster | None:
    """What postmaster.pid says now, or None without one (or with one half written)."""
    try:
        lines = (data_directory(home) / "postmaster.pid").read_text().splitlines()
    except FileNotFoundError:
        return None
    if len(lines) < 5 or not lines[0].strip().isdigit():
        return None
    status = lines[7].strip() if len(lines) > 7 else ""
    return Postmaster(int(lines[0]), lines[1].strip(), lines[4].strip(), status == "ready")


def ready_socket_directory(home: Path) -> str | None:
    """The socket's folder, if a server is up and accepts connections there, else None."""
    postmaster = read_postmaster(home)
    if postmaster is None or not postmaster.ready:
        return None
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(f"{postmaster.socket_directory}/.s.PGSQL.{PORT}")
        except OSError:
            return None
    return postmaster.socket_directory


def open_lock(path: Path) -> int:
    """A descriptor of a lock file, made if missing; not handed on to other programs."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)


def try_lock(descriptor: int, operation: int) -> bool:
    """Take a lock without waiting; whether it was free."""
    try:
        fcntl.flock(descriptor, operation | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    """Whether any process holds the lock file."""
    descriptor = open_lock(path)
    try:
        return not try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


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
        return subprocess.Popen(  # noqa: S603
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
        subprocess.run(command, capture_output=True, check=False)  # noqa: S603


def _let_pass(path: Path) -> None:
    for folder in (path, *path.parents):
        mode = folder.stat().st_mode
        if not mode & stat.S_IXOTH:
            folder.chmod(stat.S_IMODE(mode) | stat.S_IXOTH)


def _let_programs_be_run(programs: Path) -> None:
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


def _fits(directory: str) -> bool:
    return len(os.fsencode(f"{directory}/.s.PGSQL.{PORT}.lock")) <= SOCKET_PATH_LIMIT


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
        base = inherited if _fits(f"{inherited}/dissensus-12345678") else "/tmp"  # noqa: S108
        folder = Path(tempfile.mkdtemp(prefix="dissensus-", dir=base))
    account.own(folder)
    return str(folder)


def _is_server(pid: int, data: Path) -> bool:
    """Whether this process is a PostgreSQL server on this cluster, not a later bearer of its id."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        if Path("/proc/self").exists():
            return False
        listing = ["ps", "-o", "command=", "-p", str(pid)]
        answer = subprocess.run(listing, capture_output=True, check=False)  # noqa: S603
        command = answer.stdout.decode()
    return "postgres" in command and str(data) in command


class Keeper:
    """Holds one embedded server up for as long as it has users."""

    def __init__(self, home: Path, programs: Path) -> None:
        self.home = home
        self.programs = programs
        self.data = data_directory(home)
        self.account = server_account(home)
        self.pid = 0
        self.child: subprocess.Popen[bytes] | None = None
        self.socket_directory = ""
        self.log_start = 0

    def start(self) -> None:
        """Make the cluster if there is none, then adopt or start its server.

        Returns when the server accepts connections. Raises KeeperError if it cannot.
        """
        if self.account.uid is not None:
            _let_pass(self.home)
            _let_pass(self.programs)
            _let_programs_be_run(self.programs)
        if not self.data.exists():
            self._make_cluster()
        self._check_version()
        running = read_postmaster(self.home)
        if running is not None and _is_server(running.pid, self.data):
            self.pid, self.child = running.pid, None
            self.socket_directory = running.socket_directory
            self._wait_until_ready()
        else:
            self._start_server()

    def watch(self) -> None:
        """Keep the server running until its last user has ended, then stop it."""
        users = open_lock(self.home / "users.lock")
        while not try_lock(users, fcntl.LOCK_EX):
            time.sleep(WATCH_SECONDS)
            if not self._is_alive():
                self.start()
        self.stop()

    def stop(self) -> None:
        """Shut the server down in order; at once if it does not follow."""
        for order in (signal.SIGINT, signal.SIGQUIT):
            if self._is_alive():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, order)
            deadline = time.monotonic() + STOP_SECONDS
            while self._is_alive() and time.monotonic() < deadline:
                time.sleep(0.02)
        if self.socket_directory and Path(self.socket_directory).parent != self.home:
            shutil.rmtree(self.socket_directory, ignore_errors=True)

    def _is_alive(self) -> bool:
        if self.child is not None:
            return self.child.poll() is None
        return _is_server(self.pid, self.data)

    def _make_cluster(self) -> None:
        """Make the cluster aside and move it into place whole: a killed attempt leaves nothing."""
        partial = self.home / "data.partial"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(mode=0o700)
        self.account.own(partial)
        # Bytewise comparison everywhere, with Unicode's upper and lower case.
        collation = ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        self._run("initdb", "-D", str(partial), "-U", SUPERUSER, "--auth=trust",
                  "--encoding=UTF8", *collation, "--no-instructions")  # fmt: skip
        self._run("postgres", "--single", "-D", str(partial), SUPERUSER,
                  statement=f"CREATE DATABASE {DATABASE}\n")  # fmt: skip
        partial.rename(self.data)

    def _run(self, program: str, *arguments: str, statement: str = "") -> None:
        process = self.account.popen(
            [str(self.programs / program), *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        output, _ = process.communicate(statement.encode())
        if process.returncode != 0:
            raise KeeperError(
                f"{program} could not make the database cluster in {self.home}; nothing was kept "
                f"of the attempt. It said:\n{output.decode(errors='replace').strip()}"
            )

    def _check_version(self) -> None:
        version_file = self.data / "PG_VERSION"
        found = version_file.read_text().strip() if version_file.exists() else "unknown"
        ask = [str(self.programs / "postgres"), "--version"]
        answer = subprocess.run(ask, capture_output=True, check=True)  # noqa: S603
        ours = answer.stdout.decode().split()[-1].split(".")[0]
        if found != ours:
            raise KeeperError(
                f"The data in {self.data} were written by PostgreSQL {found}, and this "
                f"installation brings PostgreSQL {ours}. Nothing was changed. Make a backup with "
                "the release that wrote them, move the folder away and restore the backup here "
                "(docs/backup.md)."
            )

    def _start_server(self) -> None:
        """Start the server; after a crash, wait for the last of the old one's processes first."""
        self.socket_directory = choose_socket_directory(self.home, self.account)
        stale = self.data / "postmaster.pid"
        deadline = time.monotonic() + START_SECONDS
        while True:
            # PostgreSQL believes a stale file as long as any process bears its process id.
            stale.unlink(missing_ok=True)
            self._launch()
            try:
                self._wait_until_ready()
            except KeeperError as error:
                old_still_ends = "is still in use" in str(error)
                if not old_still_ends or time.monotonic() > deadline:
                    raise
                time.sleep(WATCH_SECONDS)
            else:
                return

    def _launch(self) -> None:
        log = log_file(self.home)
        log.parent.mkdir(parents=True, exist_ok=True)
        if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
            log.replace(log.with_suffix(".log.1"))
        self.log_start = log.stat().st_size if log.exists() else 0
        settings = SERVER_SETTINGS | {"unix_socket_directories": self.socket_directory}
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with log.open("ab") as output:
            self.child = self.account.popen(
                [str(self.programs / "postgres"), "-D", str(self.data), *options],
                stdin=subprocess.DEVNULL,
                stdout=output,
            )
        self.pid = self.child.pid

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while ready_socket_directory(self.home) is None:
            if not self._is_alive():
                raise KeeperError(f"PostgreSQL did not start. Its log says:\n{self._log_tail()}")
            if time.monotonic() > deadline:
                raise KeeperError(
                    f"PostgreSQL is not ready after {START_SECONDS:.0f} s; it may still be "
                    f"recovering. Its data are kept. See {log_file(self.home)} and try again."
                )
            time.sleep(0.02)

    def _log_tail(self) -> str:
        with log_file(self.home).open("rb") as log:
            log.seek(self.log_start)
            return log.read().decode(errors="replace")[-2000:].strip()


def run(home: Path, programs: Path) -> int:
    """Become the keeper of HOME in the background.

    Returns 0 in the caller's process as soon as the server is ready, 75 if HOME has a keeper
    already, 1 after writing the reason to standard error.
    """
    if not try_lock(open_lock(home / "keeper.lock"), fcntl.LOCK_EX):
        return EXIT_ANOTHER_KEEPER
    answer, report = os.pipe()
    if os.fork() == 0:
        os.close(answer)
        _keep(home, programs, report)
    os.close(report)
    with os.fdopen(answer, "rb") as pipe:
        message = pipe.read().decode()
    if message == "ready":
        return 0
    sys.stderr.write(message or "The keeper of the embedded PostgreSQL was killed.")
    return EXIT_REFUSED


def _keep(home: Path, programs: Path, report: int) -> None:
    """The background half of `run`: never returns."""
    os.setsid()
    os.chdir("/")
    nowhere = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(nowhere, standard)
    try:
        keeper = Keeper(home, programs)
        keeper.start()
        os.write(report, b"ready")
        os.close(report)
    except Exception as error:
        os.write(report, str(error).encode())
        os._exit(EXIT_REFUSED)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        keeper.watch()
    finally:
        keeper.stop()
        os._exit(0)


if __name__ == "__main__":
    sys.exit(run(Path(sys.argv[1]), Path(sys.argv[2])))

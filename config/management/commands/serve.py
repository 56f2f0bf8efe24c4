import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config import processes
from studies.management.arguments import WRONG_USAGE


class Command(BaseCommand):
    """Checks what can be checked before anything runs, then becomes `config.processes`."""

    help = "Serve the site: the web server and the worker, until Ctrl-C."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
        parser.add_argument("--port", type=int, default=8000)
        parser.add_argument(
            "--web-processes", type=int, default=processes.DEFAULT_WEB_PROCESSES, metavar="N"
        )
        parser.add_argument(
            "--job-processes",
            type=int,
            default=processes.DEFAULT_JOB_PROCESSES,
            metavar="N",
            help="jobs that run at the same time",
        )
        only = parser.add_mutually_exclusive_group()
        only.add_argument("--web-only", action="store_true", help="no worker")
        only.add_argument("--worker-only", action="store_true", help="no web server")
        only.add_argument(
            "--check-port", action="store_true", help="only tell whether the port is free"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        check_options(options)
        if not options["worker_only"]:
            try:
                processes.check_port_is_free(options["host"], options["port"])
            except processes.ProcessesError as error:
                raise CommandError(str(error)) from error
        if not options["check_port"]:
            # WhiteNoise warns about a missing folder on every start.
            Path(settings.STATIC_ROOT).mkdir(parents=True, exist_ok=True)
            sys.stdout.flush()
            environment = os.environ | {"BASE_URL": address(options["port"])}
            # The program is this one.
            os.execve(sys.executable, program(options), environment)  # noqa: S606


def check_options(options: dict[str, Any]) -> None:
    """Raise CommandError for numbers that make no sense."""
    if not 1 <= options["port"] <= 65535:
        raise CommandError("--port must lie between 1 and 65535.", returncode=WRONG_USAGE)
    for name in ("web_processes", "job_processes"):
        if options[name] < 1:
            raise CommandError(
                f"--{name.replace('_', '-')} must be at least 1.", returncode=WRONG_USAGE
            )


def program(options: dict[str, Any]) -> list[str]:
    """The command line of `config.processes` for these options."""
    command = [sys.executable, "-m", "config.processes"]
    command += ["--host", options["host"], "--port", str(options["port"])]
    command += ["--address", address(options["port"])]
    command += ["--path-prefix", settings.BASE_URL.path_prefix]
    command += ["--web-processes", str(0 if options["worker_only"] else options["web_processes"])]
    command += ["--job-processes", str(0 if options["web_only"] else options["job_processes"])]
    if settings.DATABASES["default"]["ENGINE"] == "config.database":
        command += ["--embedded-postgres", str(settings.EMBEDDED_POSTGRES_DIR)]
    return command


def address(port: int) -> str:
    """What people type into the browser: BASE_URL where it was set, else this port here."""
    if os.environ.get("BASE_URL"):
        return f"{settings.BASE_URL.origin}{settings.BASE_URL.path_prefix}/"
    return f"http://localhost:{port}/"

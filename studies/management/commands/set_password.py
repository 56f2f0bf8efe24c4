"""`manage.py set_password NAME`: a password for an account, read from standard input."""

import getpass
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from studies.management.arguments import read_text
from studies.services.people import PersonRefused, set_password


class Command(BaseCommand):
    help = "Read a password for an account from standard input (one line) and set it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "name", type=read_text, help="the account's name, as in study.yaml under people"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        password = read_password()
        if not password:
            raise CommandError("No password came in. Nothing was changed.")
        try:
            set_password(name=options["name"], password=password)
        except PersonRefused as refusal:
            raise CommandError(f"{refusal} Nothing was changed.") from None
        self.stdout.write(f"{options['name']} can log in with the new password.")


def read_password() -> str:
    """One line without its end; in a terminal it is asked for and not shown."""
    if sys.stdin.isatty():
        return getpass.getpass("Password: ")
    return sys.stdin.readline().rstrip("\r\n")

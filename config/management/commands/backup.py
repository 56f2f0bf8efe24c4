from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import BackupError, make_backup


class Command(BaseCommand):
    """Writes a backup while the site goes on running."""

    help = "Write the whole database to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            make_backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Wrote {options['file']} ({options['file'].stat().st_size:,} bytes).")

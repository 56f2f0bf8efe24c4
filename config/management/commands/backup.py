from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import BackupError, make_backup
from studies.management.arguments import read_path


class Command(BaseCommand):
    """Writes a backup while the site goes on running."""

    help = "Write the whole database to a file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=read_path)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            make_backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Wrote {options['file']} ({options['file'].stat().st_size:,} bytes).")

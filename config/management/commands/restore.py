from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import BackupError, restore_backup
from studies.management.arguments import read_path


class Command(BaseCommand):
    """Replaces what the database holds: asks for --replace, because nothing can undo it."""

    help = "Replace the whole database by a backup."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=read_path)
        parser.add_argument(
            "--replace", action="store_true", help="yes, what the database holds now may go"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not options["replace"]:
            raise CommandError(
                "This replaces everything that the database holds now. Nothing was changed. "
                "Make a backup first (manage.py backup FILE), then repeat with --replace."
            )
        try:
            restore_backup(options["file"])
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"Restored {options['file']}. Now run: manage.py migrate")

"""`manage.py import_study FOLDER`: a whole study from its files."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.services.imports import import_folder
from studies.management.arguments import read_path
from studies.services.imports import ImportRefused
from studies.services.imports.terminal import clear_progress, format_report, terminal_progress


class Command(BaseCommand):
    help = (
        "Import a study from a folder, all of it or nothing. Importing it again changes nothing; "
        "with more runs, queries or documents it adds what is new."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=read_path)
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would happen, write nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        folder: Path = options["folder"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder. Nothing was imported.")
        try:
            report = import_folder(folder, dry_run=options["dry_run"], progress=terminal_progress())
        except ImportRefused as refusal:
            clear_progress()
            raise CommandError(format_report(refusal.report)) from None
        clear_progress()
        self.stdout.write(format_report(report))

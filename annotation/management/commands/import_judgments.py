"""`manage.py import_judgments STUDY FILE`: labels from CSV or TREC qrels."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.services.imports import ImportRefused, JudgmentOptions, import_judgments
from annotation.services.imports.reading import is_csv
from studies.management.arguments import WRONG_USAGE, read_path, read_text
from studies.models import Study
from studies.services.imports.terminal import clear_progress, format_report, terminal_progress


class Command(BaseCommand):
    help = (
        "Import labels from a CSV file (its name ends in .csv) or TREC qrels: all of them or "
        "none. Importing the same file again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", type=read_text, help="the study's name in its address")
        parser.add_argument("file", type=read_path)
        parser.add_argument(
            "--annotator", type=read_text, metavar="NAME", help="whose labels, if the file is mute"
        )
        parser.add_argument(
            "--round",
            type=read_text,
            metavar="NAME",
            help="into which round (default: the newest main round that is open)",
        )
        parser.add_argument(
            "--machine", action="store_true", help="the annotators are machines and fill no place"
        )
        parser.add_argument(
            "--extend-pool", action="store_true", help="add pairs that the pool lacks"
        )
        parser.add_argument(
            "--annotator-from-iteration",
            action="store_true",
            help="the second column of the qrels names the annotator",
        )
        parser.add_argument(
            "--dry-run", action="store_true", help="report what would happen, write nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if options["annotator"] and options["annotator_from_iteration"]:
            raise CommandError(
                "--annotator and --annotator-from-iteration exclude each other.",
                returncode=WRONG_USAGE,
            )
        if options["annotator_from_iteration"] and is_csv(options["file"]):
            raise CommandError(
                "--annotator-from-iteration is for qrels; a CSV names annotators in a column.",
                returncode=WRONG_USAGE,
            )
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        try:
            report = import_judgments(
                study=study,
                path=options["file"],
                options=JudgmentOptions(
                    annotator=options["annotator"],
                    round_name=options["round"],
                    machine=options["machine"],
                    extend_pool=options["extend_pool"],
                    annotator_from_iteration=options["annotator_from_iteration"],
                ),
                dry_run=options["dry_run"],
                progress=terminal_progress(),
            )
        except ImportRefused as refusal:
            clear_progress()
            raise CommandError(format_report(refusal.report)) from None
        clear_progress()
        self.stdout.write(format_report(report))

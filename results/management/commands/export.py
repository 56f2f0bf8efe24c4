"""`manage.py export STUDY KIND -o PATH`: a file and the manifest that travels with it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.gate import list_red
from results.services.exports import KINDS, ExportRefused, Manifest, manifest_path, write_export
from results.services.gate import Gate
from studies.management.arguments import WRONG_USAGE, read_path, read_text
from studies.models import Study
from studies.services.jobs import JobRefused

SHOWN_WITHHELD = 20


class Command(BaseCommand):
    help = "Write an export of a study, and beside it PATH.manifest.json."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", type=read_text, help="the study's name in its address")
        parser.add_argument("kind", choices=sorted(KINDS), metavar="kind", help=", ".join(KINDS))
        parser.add_argument("--annotator", type=read_text, help="whose labels, for annotator-qrels")
        parser.add_argument(
            "--with-texts",
            action="store_true",
            help="training-pairs as triplets of texts, for training libraries",
        )
        parser.add_argument(
            "--until",
            type=int,
            metavar="N",
            help="end the log after its first N actions, as an earlier manifest says (log_until)",
        )
        parser.add_argument(
            "--reason",
            type=read_text,
            metavar="TEXT",
            help="why labels leave in spite of a red gate, for the log and the manifest",
        )
        parser.add_argument("-o", "--output", required=True, type=read_path, metavar="PATH")

    def handle(self, *args: Any, **options: Any) -> None:
        check_usage(options)
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        path: Path = options["output"]
        try:
            if options["kind"] == "agreement-report":
                compute_report(study)
            manifest = write_export(
                study,
                options["kind"],
                path,
                annotator=options["annotator"],
                with_texts=options["with_texts"],
                until=options["until"],
                reason=options["reason"],
            )
        except (ExportRefused, JobRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        except OSError as error:
            raise CommandError(f"{error}. Nothing was written.") from error
        self.report(manifest, path)

    def report(self, manifest: Manifest, path: Path) -> None:
        files = f"{len(manifest.files):,} files"
        lines = files if manifest.lines is None else f"{manifest.lines:,} lines"
        self.stdout.write(f"{path}: {lines}, {manifest.bytes:,} bytes")
        for name, number in manifest.counts.items():
            self.stdout.write(f"  {name.replace('_', ' ')}: {number:,}")
        for query in manifest.withheld[:SHOWN_WITHHELD]:
            self.stdout.write(f"  withheld {query.query_id}: {query.message}")
        if more := len(manifest.withheld) - SHOWN_WITHHELD:
            self.stdout.write(f"  and {more:,} more, all in the manifest") if more > 0 else None
        for problem in manifest.problems:
            self.stderr.write(problem)
        if manifest.gate:
            self.report_gate(manifest, manifest.gate)
        self.stdout.write(f"manifest: {manifest_path(path)}")

    def report_gate(self, manifest: Manifest, gate: Gate) -> None:
        if gate.is_open or not KINDS[manifest.kind].is_release:
            return
        why = (
            "with the reason given" if gate.is_reason_given else "without a reason (--reason TEXT)"
        )
        self.stderr.write(
            f"The release gate is red ({', '.join(list_red(gate.lines))}), as the manifest says, "
            f"{why}; `manage.py gate {manifest.study}` tells what makes it red."
        )


def check_usage(options: Mapping[str, Any]) -> None:
    """Raises CommandError with the exit status of wrong usage for options that do not fit."""
    kind, annotator = options["kind"], options["annotator"]
    needs_annotator = KINDS[kind].needs_annotator
    if needs_annotator and not annotator:
        raise CommandError(f"{kind} needs --annotator NAME.", returncode=WRONG_USAGE)
    if annotator and not needs_annotator:
        raise CommandError(f"{kind} takes no --annotator.", returncode=WRONG_USAGE)
    if options["with_texts"] and not KINDS[kind].offers_texts:
        raise CommandError(f"{kind} takes no --with-texts.", returncode=WRONG_USAGE)
    if options["reason"] is not None and not options["reason"].strip():
        raise CommandError("--reason needs words.", returncode=WRONG_USAGE)
    if options["until"] is not None and not KINDS[kind].has_log:
        raise CommandError(f"{kind} takes no --until: it holds no log.", returncode=WRONG_USAGE)


def compute_report(study: Study) -> None:
    """Bring the stored report up to today's labels: a command may take the time, a page may not."""
    from results.services.reports import run_agreement
    from results.services.scopes import Scope

    run_agreement(study, scope=Scope())

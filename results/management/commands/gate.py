"""`manage.py gate STUDY`: the release gate, computed here and now."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.gate_wording import TITLES, say
from results.markdown_blocks import escape
from results.services.gate import Gate, read_gate
from results.services.releases import run_everything
from studies.models import Study
from studies.services.jobs import JobRefused


class Command(BaseCommand):
    help = "Compute and print the release gate. Exit status 1 where a line is red."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", help="the study's name in its address")
        parser.add_argument("--format", choices=("json", "md"), default="md")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            raise CommandError(f"There is no study {options['study']!r}.")
        try:
            run_everything(study)
        except JobRefused as refusal:
            raise CommandError(str(refusal)) from refusal
        gate = read_gate(study)
        if options["format"] == "json":
            self.stdout.write(json.dumps(gate.as_json(), ensure_ascii=False, indent=2))
        else:
            self.stdout.write(write_checklist(study, gate), ending="")
        if not gate.is_open:
            raise SystemExit(1)


def write_checklist(study: Study, gate: Gate) -> str:
    """The gate as Markdown: a list of the lines, each with what it found."""
    lines = [f"# Release gate of {escape(study.title)}: {gate.state}", ""]
    for line in gate.lines:
        lines.append(f"- **{line.state}** {TITLES[line.key]}")
        lines += [f"  - {escape(say(finding))}" for finding in line.findings]
    return "\n".join(lines) + "\n"

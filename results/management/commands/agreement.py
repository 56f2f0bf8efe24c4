"""`manage.py agreement STUDY`: the whole report, computed here and now."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.markdown import render_payload
from results.services.agreement import compute_agreement
from results.services.scopes import Scope, UnknownScope
from studies.management.arguments import read_text
from studies.models import Study
from studies.services.jobs import JobRefused


class Command(BaseCommand):
    help = "Print the agreement of a study's labels. Stores nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", type=read_text, help="the study's name in its address")
        parser.add_argument("--round", type=read_text, help="the labels of this round only")
        parser.add_argument(
            "--rubric", type=int, metavar="N", help="the labels given under this version only"
        )
        parser.add_argument("--format", choices=("json", "md"), default="json")
        parser.add_argument("--with-controls", action="store_true", help="count control pairs too")
        parser.add_argument("--with-surplus", action="store_true", help="count surplus labels too")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. Studies: {known}.")
        try:
            payload = compute_agreement(
                study,
                scope=Scope(
                    round=options["round"],
                    rubric=options["rubric"],
                    with_controls=options["with_controls"],
                ),
                with_surplus=options["with_surplus"],
            )
        except (UnknownScope, JobRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["format"] == "md":
            self.stdout.write(render_payload(payload), ending="")
        else:
            self.stdout.write(json.dumps(payload, ensure_ascii=False, indent=2))

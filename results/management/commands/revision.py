"""`manage.py revision STUDY --from N --to N`: the account of a change of the rubric.

`--from-round` and `--to-round` compare two rounds in the place of two versions.
"""

import json
from argparse import ArgumentParser, ArgumentTypeError
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.revision_markdown import render_account
from results.services.revision import account_for_revision
from results.services.scopes import Comparison, Scope, UnknownScope
from studies.management.arguments import WRONG_USAGE, read_text
from studies.models import Study
from studies.services.jobs import JobRefused


def read_positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text) > 0):
        raise ArgumentTypeError(f"{text!r} is no number from 1 on")
    return int(text)


def read_comparison(options: dict[str, Any]) -> Comparison:
    """Raises CommandError, as wrong usage, where a version is to be compared with a round."""
    compared = Comparison(
        Scope(rubric=options["before"], round=options["from_round"]),
        Scope(rubric=options["after"], round=options["to_round"]),
    )
    if (compared.before.rubric is None) != (compared.after.rubric is None):
        reason = "compare two versions (--from, --to) or two rounds (--from-round, --to-round)"
        raise CommandError(reason, returncode=WRONG_USAGE)
    return compared


class Command(BaseCommand):
    help = "Print what a change of the rubric did to the labels of the same pairs. Stores nothing."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("study", type=read_text, help="the study's name in its address")
        before = parser.add_mutually_exclusive_group(required=True)
        before.add_argument("--from", dest="before", type=int, metavar="N", help="earlier version")
        before.add_argument("--from-round", type=read_text, metavar="NAME", help="earlier round")
        after = parser.add_mutually_exclusive_group(required=True)
        after.add_argument("--to", dest="after", type=int, metavar="N", help="later version")
        after.add_argument("--to-round", type=read_text, metavar="NAME", help="later round")
        parser.add_argument(
            "--k", type=read_positive, help="depth of recall@k and nDCG (default: the pool's)"
        )
        parser.add_argument("--format", choices=("json", "md"), default="json")

    def handle(self, *args: Any, **options: Any) -> None:
        study = Study.objects.filter(slug=options["study"]).first()
        if study is None:
            known = ", ".join(Study.objects.values_list("slug", flat=True)) or "none yet"
            raise CommandError(f"There is no study {options['study']!r}. Studies: {known}.")
        try:
            account = account_for_revision(study, read_comparison(options), k=options["k"])
        except (UnknownScope, JobRefused) as refusal:
            raise CommandError(str(refusal)) from refusal
        if options["format"] == "md":
            self.stdout.write(render_account(account), ending="")
        else:
            self.stdout.write(json.dumps(account, ensure_ascii=False, indent=2))

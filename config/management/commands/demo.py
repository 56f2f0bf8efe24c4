"""`manage.py demo`: load the demo study and print address and logins."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import demo
from studies.models import Role, Study


class Command(BaseCommand):
    help = "Load the demo study and print its logins. Refused under production settings."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--if-missing",
            action="store_true",
            help="load it only where it is not there yet; print the logins all the same",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO_ALLOWED:
            raise CommandError(
                "The demo is refused under production settings: its logins are printed in the open."
            )
        if not (options["if_missing"] and demo.is_demo_loaded()):
            demo.load_demo(self.stdout.write)
        self.print_logins()

    def print_logins(self) -> None:
        study = Study.objects.get(slug=demo.DEMO_SLUG)
        logins = demo.keep_logins(study)
        self.stdout.write(f"\n{study.title}: {settings.BASE_URL.origin}{self.path_of(study)}\n\n")
        for member in demo.list_people(study):
            roles = ", ".join(str(Role(role).label) for role in member.roles)
            password = logins.get(member.name, "(the password it was given)")
            self.stdout.write(f"  {roles:<12} {member.name:<8} {password}")
        self.stdout.write("")

    @staticmethod
    def path_of(study: Study) -> str:
        return f"{settings.BASE_URL.path_prefix}/studies/{study.slug}/"

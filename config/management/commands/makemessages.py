from pathlib import Path
from typing import Any

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Django's command, writing catalogues that change only where a message does.

    No line numbers, no wrapping and no date of the run, so that a merge meets few conflicts. A
    message that was reworded comes out untranslated: a guess from a similar one could say the
    opposite and still look done.
    """

    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]

    def handle(self, *args: Any, **options: Any) -> None:
        kept = {"no_obsolete": True, "no_wrap": True, "add_location": "file"}
        super().handle(*args, **options | kept)

    def write_po_file(self, potfile: str, locale: str) -> None:
        super().write_po_file(potfile, locale)
        catalogue = Path(potfile).parent / locale / "LC_MESSAGES" / f"{self.domain}.po"
        lines = catalogue.read_text(encoding="utf-8").splitlines(keepends=True)
        kept = [line for line in lines if not line.startswith('"POT-Creation-Date:')]
        catalogue.write_text("".join(kept), encoding="utf-8")

"""What makes the table of a page, by the name of the table."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from django.http import QueryDict
from django.utils.translation import gettext as _

from results.tables.making import Column, Value
from studies.access import StudyAccess

Row = Sequence[Value]


class TableWithheld(Exception):
    """There is no file for this person now; the message says why."""


@dataclass(frozen=True, slots=True)
class PageTable:
    columns: Sequence[Column]
    rows: Iterable[Row]


# A run's score as it stands, and with the dropped pairs at their worst and best.
SCORES = (
    Column("run", "", "text"),
    Column("queries", ""),
    Column("measure", "", "text"),
    Column("k", ""),
    Column("value", "", "ratio"),
    Column("worst", "", "ratio"),
    Column("best", "", "ratio"),
    Column("dropped", ""),
    Column("dropped_share", "", "share"),
)

Make = Callable[[StudyAccess, QueryDict], PageTable]
PAGE_TABLES: dict[str, Make] = {}


def of_page(name: str) -> Callable[[Make], Make]:
    """Register what makes the table of this name from what an address asks for. It raises
    TableWithheld, and Http404 for what the study does not have."""

    def register(make: Make) -> Make:
        PAGE_TABLES[name] = make
        return make

    return register


def refuse_hidden(hidden_by: Sequence[str]) -> None:
    if hidden_by:
        told = _("You still have pairs to judge blind in: %(rounds)s.")
        raise TableWithheld(told % {"rounds": ", ".join(hidden_by)})


def say_uncounted() -> str:
    return _("There are no numbers of this yet: have them computed first.")

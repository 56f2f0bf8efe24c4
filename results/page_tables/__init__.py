"""The tables of pages that do not stand on a stored report of agreement, as data.

Whoever may not see a page gets no file of it either. A file names things by their codes and ids,
in English, whatever the language of the page.
"""

from results.page_tables import accounts, release, rounds
from results.page_tables.making import (
    PAGE_TABLES,
    PageTable,
    TableWithheld,
    refuse_hidden,
    say_uncounted,
)

__all__ = [
    "PAGE_TABLES",
    "PageTable",
    "TableWithheld",
    "accounts",
    "refuse_hidden",
    "release",
    "rounds",
    "say_uncounted",
]

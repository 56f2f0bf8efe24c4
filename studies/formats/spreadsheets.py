"""Cells that a spreadsheet would run as a formula, made harmless and restored exactly.

The writers of `judgments.csv`, `final_labels.csv` and `controls.csv` pass names and free text
through `neutralise`; the readers of the same columns pass them through `restore`. Ids,
numbers and dates pass through neither: an id is the key that joins a file to runs and qrels,
so `=d1` stays `=d1` in the file, and only a reader who opens the file in a spreadsheet has to
import the id columns as text.
"""

from __future__ import annotations

import re

# Apostrophes in front are counted as well, so that "'=a" and "=a" stay apart.
_FORMULA = re.compile(r"'*[=+\-@\t\r]")


def neutralise(cell: str) -> str:
    """Put an apostrophe before a cell that begins with `=`, `+`, `-`, `@`, tab or CR.

    A cell that begins with apostrophes and then one of these gets one more, which makes
    `restore` an exact inverse for every cell.
    """
    return f"'{cell}" if _FORMULA.match(cell) else cell


def restore(cell: str) -> str:
    """Undo `neutralise`: `restore(neutralise(cell)) == cell`."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell

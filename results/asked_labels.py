"""A label that a pair is asked to have, as addresses of the pairs side by side write it. Pure."""

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import parse_qsl, urlencode

UNSURE: Literal["unsure"] = "unsure"
GRADE = re.compile(r"-?[0-9]{1,4}")

Link = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class AskedLabel:
    """Who gave the label, its grade, and the dimension it cites; what is None asks for nothing.

    `grade` is `UNSURE` for a label without one. `dimension` speaks of labels with a grade, and ""
    is for those that name none.
    """

    by: str | None = None
    grade: int | Literal["unsure"] | None = None
    dimension: str | None = None

    @property
    def written(self) -> str:
        """The value of `label` in an address; names may hold any character."""
        told = {"by": self.by, "grade": self.grade, "dimension": self.dimension}
        return urlencode({name: value for name, value in told.items() if value is not None})

    @property
    def link(self) -> Link:
        """Every pair with such a label, split or not, as an address asks for them."""
        return (("all", "1"), ("label", self.written))

    @classmethod
    def parse(cls, text: str) -> "AskedLabel":
        """The label of a written value. Raises ValueError for anything that `written` is not."""
        told = dict(parse_qsl(text, keep_blank_values=True, strict_parsing=True))
        grade = told.get("grade")
        if set(told) - {"by", "grade", "dimension"}:
            raise ValueError(f"not a label: {text!r}")
        if grade is None or grade == UNSURE:
            return cls(told.get("by"), UNSURE if grade else None, told.get("dimension"))
        if not GRADE.fullmatch(grade):
            raise ValueError(f"not a grade: {grade!r}")
        return cls(told.get("by"), int(grade), told.get("dimension"))

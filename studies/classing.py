"""Rules that give queries their class by their text. Pure; the first rule that fits wins."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

KINDS: Mapping[str, Callable[[str, str], bool]] = {
    "starts": str.startswith,
    "contains": str.__contains__,
    "ends": str.endswith,
    "is": str.__eq__,
}


@dataclass(frozen=True, slots=True)
class Rule:
    """Queries whose text starts with, contains, ends with or is `text` are of `query_class`.

    Upper and lower case are the same, and any run of blanks is one.
    """

    kind: str
    text: str
    query_class: str

    def fits(self, text: str) -> bool:
        return KINDS[self.kind](fold(text), fold(self.text))


def fold(text: str) -> str:
    return " ".join(text.split()).casefold()


def find_rule(rules: Sequence[Rule], text: str) -> int | None:
    """The position of the first rule that fits the text."""
    return next((place for place, rule in enumerate(rules) if rule.fits(text)), None)


def sort_by_rule(rules: Sequence[Rule], queries: Iterable[tuple[int, str]]) -> dict[int, list[int]]:
    """Rule position -> keys of the queries (key, text) that it is the first to fit."""
    sorted_: dict[int, list[int]] = {place: [] for place in range(len(rules))}
    for key, text in queries:
        place = find_rule(rules, text)
        if place is not None:
            sorted_[place].append(key)
    return sorted_

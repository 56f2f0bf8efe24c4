"""Who is to judge how much: which queries everybody judges, and how the others are split.

Pure: nothing here knows Django or the database; ids are opaque strings.
"""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from annotation.shuffle import Shuffler

Person = TypeVar("Person", bound=Hashable)
PLAN = "plan"  # in the place of an annotator: an order that is nobody's own


def choose_shared(
    classes: Mapping[str, str], count: int, *, seed: str, round_id: str
) -> frozenset[str]:
    """Choose `count` of the items (item -> class), each class by its share, the same each time.

    Seats go by the largest remainder (Hamilton's method); within a class by the keyed hash that
    orders queries. A larger count keeps nearly all that a smaller one chooses.
    """
    shuffler = Shuffler(seed, round_id, PLAN)
    members: dict[str, list[str]] = defaultdict(list)
    for item in shuffler.shuffle(classes):
        members[classes[item]].append(item)
    sizes = {name: len(items) for name, items in members.items()}
    seats = apportion(sizes, min(count, len(classes)))
    return frozenset(item for name, items in members.items() for item in items[: seats[name]])


def apportion(sizes: Mapping[str, int], seats: int) -> dict[str, int]:
    """Seats by size: the whole part of each quotient, then by the largest remainders."""
    total = sum(sizes.values())
    if not total:
        return dict.fromkeys(sizes, 0)
    given = {name: seats * size // total for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(seats * sizes[name] % total), name))
    for name in by_remainder[: seats - sum(given.values())]:
        given[name] += 1
    return given


@dataclass(frozen=True, slots=True)
class Split:
    """Split queries by person, and how many places nobody is left for."""

    shares: Mapping[Hashable, int]
    unfilled: int


def split_fairly(people: Mapping[Person, int | None], *, queries: int, per_query: int) -> Split:
    """Divide `queries` times `per_query` places among the people (person -> limit or None).

    Who has a limit gets it; the others get the same share of what remains, rounded up. Nobody
    gets more than there are queries.
    """
    places = queries * per_query
    shares: dict[Hashable, int] = {
        person: min(max(limit, 0), queries) for person, limit in people.items() if limit is not None
    }
    free: Sequence[Person] = [person for person, limit in people.items() if limit is None]
    remaining = max(places - sum(shares.values()), 0)
    fair = min(ceil(remaining / len(free)), queries) if free else 0
    shares |= dict.fromkeys(free, fair)
    return Split(shares, max(places - sum(shares.values()), 0))

"""Which parts of a rubric the labels at hand need: told by the room that holds the labels."""

from collections.abc import Callable
from dataclasses import dataclass, field

from studies.models import Study


@dataclass(frozen=True, slots=True)
class UsedParts:
    """How many current labels have each grade and name each dimension."""

    grades: dict[int, int] = field(default_factory=dict)
    dimensions: dict[str, int] = field(default_factory=dict)


CountUsedParts = Callable[[Study], UsedParts]

_counters: list[CountUsedParts] = []


def register_usage(count: CountUsedParts) -> CountUsedParts:
    """Name the function that counts what labels use."""
    _counters.append(count)
    return count


def count_used_parts(study: Study) -> UsedParts:
    """The sum over all that was registered."""
    total = UsedParts()
    for count in _counters:
        used = count(study)
        for value, labels in used.grades.items():
            total.grades[value] = total.grades.get(value, 0) + labels
        for name, labels in used.dimensions.items():
            total.dimensions[name] = total.dimensions.get(name, 0) + labels
    return total

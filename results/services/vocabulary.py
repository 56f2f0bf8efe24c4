"""Codes for what labels name: annotators, grades, dimensions and clauses.

Dimensions, clauses and grades belong to a rubric version in the database. Here a name has one
code whatever the version, so that labels of two versions can be compared.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from studies.models import Clause, Dimension, Grade, Member, Study

Name = TypeVar("Name")


@dataclass(frozen=True)
class Vocabulary:
    """Codes by database key, and the names behind the codes.

    `scale` holds every grade of the versions, used or not; `grades` gives its positions.
    Annotators are coded in the order of their names, dimensions as the newest version lists them.
    """

    annotators: dict[int, int]
    annotator_names: tuple[str, ...]
    machine: frozenset[int]
    scale: tuple[int, ...]
    grades: dict[int, int]
    grade_names: dict[int, str]
    dimensions: dict[int, int]
    dimension_names: tuple[str, ...]
    clauses: dict[int, int]

    def of_annotators(self, codes: Sequence[int]) -> "Vocabulary":
        """The same with these annotators only, coded anew in this order."""
        new = {code: place for place, code in enumerate(codes)}
        return replace(
            self,
            annotators={key: new[code] for key, code in self.annotators.items() if code in new},
            annotator_names=tuple(self.annotator_names[code] for code in codes),
            machine=frozenset(new[code] for code in codes if code in self.machine),
        )


def read_vocabulary(
    study: Study, *, annotators: Collection[int], versions: Collection[int]
) -> Vocabulary:
    """The names of these annotators and of everything in these rubric versions (keys)."""
    members = list(
        Member.objects.filter(study=study, pk__in=annotators)
        .order_by("name")
        .values_list("pk", "name", "is_machine")
    )
    grade_names = dict(
        Grade.objects.filter(rubric_version__in=versions)
        .order_by("rubric_version__number")
        .values_list("value", "name")
    )
    scale = tuple(sorted(grade_names))
    dimensions = dict(
        Dimension.objects.filter(rubric_version__in=versions)
        .order_by("-rubric_version__number", "position")
        .values_list("pk", "name")
    )
    clauses = {
        key: (dimension, name)
        for key, dimension, name in Clause.objects.filter(
            dimension__rubric_version__in=versions
        ).values_list("pk", "dimension__name", "name")
    }
    dimension_codes, dimension_names = _code(dimensions)
    return Vocabulary(
        annotators={key: code for code, (key, _, _) in enumerate(members)},
        annotator_names=tuple(name for _, name, _ in members),
        machine=frozenset(code for code, (_, _, machine) in enumerate(members) if machine),
        scale=scale,
        grades={value: place for place, value in enumerate(scale)},
        grade_names={value: grade_names[value] for value in scale},
        dimensions=dimension_codes,
        dimension_names=dimension_names,
        clauses=_code(clauses)[0],
    )


def _code(names: dict[int, Name]) -> tuple[dict[int, int], tuple[Name, ...]]:
    """Number the different names in the order in which they come."""
    codes = {name: code for code, name in enumerate(dict.fromkeys(names.values()))}
    return {key: codes[name] for key, name in names.items()}, tuple(codes)

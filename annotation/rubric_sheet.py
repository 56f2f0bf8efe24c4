"""The rubric as the judging screen lays it out: with keys, and a query's clauses first."""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from string import ascii_uppercase

from annotation.contexts import ClauseChoice, DimensionChoice, GradeChoice, RubricSheet
from studies.models import Clause, RubricVersion
from studies.selectors import get_rubric_with_parts

# Letters that the judging screen uses itself: note, rubric, unsure, back.
RESERVED_KEYS = frozenset("NRUZ")


def get_rubric_sheet(version_id: int, query_class: str) -> RubricSheet:
    """The sheet of a version for queries of one class ("" for none)."""
    version = get_rubric_with_parts(version_id)
    lay = keep_sheet if version.published_at else lay_out
    return lay(version, query_class)


@lru_cache(maxsize=256)
def keep_sheet(version: RubricVersion, query_class: str) -> RubricSheet:
    """The sheet of a published version, which never changes; a draft's is not kept."""
    return lay_out(version, query_class)


def lay_out(version: RubricVersion, query_class: str) -> RubricSheet:
    dimensions = list(version.dimensions.all())
    keys = choose_letters([dimension.name for dimension in dimensions])
    grades = list(version.grades.all())
    digits = choose_digits([grade.value for grade in grades])
    names = {grade.value: f"{grade.value} {grade.name}" for grade in grades}
    return RubricSheet(
        number=version.number,
        grades=tuple(
            GradeChoice(
                grade.value,
                grade.name,
                grade.definition,
                digit,
                tuple(grade.examples),
            )
            for grade, digit in zip(grades, digits, strict=True)
        ),
        dimensions=tuple(
            DimensionChoice(
                dimension.name,
                dimension.test,
                key,
                order_clauses(dimension.clauses.all(), query_class, names),
            )
            for dimension, key in zip(dimensions, keys, strict=True)
        ),
        edge_cases=tuple(
            {"case": edge.case, "ruling": edge.ruling} for edge in version.edge_cases.all()
        ),
    )


def order_clauses(
    clauses: Iterable[Clause], query_class: str, grades: Mapping[int, str]
) -> tuple[ClauseChoice, ...]:
    """Clauses of this query's class first, each group in the rubric's order. `grades` holds what
    to call each value."""
    choices = [
        ClauseChoice(
            clause.name,
            clause.text,
            query_class in {one.name for one in clause.classes.all()},
            name_prescribed(clause.grade_when_failed, grades),
        )
        for clause in clauses
    ]
    return tuple(sorted(choices, key=lambda choice: not choice.is_for_this_class))


def name_prescribed(value: int | None, grades: Mapping[int, str]) -> str:
    """What to call the grade; a draft may prescribe one that it lacks."""
    return "" if value is None else grades.get(value, str(value))


def choose_digits(values: list[int]) -> list[str]:
    """The key of each grade: its value where that is a digit, else a digit that is still free,
    "" where none is."""
    keys = {value: str(value) for value in values if 0 <= value <= 9}
    free = (digit for digit in "1234567890" if digit not in keys.values())
    return [keys.get(value) or next(free, "") for value in values]


def choose_letters(names: list[str]) -> list[str]:
    """One free letter for each dimension: the first of its name that is still free."""
    taken = set(RESERVED_KEYS)
    keys = []
    for name in names:
        wanted = [letter for letter in name.upper() if letter in ascii_uppercase]
        key = next((one for one in [*wanted, *ascii_uppercase] if one not in taken), "")
        taken.add(key)
        keys.append(key)
    return keys

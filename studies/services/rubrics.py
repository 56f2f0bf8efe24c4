"""Publishing rubric versions, and reading them back as the files they came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from studies.formats.problems import Problems
from studies.formats.records import (
    ClauseSpec,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    GradeSpec,
    RubricFile,
)
from studies.formats.rubrics import read_rubric
from studies.models import (
    Clause,
    Dimension,
    EdgeCase,
    Grade,
    Member,
    QueryClass,
    RubricVersion,
    Study,
    User,
)
from studies.services.log import record_action

STARTER = Path(__file__).resolve().parent.parent / "starters" / "graded.yaml"


class RubricRefused(Exception):
    """The rubric cannot be published, for a reason that its author can act on."""


@lru_cache(maxsize=1)
def starter_rubric() -> RubricFile:
    """The graded 0-3 rubric of a study that brings none."""
    problems = Problems()
    with STARTER.open("rb") as stream:
        rubric = read_rubric(stream, file=STARTER.name, problems=problems)
    problems.raise_if_any()
    if rubric is None:
        raise ValueError(f"{STARTER.name} holds no rubric")
    return rubric


def complete_rubric(rubric: RubricFile) -> RubricFile:
    """The rubric with what its file leaves to the starter: grades, or dimensions, or both.

    Grades come in the order of their values.
    """
    starter = starter_rubric()
    grades = rubric.grades or starter.grades or []
    return replace(
        rubric,
        grades=sorted(grades, key=lambda grade: grade.value),
        dimensions=rubric.dimensions or starter.dimensions,
    )


def inherit_parts(
    rubrics: Mapping[int, RubricFile], published: Mapping[int, RubricVersion]
) -> dict[int, RubricFile]:
    """The rubrics by version number, each with what it leaves out, grades or dimensions, taken
    from the version before it.

    Only the first version has none before it; what it leaves out comes from the starter.
    """
    found: dict[int, RubricFile] = {}
    for number, rubric in sorted(rubrics.items()):
        before = max((n for n in {*found, *published} if n < number), default=None)
        if before is None:
            found[number] = rubric
            continue
        earlier = published.get(before)
        source = describe_rubric(earlier) if earlier else complete_rubric(found[before])
        found[number] = take_missing_parts(rubric, source)
    return found


def take_missing_parts(rubric: RubricFile, earlier: RubricFile) -> RubricFile:
    """The rubric with the grades or dimensions that it leaves out as they were earlier."""
    return replace(
        rubric,
        grades=earlier.grades if rubric.grades is None else rubric.grades,
        dimensions=rubric.dimensions or earlier.dimensions,
    )


def rubric_faults(rubric: RubricFile) -> list[str]:
    """What keeps a complete rubric from being published; empty when nothing does."""
    values = {grade.value for grade in rubric.grades or []}
    faults = [
        f"the clause {clause.name} of {dimension.name} prescribes the grade "
        f"{clause.grade_when_failed}, which is not of this rubric"
        for dimension in rubric.dimensions
        for clause in dimension.clauses
        if clause.grade_when_failed is not None and clause.grade_when_failed not in values
    ]
    return faults + [
        f"the name {name[:40]}… has {len(name)} characters, more than 80"
        for name in _names(rubric)
        if len(name) > 80
    ]


def _names(rubric: RubricFile) -> list[str]:
    clauses = [clause for dimension in rubric.dimensions for clause in dimension.clauses]
    return [
        *(grade.name for grade in rubric.grades or []),
        *(dimension.name for dimension in rubric.dimensions),
        *(clause.name for clause in clauses),
        *(name for clause in clauses for name in clause.classes),
    ]


@transaction.atomic
def publish_rubric(
    *,
    study: Study,
    rubric: RubricFile,
    number: int | None = None,
    user: User | None = None,
    member: Member | None = None,
    is_logged: bool = True,
) -> RubricVersion:
    """Publish a rubric as the study's next version (or as `number`, which must be free).

    What the file leaves out comes from the starter; query classes that only clauses name are
    created. `is_logged` is False where the study's log tells of it already. Raises RubricRefused,
    and IntegrityError for a number that is taken.
    """
    complete = complete_rubric(rubric)
    if faults := rubric_faults(complete):
        raise RubricRefused("; ".join(faults))
    version = RubricVersion.objects.create(
        study=study,
        number=number or _next_number(study),
        note=complete.note,
        published_by=member,
    )
    _add_grades(version, complete)
    _add_dimensions(version, complete)
    EdgeCase.objects.bulk_create(
        EdgeCase(rubric_version=version, case=edge.case, ruling=edge.ruling, position=position)
        for position, edge in enumerate(complete.edge_cases)
    )
    version.published_at = timezone.now()
    version.save(update_fields=["published_at"])
    if is_logged:
        record_action(
            study,
            "rubric.published",
            user=user,
            member=member,
            data={"number": version.number, "note": version.note},
        )
    return version


def _next_number(study: Study) -> int:
    newest = study.rubric_versions.order_by("-number").values_list("number", flat=True).first()
    return (newest or 0) + 1


def _add_grades(version: RubricVersion, rubric: RubricFile) -> None:
    Grade.objects.bulk_create(
        Grade(
            rubric_version=version,
            value=grade.value,
            name=grade.name,
            definition=grade.definition,
            is_relevant=grade.relevant,
            examples=[asdict(example) for example in grade.examples],
        )
        for grade in rubric.grades or []
    )


def _add_dimensions(version: RubricVersion, rubric: RubricFile) -> None:
    for position, spec in enumerate(rubric.dimensions):
        dimension = Dimension.objects.create(
            rubric_version=version, name=spec.name, test=spec.test, position=position
        )
        for place, clause in enumerate(spec.clauses):
            _add_clause(dimension, clause, place)


def _add_clause(dimension: Dimension, spec: ClauseSpec, position: int) -> None:
    clause = Clause.objects.create(
        dimension=dimension,
        name=spec.name,
        text=spec.text,
        grade_when_failed=spec.grade_when_failed,
        position=position,
    )
    clause.classes.set(ensure_classes(dimension.rubric_version.study, spec.classes))


def ensure_classes(study: Study, names: list[str]) -> list[QueryClass]:
    """The study's query classes of these names, created where missing."""
    known = study.query_classes.count()
    QueryClass.objects.bulk_create(
        (QueryClass(study=study, name=name, position=known + i) for i, name in enumerate(names)),
        ignore_conflicts=True,
    )
    return list(study.query_classes.filter(name__in=names))


def describe_rubric(version: RubricVersion) -> RubricFile:
    """A rubric version as the records of its file; publishing them gives an equal version.

    Clauses name their classes in alphabetical order.
    """
    return RubricFile(
        grades=[_grade_spec(grade) for grade in version.grades.order_by("value")],
        dimensions=[
            DimensionSpec(
                dimension.name,
                dimension.test,
                [_clause_spec(clause) for clause in dimension.clauses.all()],
            )
            for dimension in version.dimensions.prefetch_related("clauses__classes")
        ],
        edge_cases=[EdgeCaseSpec(edge.case, edge.ruling) for edge in version.edge_cases.all()],
        note=version.note,
    )


def list_examples(rubric: RubricFile) -> set[tuple[str, str]]:
    """What the rubric's examples call their query and their document by."""
    return {
        (example.query, example.document)
        for grade in rubric.grades or []
        for example in grade.examples
    }


def list_published_examples(study: Study) -> set[tuple[str, str]]:
    """The examples of every published version of the study."""
    published = study.rubric_versions.filter(published_at__isnull=False)
    return {found for version in published for found in list_examples(describe_rubric(version))}


def _grade_spec(grade: Grade) -> GradeSpec:
    return GradeSpec(
        value=grade.value,
        name=grade.name,
        definition=grade.definition,
        relevant=grade.is_relevant,
        examples=[ExampleSpec(**example) for example in grade.examples],
    )


def _clause_spec(clause: Clause) -> ClauseSpec:
    return ClauseSpec(
        name=clause.name,
        classes=sorted(query_class.name for query_class in clause.classes.all()),
        text=clause.text,
        grade_when_failed=clause.grade_when_failed,
    )


def same_rubric(version: RubricVersion, rubric: RubricFile) -> bool:
    """Whether a published version says what the file says."""
    return describe_rubric(version) == _with_sorted_classes(complete_rubric(rubric))


def _with_sorted_classes(rubric: RubricFile) -> RubricFile:
    dimensions = [
        replace(
            dimension,
            clauses=[
                replace(clause, classes=sorted(clause.classes)) for clause in dimension.clauses
            ],
        )
        for dimension in rubric.dimensions
    ]
    return replace(rubric, dimensions=dimensions)

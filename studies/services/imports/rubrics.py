"""Rubric versions: published once, never changed by a file."""

from __future__ import annotations

from collections.abc import Iterator

from studies.formats.records import RubricFile
from studies.models import RubricVersion, Study, User
from studies.rubric_drafts import find_unknown_classes
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.rubric_drafts import find_conflicts
from studies.services.rubric_usage import count_used_parts
from studies.services.rubrics import (
    RubricRefused,
    describe_rubric,
    inherit_parts,
    publish_rubric,
    same_rubric,
    starter_rubric,
)

DECLARE = "name it under classes in study.yaml, or as the class of a query"


def add_rubrics(
    study: Study,
    plan: StudyPlan,
    report: ImportReport,
    user: User | None,
    *,
    is_logged: bool = True,
) -> None:
    """Publish the versions the study lacks, in order; the starter where nothing is version 1.

    A version is refused for what the editor would refuse it for: a value with another meaning, a
    clause for a class that the study does not have (neither study.yaml nor a query names it),
    labels left without their grade or dimension.
    """
    published = {version.number: version for version in study.rubric_versions.all()}
    files = dict(plan.folder.rubrics)
    said = plan.rubrics
    if not published and 1 not in said:
        said = {1: starter_rubric(), **said}
        report.note("rubric.yaml", "the folder has none: version 1 is the graded 0–3 starter")
    rubrics = inherit_parts(said, published)
    classes = set(study.query_classes.values_list("name", flat=True))
    new = odd = 0
    for number, rubric in sorted(rubrics.items()):
        version = published.get(number)
        if version is None:
            name = files[number].name if number in files else "rubric.yaml"
            if unknown := find_unknown_classes(said[number], classes):
                for problem in unknown:
                    report.refuse("rubrics", name, problem.line, f"{problem.reason}; {DECLARE}")
                odd += 1
                continue
            try:
                _refuse_conflicts(study, number, rubric)
                publish_rubric(
                    study=study, rubric=rubric, number=number, user=user, is_logged=is_logged
                )
            except RubricRefused as refusal:
                report.refuse("rubrics", name, None, str(refusal))
                odd += 1
                continue
            source = "version before" if number > 1 else "graded 0–3 starter"
            for part in _list_missing_parts(said[number]):
                report.note(name, f"without {part}: it takes those of the {source}")
            new += 1
        elif not same_rubric(version, rubric):
            reason = (
                f"version {number} is published and says otherwise; a change needs a new file, "
                f"rubric-{max([*published, *rubrics]) + 1}.yaml"
            )
            report.conflict("rubrics", files[number].name, None, reason)
            odd += 1
    report.count("rubrics", read=len(rubrics), new=new, odd=odd)


def _list_missing_parts(said: RubricFile) -> Iterator[str]:
    """What a file leaves to the version before, or to the starter."""
    if said.grades is None:
        yield "grades"
    if not said.dimensions:
        yield "dimensions"


def _refuse_conflicts(study: Study, number: int, rubric: RubricFile) -> None:
    """Raises RubricRefused for what a version after the first may not say."""
    earlier = RubricVersion.objects.filter(study=study, number__lt=number)
    history = {version.number: describe_rubric(version) for version in earlier}
    if not history:
        return
    if faults := find_conflicts(rubric, history, count_used_parts(study)):
        raise RubricRefused(" ".join(faults))

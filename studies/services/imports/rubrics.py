"""Rubric versions: published once, never changed by a file."""

from __future__ import annotations

from studies.models import Study, User
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.rubrics import (
    RubricRefused,
    inherit_grades,
    publish_rubric,
    same_rubric,
    starter_rubric,
)


def add_rubrics(
    study: Study,
    plan: StudyPlan,
    report: ImportReport,
    user: User | None,
    *,
    is_logged: bool = True,
) -> None:
    """Publish the versions the study lacks, in order; the starter where nothing is version 1."""
    published = {version.number: version for version in study.rubric_versions.all()}
    files = dict(plan.folder.rubrics)
    rubrics = plan.rubrics
    if not published and 1 not in rubrics:
        rubrics = {1: starter_rubric(), **rubrics}
        report.note("rubric.yaml", "the folder has none: version 1 is the graded 0–3 starter")
    mute = {number for number, rubric in rubrics.items() if rubric.grades is None and number > 1}
    rubrics = inherit_grades(rubrics, published)
    new = 0
    for number, rubric in sorted(rubrics.items()):
        version = published.get(number)
        if version is None:
            try:
                publish_rubric(
                    study=study, rubric=rubric, number=number, user=user, is_logged=is_logged
                )
            except RubricRefused as refusal:
                report.refuse("rubrics", files[number].name, None, str(refusal))
                continue
            if number in mute:
                report.note(
                    files[number].name, "without grades: it takes those of the version before"
                )
            new += 1
        elif not same_rubric(version, rubric):
            reason = (
                f"version {number} is published and says otherwise; a change needs a new file, "
                f"rubric-{max([*published, *rubrics]) + 1}.yaml"
            )
            report.conflict("rubrics", files[number].name, None, reason)
    report.count("rubrics", read=len(rubrics), new=new)

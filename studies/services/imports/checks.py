"""What can be wrong between the files of a study, seen without the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from studies.services.people import account_fault
from studies.services.rubrics import complete_rubric, inherit_parts, rubric_faults

if TYPE_CHECKING:
    from studies.services.imports.plan import StudyPlan

SHORT_NAME = 80
"""The longest name of a class, a round, a grade, a dimension or a clause."""

TITLE = 200


def check_plan(plan: StudyPlan) -> None:
    """Add to the plan's report what its files say that cannot be, and what deserves a note."""
    for kind, faults in (
        ("settings", _setting_faults(plan)),
        ("people", _people_faults(plan)),
        ("rubrics", _rubric_faults(plan)),
        ("queries", _query_faults(plan)),
        ("rounds", _round_faults(plan)),
    ):
        for file, line, reason in faults:
            plan.report.refuse(kind, file, line, reason)
    _note_what_is_missing(plan)


Fault = tuple[str, int | None, str]


def _too_long(names: Iterable[str], what: str) -> Iterator[str]:
    for name in names:
        if len(name) > SHORT_NAME:
            yield f"the {what} {name[:40]}… has {len(name)} characters, more than {SHORT_NAME}"


def _setting_faults(plan: StudyPlan) -> Iterator[Fault]:
    settings = plan.settings
    if len(settings.title) > TITLE:
        yield "study.yaml", None, f"the title has more than {TITLE} characters"
    for reason in _too_long((spec.name for spec in settings.classes), "class"):
        yield "study.yaml", None, reason
    for spec in settings.classes:
        if len(spec.title) > TITLE:
            reason = f"the title of the class {spec.name} has more than {TITLE} characters"
            yield "study.yaml", None, reason


def _people_faults(plan: StudyPlan) -> Iterator[Fault]:
    for person in plan.settings.people:
        if fault := account_fault(person.name):
            yield "study.yaml", None, f"people: {fault}"


def _rubric_faults(plan: StudyPlan) -> Iterator[Fault]:
    paths = dict(plan.folder.rubrics)
    for number, rubric in inherit_parts(plan.rubrics, {}).items():
        if rubric.grades is None and number > 1:
            continue  # The study may have the version whose grades are meant.
        for reason in rubric_faults(complete_rubric(rubric)):
            yield paths[number].name, None, reason


def _query_faults(plan: StudyPlan) -> Iterator[Fault]:
    first: dict[str, int] = {}
    for query in plan.queries:
        first.setdefault(query.query_class or "", query.line)
    for name, line in first.items():
        for reason in _too_long([name], "class"):
            yield plan.queries_file, line, reason


def _round_faults(plan: StudyPlan) -> Iterator[Fault]:
    for reason in _too_long((spec.name for spec in plan.settings.rounds), "round"):
        yield "study.yaml", None, reason


def _note_what_is_missing(plan: StudyPlan) -> None:
    if plan.known is not None:
        return
    report = plan.report
    unpooled = {query.query_id for query in plan.queries} - {pair.query_id for pair in plan.pool}
    if plan.pool and unpooled:
        shown = ", ".join(sorted(unpooled)[:5])
        report.note(
            plan.queries_file,
            f"kept and not judged, without a document in the pool: {len(unpooled):,} of "
            f"{len(plan.queries):,} queries ({shown}{', …' if len(unpooled) > 5 else ''})",
        )
    if not plan.pool:
        report.note(plan.folder.path.name, "no runs and no pool: nothing can be judged of it yet")

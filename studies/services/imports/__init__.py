"""Importing a study from its files: all of it or nothing, and twice is the same as once."""

from __future__ import annotations

from typing import Protocol

from django.db.backends.utils import CursorWrapper

from studies.models import Study, User
from studies.services.imports.documents import add_documents
from studies.services.imports.fetching import FetchedImages
from studies.services.imports.log import restore_log
from studies.services.imports.plan import KnownStudy, StudyPlan, read_study
from studies.services.imports.pools import add_controls, add_pairs
from studies.services.imports.queries import add_queries
from studies.services.imports.report import ImportRefused, ImportReport, Progress, Tally
from studies.services.imports.rounds import (
    add_rounds,
    close_rounds,
    close_rounds_here,
    find_rounds_to_close,
)
from studies.services.imports.rubrics import add_rubrics
from studies.services.imports.runs import add_runs
from studies.services.imports.settings import add_classes, add_people, add_study, restore_settings
from studies.services.imports.staging import Watch, all_or_nothing
from studies.services.log import record_action

__all__ = [
    "FetchedImages",
    "ImportRefused",
    "ImportReport",
    "KnownStudy",
    "Progress",
    "StudyPlan",
    "Tally",
    "import_study",
    "read_study",
]


class Continue(Protocol):
    """What follows the import of a study, within its transaction."""

    def __call__(self, study: Study, plan: StudyPlan, *, created: bool) -> None: ...


def import_study(
    plan: StudyPlan,
    *,
    dry_run: bool = False,
    user: User | None = None,
    progress: Progress | None = None,
    then: Continue | None = None,
) -> ImportReport:
    """Write what `read_study` read, in one transaction; with `dry_run` only say what would be.

    What is there stays: nothing judged is moved or removed, and a plan imported before changes
    nothing. `then` goes on in the same transaction, with what builds on a study's contents; it adds
    to the plan's report. Raises ImportRefused, with everything that conflicts, when anything does.
    """
    report = plan.report
    report.dry_run = dry_run
    with all_or_nothing(dry_run=dry_run) as cursor:
        study, created = add_study(plan, report)
        ending = [] if created else find_rounds_to_close(study, plan)
        _add_contents(cursor, study, plan, report, created=created, user=user, progress=progress)
        if created:
            restore_settings(study, plan)
        if then is not None:
            then(study, plan, created=created)
        report.raise_if_refused()
        if created:
            close_rounds(study, plan)
        close_rounds_here(ending, report, user)
        if report.new:
            record_action(study, "study.imported", user=user, data={"counts": report.counts()})
    return report


def _add_contents(
    cursor: CursorWrapper,
    study: Study,
    plan: StudyPlan,
    report: ImportReport,
    *,
    created: bool,
    user: User | None,
    progress: Progress | None,
) -> None:
    watch = Watch(plan.rows, progress)
    add_classes(study, plan, report)
    # A log that moves with the study tells already who joined and what was published.
    log_moves = created and plan.folder.log is not None
    add_people(study, plan, report, user, is_logged=not log_moves)
    if log_moves and plan.folder.log:
        machines = plan.state.machines if plan.state else []
        restore_log(cursor, study, plan.folder.log, report, machines=machines)
    add_rubrics(study, plan, report, user, is_logged=not log_moves)
    if not study.rubric_versions.exists():
        # Its rubric was refused; rounds and labels have nothing to be checked against.
        report.raise_if_refused()
    add_queries(cursor, study, plan, report, watch)
    add_documents(cursor, study=study, documents=plan.documents, report=report, watch=watch)
    add_runs(cursor, study, plan, report, watch)
    add_pairs(cursor, study, plan, report, watch)
    add_controls(cursor, study, plan, report)
    add_rounds(cursor, study, plan, report)

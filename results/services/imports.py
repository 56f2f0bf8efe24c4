"""A whole study from its folder: what is judged, and what was already collected of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connection

from annotation.services.imports import JudgmentOptions, add_judgments
from annotation.services.imports.places import take_up_growth
from annotation.services.imports.state import restore_state
from results.services.calibration_imports import restore_notes
from results.services.exports.settings import describe_settings
from results.services.final_label_imports import add_final_labels
from results.services.targets import take_over_target
from studies.formats.records import RoundSpec, RunFile, RunHit, StudyFile
from studies.models import Study, User
from studies.selectors import select_rankings
from studies.services.imports import (
    FetchedImages,
    ImportReport,
    KnownStudy,
    Progress,
    StudyPlan,
    import_study,
    read_study,
)
from studies.services.imports.report import no_progress


def import_folder(
    folder: Path,
    *,
    dry_run: bool = False,
    user: User | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """Import a study with its labels in one transaction; with `dry_run` only say what would be.

    Runs that a study gains are pooled together with those it has. A study that is new here also
    takes over the claims, closed rounds and log of where it comes from. Raises ImportRefused, with
    everything that is wrong, when anything is.
    """
    with TemporaryDirectory(prefix="dissensus-images-") as scratch:
        images = FetchedImages(Path(scratch), progress or no_progress)
        plan = read_study(folder, progress=progress, images=images, find_known=_find_known)
        then = Collected(user, progress)
        return import_study(plan, dry_run=dry_run, user=user, progress=progress, then=then)


def _find_known(settings: StudyFile) -> KnownStudy | None:
    study = Study.objects.filter(slug=settings.study).first()
    return None if study is None else describe_known(study, settings.depth)


def describe_known(study: Study, depth: int | None) -> KnownStudy:
    """The study as it stands, its rounds as they are, its pool as deep as asked for."""
    found = describe_settings(study, [])
    wanted = (depth or found.depth) if study.depth is None else max(found.depth, depth or 0)
    rounds = found.rounds or [RoundSpec("main", "main")]
    return KnownStudy(
        settings=replace(found, depth=wanted, people=[], rounds=rounds),
        load_runs=lambda: list(list_runs(study, wanted)),
        load_query_ids=lambda: set(study.queries.values_list("external_id", flat=True)),
        load_document_ids=lambda: set(study.documents.values_list("external_id", flat=True)),
        is_deeper=study.depth is not None and wanted > study.depth,
    )


def list_runs(study: Study, depth: int) -> Iterator[RunFile]:
    """The study's runs down to this depth."""
    for run in study.runs.order_by("name"):
        rankings = select_rankings(run).order_by("pk")
        hits = [
            RunHit(ranking.query.external_id, document_id, rank, score, line=0)
            for ranking in rankings.iterator()
            for rank, document_id, score in islice(ranking.list_hits(), depth)
        ]
        yield RunFile(run.name, run.tag, hits)


class Collected:
    """What follows the study's own import: labels, final labels, and the state of collecting.

    With `keep_source`, labels that the files say were given in the app stay such.
    """

    def __init__(
        self, user: User | None, progress: Progress | None, *, keep_source: bool = True
    ) -> None:
        self.user = user
        self.progress = progress
        self.keep_source = keep_source

    def __call__(self, study: Study, plan: StudyPlan, *, created: bool) -> None:
        report = plan.report
        moves = created and plan.state is not None
        take_over_target(study, plan.settings.target, report, created=created)
        if plan.folder.judgments is not None:
            add_judgments(
                study=study,
                path=plan.folder.judgments,
                options=JudgmentOptions(keep_source=self.keep_source),
                report=report,
                user=self.user,
                progress=self.progress,
                take_places=not moves,
                log_each=not (created and plan.folder.log),
            )
        if report.grown and not created:
            take_up_growth(study, report)
        if plan.folder.final_labels is not None and not report.problems:
            add_final_labels(
                study=study,
                path=plan.folder.final_labels,
                report=report,
                user=self.user,
                keep_source=moves,
                log_each=not (created and plan.folder.log),
            )
        if moves and plan.state is not None and not report.problems:
            with connection.cursor() as cursor:
                restore_state(cursor, study, plan.state, report)
                restore_notes(cursor, study, plan.state.calibration_notes, report)

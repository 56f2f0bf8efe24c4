"""Imports on the page, the worker's side: a draft is read as a dry run, and imported once.

Both build the study's folder anew from the draft's files in the storage, so that any worker can
do it, and again if one dies.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.conf import settings
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from annotation.services.imports import JudgmentOptions, add_judgments
from results.selectors.blindness import list_unfinished_rounds
from results.services.final_label_imports import KIND as FINAL_LABELS
from results.services.imports import Collected, describe_known
from studies.formats.archives import Bounds, check_compressed, unpack_archive
from studies.formats.placing import FOLDERS, name_meaning, place_file
from studies.formats.problems import Problems
from studies.formats.runs import run_name
from studies.models import ImportDraft, Member, Study
from studies.services.import_drafts import end_draft, folder_of
from studies.services.imports import (
    FetchedImages,
    ImportRefused,
    ImportReport,
    Progress,
    StudyPlan,
    import_study,
    read_study,
)

MAX_ENTRIES = 20_000
FILE_SHARE, TOTAL_SHARE = 4, 8
SHOWN_PROBLEMS = 1000

State = ImportDraft.State
IGNORED = {"state": "state.json", "log": "log.jsonl"}


@dataclass(frozen=True, slots=True)
class LaidOut:
    """A draft's files as a folder: what of a study, labels beside it, fetched images."""

    study: Path
    labels: Path | None
    images: Path
    meanings: list[dict[str, Any]]


def read_draft(draft: ImportDraft, progress: Progress) -> None:
    """Read the files as a dry run; the draft then waits to be confirmed, or is refused."""
    if draft.state != State.UPLOADED:
        return
    report = ImportReport(draft.study.slug, dry_run=True)
    with laid_out(draft, report) as files:
        try:
            report.raise_if_refused()
            report = import_into(draft, files, report, progress)
        except ImportRefused as refusal:
            report = refusal.report
        told = tell_report(report, files.meanings)
        if not report.problems:
            told["fetched"] = keep_fetched(draft, files.images)
    with transaction.atomic():
        draft = ImportDraft.objects.select_for_update(of=("self",)).get(pk=draft.pk)
        if draft.state != State.UPLOADED:
            return
        if report.problems:
            end_draft(draft, State.REFUSED, told)
        else:
            draft.state, draft.report = State.READ, told
            draft.save(update_fields=["state", "report"])


def run_draft(draft_id: int, progress: Progress) -> None:
    """Import a confirmed draft, all of it or nothing, and once.

    The draft's row stays locked until all is written, and says so in the same transaction: a
    second worker waits and then finds nothing to do, and one that dies leaves it confirmed.
    """
    try:
        with transaction.atomic():
            draft = ImportDraft.objects.select_for_update(of=("self",)).get(pk=draft_id)
            if draft.state != State.CONFIRMED:
                return
            report = ImportReport(draft.study.slug)
            with laid_out(draft, report) as files:
                report.raise_if_refused()
                report = import_into(draft, files, report, progress)
                end_draft(draft, State.IMPORTED, draft.report | tell_report(report, files.meanings))
    except ImportRefused as refusal:
        with transaction.atomic():
            draft = ImportDraft.objects.select_for_update(of=("self",)).get(pk=draft_id)
            if draft.state == State.CONFIRMED:
                told = tell_report(refusal.report, draft.report.get("files", []))
                end_draft(draft, State.REFUSED, draft.report | told)


@contextmanager
def laid_out(draft: ImportDraft, report: ImportReport) -> Iterator[LaidOut]:
    """The draft's files, each where it belongs, in a folder that goes with the block.

    What cannot be placed or unpacked is refused in the report.
    """
    with TemporaryDirectory(prefix="dissensus-import-") as name:
        top = Path(name)
        study, labels, images = top / draft.study.slug, top / "labels", top / "images"
        for folder in (study, labels, images):
            folder.mkdir()
        for file in draft.files:
            if place := _place(file, study, labels, report.problems):
                _fetch(file, place, study, report.problems)
        for file in draft.report.get("fetched", []):
            _copy(file["stored"], images / file["name"])
        bounds = find_bounds()
        for path in sorted([*study.rglob("*.gz"), *labels.rglob("*.gz")]):
            check_compressed(path, file=path.name, bounds=bounds, problems=report.problems)
        yield LaidOut(study, next(labels.iterdir(), None), images, list(list_meanings(study)))


def find_bounds() -> Bounds:
    """How much an upload may unpack to."""
    limit = settings.UPLOAD_LIMIT
    return Bounds(MAX_ENTRIES, FILE_SHARE * limit, TOTAL_SHARE * limit)


def _place(file: dict[str, Any], study: Path, labels: Path, problems: Problems) -> Path | None:
    """Where an upload goes; None where its name fits nowhere, which is refused."""
    name, kind = str(file["name"]), file["kind"]
    # The browser's name for it: a path in it, or a name no file can have, is not followed.
    if Path(name).name != name or name.startswith(".") or len(name.encode()) > 255:
        problems.add(name[:80], None, "no file of a study can have this name")
        return None
    if kind == "judgments":
        return labels / name
    if kind == "run":
        return study / "runs" / name
    if name.lower().endswith(".zip"):
        return study.parent / name
    place = place_file(name)
    if place is None:
        problems.add(
            name,
            None,
            "it is none of the files of a study; runs and labels have fields of their own",
        )
        return None
    return study / place


def _fetch(file: dict[str, Any], place: Path, study: Path, problems: Problems) -> None:
    if place.exists():
        problems.add(file["name"], None, "two files of this name were uploaded")
        return
    place.parent.mkdir(exist_ok=True)
    _copy(file["stored"], place)
    if place.parent == study.parent:
        with place.open("rb") as stream:
            unpack_archive(
                stream, study, file=file["name"], bounds=find_bounds(), problems=problems
            )


def _copy(stored: str, place: Path) -> None:
    with default_storage.open(stored) as source, place.open("wb") as sink:
        shutil.copyfileobj(source, sink)


def list_meanings(study: Path) -> Iterator[dict[str, Any]]:
    """What each file was understood as; the files of a folder of documents are counted."""
    for path in sorted(study.iterdir()):
        if path.is_file():
            yield {"file": path.name, "meaning": name_meaning(path.name), "count": 1}
        elif path.name == "runs":
            for run in sorted(path.iterdir()):
                yield {"file": f"runs/{run.name}", "meaning": "run", "name": run_name(run.name)}
        elif path.name in FOLDERS:
            count = sum(1 for _ in path.iterdir())
            yield {"file": f"{path.name}/", "meaning": path.name, "count": count}


def keep_fetched(draft: ImportDraft, images: Path) -> list[dict[str, str]]:
    """Store what was fetched for the report, so that the same is imported."""
    kept = []
    for path in sorted(images.iterdir()):
        with path.open("rb") as stream:
            stored = default_storage.save(f"{folder_of(draft)}/{path.name}", File(stream))
        kept.append({"name": path.name, "stored": stored})
    return kept


def import_into(
    draft: ImportDraft, files: LaidOut, unpacked: ImportReport, progress: Progress
) -> ImportReport:
    """Import a folder into the study that is there. No account is created, no role is given.

    The report goes on from `unpacked`, that of laying out the files: its notes, and whether this
    is a dry run. Raises ImportRefused, with everything that is wrong, when anything is.
    """
    study, options = draft.study, draft.options
    images = FetchedImages(files.images, progress)
    known = describe_known(study, options["depth"])
    plan = read_study(files.study, progress=progress, images=images, known=known)
    for note in unpacked.notes:
        plan.report.note(note.file, note.text)
    leave_out_people(plan)
    refuse_labels_of_judges(draft, plan, files.labels)
    then = WithLabels(draft, files.labels, progress)
    return import_study(
        plan,
        dry_run=unpacked.dry_run,
        user=draft.created_by,
        progress=progress,
        then=then,
    )


class WithLabels:
    """What follows the study's own import: what the folder holds of labels, then those that
    were uploaded beside it."""

    def __init__(self, draft: ImportDraft, labels: Path | None, progress: Progress) -> None:
        self.draft = draft
        self.labels = labels
        self.progress = progress

    def __call__(self, study: Study, plan: StudyPlan, *, created: bool) -> None:
        Collected(self.draft.created_by, self.progress, keep_source=False)(
            study, plan, created=created
        )
        if self.labels is None or plan.report.problems:
            return
        options = self.draft.options
        add_judgments(
            study=study,
            path=self.labels,
            options=JudgmentOptions(
                annotator=options["annotator"] or None,
                round_name=options["round_name"] or None,
                machine=options["machine"],
                extend_pool=options["extend_pool"],
                annotator_from_iteration=options["annotator_from_iteration"],
            ),
            report=plan.report,
            user=self.draft.created_by,
            progress=self.progress,
        )


def refuse_labels_of_judges(draft: ImportDraft, plan: StudyPlan, labels: Path | None) -> None:
    """Refuse every file of labels (others', final or established ones) from who is still to judge
    here, and take it out of the plan: which lines are new, the same or otherwise in the study
    would tell them what others said."""
    member = Member.objects.filter(study=draft.study, user=draft.created_by).first()
    rounds = list_unfinished_rounds(member) if member else []
    if not rounds:
        return
    folder = plan.folder
    given = {
        "judgments": (folder.judgments, labels),
        FINAL_LABELS: (folder.final_labels,),
        "controls": (folder.controls,),
    }
    reason = (
        f"you still judge in the round {rounds[0]}, and what is in the study already would "
        "tell you others' labels; let somebody import it who does not"
    )
    for kind, paths in given.items():
        for path in filter(None, paths):
            plan.report.refuse(kind, path.name, None, reason)
    plan.folder = replace(folder, judgments=None, final_labels=None, controls=None)
    plan.controls = []


def leave_out_people(plan: StudyPlan) -> None:
    """Take out of the plan what would create accounts, give roles or rewrite what happened."""
    report = plan.report
    if plan.settings.people:
        names = ", ".join(person.name for person in plan.settings.people)
        report.note("study.yaml", f"people are passed over ({names}); invite them on the page")
    for attribute, file in IGNORED.items():
        if getattr(plan.folder, attribute) is not None:
            report.note(file, "passed over; it only counts when a study moves as a whole")
    plan.settings = replace(plan.settings, people=[])
    plan.folder = replace(plan.folder, log=None, state=None)
    plan.state = None


def tell_report(report: ImportReport, meanings: list[dict[str, Any]]) -> dict[str, Any]:
    """The report as plain data, for the page."""
    problems = report.problems
    return {
        "files": meanings,
        "counts": report.counts(),
        "new": report.new,
        "has_reopened": report.has_reopened,
        "problems": [
            [problem.file, problem.line, problem.reason]
            for problem in problems.items[:SHOWN_PROBLEMS]
        ],
        "problem_count": problems.count,
        "notes": [[note.file, note.line, note.text] for note in problems.notes[:SHOWN_PROBLEMS]],
        "note_count": problems.note_count,
    }

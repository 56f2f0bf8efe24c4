"""What the import pages show."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from studies.access import StudyAccess
from studies.import_forms import UploadForm
from studies.models import ImportDraft, Study

DRAFTS_SHOWN = 20

WORDS = {
    word: word
    for word in (
        gettext_noop("settings"),
        gettext_noop("classes"),
        gettext_noop("rubric"),
        gettext_noop("rubrics"),
        gettext_noop("queries"),
        gettext_noop("documents"),
        gettext_noop("documents by id"),
        gettext_noop("document"),
        gettext_noop("images"),
        gettext_noop("image"),
        gettext_noop("run"),
        gettext_noop("runs"),
        gettext_noop("run hits"),
        gettext_noop("pool"),
        gettext_noop("pairs"),
        gettext_noop("controls"),
        gettext_noop("rounds"),
        gettext_noop("round queries"),
        gettext_noop("judgments"),
        gettext_noop("identities"),
        gettext_noop("final labels"),
        gettext_noop("reading"),
        gettext_noop("fetching images"),
    )
}
HIDDEN_COUNTS = frozenset({"settings", "people"})
"""What the page cannot bring: settings stay as they are, people come by invitation."""


@dataclass(frozen=True, slots=True)
class DraftRow:
    url: str
    files: str
    state: str
    label: str
    by: str
    created_at: datetime


@dataclass(frozen=True, slots=True)
class ImportPage:
    """`limit` is the largest upload in MiB."""

    study: Study
    form: UploadForm
    drafts: Sequence[DraftRow]
    limit: int
    problem: str = ""


@dataclass(frozen=True, slots=True)
class FileRow:
    """What a file was understood as; `count` is how many files a folder holds."""

    file: str
    meaning: str
    count: int


@dataclass(frozen=True, slots=True)
class CountRow:
    kind: str
    read: int
    new: int
    same: int
    conflicting: int
    refused: int


@dataclass(frozen=True, slots=True)
class Remark:
    """`line` is None where the file has no lines."""

    file: str
    line: int | None
    text: str


@dataclass(frozen=True, slots=True)
class DraftPage:
    """A draft. `is_working` while a worker has it or is to have it, `has_failed` where the
    worker gave up: it can be tried again."""

    study: Study
    id: str
    state: str
    label: str
    files: Sequence[str]
    is_working: bool
    has_failed: bool
    done: int
    total: int
    message: str
    error: str
    expires_at: datetime
    has_expired: bool
    meanings: Sequence[FileRow]
    counts: Sequence[CountRow]
    new: int
    has_reopened: bool
    problems: Sequence[Remark]
    problem_count: int
    notes: Sequence[Remark]
    note_count: int
    problem: str = ""

    @property
    def further_problems(self) -> int:
        return self.problem_count - len(self.problems)

    @property
    def may_confirm(self) -> bool:
        return self.state == ImportDraft.State.READ and bool(self.new) and not self.has_expired

    @property
    def may_discard(self) -> bool:
        return self.state == ImportDraft.State.READ or self.has_failed


def show_import(
    access: StudyAccess, *, form: UploadForm | None = None, problem: str = ""
) -> ImportPage:
    study = access.study
    latest = study.import_drafts.select_related("created_by")[:DRAFTS_SHOWN]
    return ImportPage(
        study=study,
        form=form or UploadForm(study=study),
        drafts=[show_row(study, draft) for draft in latest],
        limit=settings.UPLOAD_LIMIT // 1024**2,
        problem=problem,
    )


def show_row(study: Study, draft: ImportDraft) -> DraftRow:
    return DraftRow(
        url=reverse("studies:import-draft", args=[study.slug, draft.public_id]),
        files=", ".join(list_names(draft)),
        state=draft.state,
        label=str(ImportDraft.State(draft.state).label),
        by=draft.created_by.username,
        created_at=draft.created_at,
    )


def list_names(draft: ImportDraft) -> list[str]:
    return [file["name"] for file in draft.files]


def show_draft(study: Study, draft: ImportDraft, *, problem: str = "") -> DraftPage:
    job, report = draft.job, draft.report
    is_open = draft.state in {ImportDraft.State.UPLOADED, ImportDraft.State.CONFIRMED}
    has_failed = is_open and job is not None and job.has_failed
    return DraftPage(
        study=study,
        id=str(draft.public_id),
        state=draft.state,
        label=str(ImportDraft.State(draft.state).label),
        files=list_names(draft),
        is_working=is_open and not has_failed,
        has_failed=has_failed,
        done=job.progress if job else 0,
        total=job.total if job else 0,
        message=say(job.message) if job else "",
        error=job.fault if job else "",
        expires_at=draft.expires_at,
        has_expired=draft.has_expired,
        meanings=[
            FileRow(one["file"], say(one["meaning"]), one.get("count", 1))
            for one in report.get("files", [])
        ],
        counts=list_counts(report.get("counts", {})),
        new=report.get("new", 0),
        has_reopened=report.get("has_reopened", False),
        problems=[Remark(*one) for one in report.get("problems", [])],
        problem_count=report.get("problem_count", 0),
        notes=[Remark(*one) for one in report.get("notes", [])],
        note_count=report.get("note_count", 0),
        problem=problem,
    )


def list_counts(counts: Mapping[str, Mapping[str, Any]]) -> list[CountRow]:
    """What there was to count, as a study is built; a kind with nothing in it is left out."""
    places = {word: place for place, word in enumerate(WORDS)}
    return [
        CountRow(kind=say(kind), **counts[kind])
        for kind in sorted(counts, key=lambda kind: places.get(kind, len(places)))
        if kind not in HIDDEN_COUNTS and any(counts[kind].values())
    ]


def say(word: str) -> str:
    """A word of a report in the reader's language."""
    return _(WORDS[word]) if word in WORDS else word

"""Imports on the page: files are kept as a draft, read by a worker, confirmed, and imported.

This is the side of the person; what the worker does is `results.services.import_drafts`.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import Any

from django.core.files.storage import default_storage
from django.core.files.uploadedfile import UploadedFile
from django.db import transaction
from django.utils import timezone

from studies.models import ImportDraft, Job, Study, User
from studies.services.jobs import request_job
from studies.services.log import record_action

READ_IMPORT = "read_import"
RUN_IMPORT = "run_import"
KEPT_FOR = timedelta(days=1)

State = ImportDraft.State


class DraftClosed(Exception):
    """The draft is over, or is not at the point where this can be done."""


@dataclass(frozen=True, kw_only=True)
class ImportOptions:
    """How labels in the upload are understood, and how deep the pool is to become (None: as
    it is)."""

    annotator: str = ""
    round_name: str = ""
    machine: bool = False
    extend_pool: bool = False
    annotator_from_iteration: bool = False
    depth: int | None = None


def create_draft(
    *,
    study: Study,
    user: User,
    uploads: Iterable[tuple[str, UploadedFile[Any]]],
    options: ImportOptions | None = None,
) -> ImportDraft:
    """Keep the uploads, each with its kind (`study`, `run` or `judgments`), and have them read."""
    sweep_drafts()
    draft = ImportDraft(
        study=study,
        created_by=user,
        options=asdict(options or ImportOptions()),
        expires_at=timezone.now() + KEPT_FOR,
    )
    try:
        for kind, upload in uploads:
            draft.files.append(keep_file(draft, kind, upload))
        with transaction.atomic():
            draft.save()
            request_draft_job(draft, user)
    except BaseException:
        delete_files(draft)
        raise
    return draft


def keep_file(draft: ImportDraft, kind: str, upload: UploadedFile[Any]) -> dict[str, Any]:
    """Store one upload; its own name is kept in words only and never becomes a path."""
    wanted = f"{folder_of(draft)}/{len(draft.files) + 1:04}"
    stored = default_storage.save(wanted, upload)
    return {"name": upload.name or "", "kind": kind, "stored": stored, "bytes": upload.size or 0}


def folder_of(draft: ImportDraft) -> str:
    """The draft's folder in the storage."""
    return f"imports/{draft.public_id}"


def confirm_draft(*, draft: ImportDraft, user: User) -> ImportDraft:
    """Have the draft imported; confirmed again, it is imported once all the same.

    Raises DraftClosed for a draft that was not read well, is over or has expired.
    """
    with transaction.atomic():
        locked = lock_draft(draft)
        if locked is None or locked.state in {State.CONFIRMED, State.IMPORTED}:
            return locked or draft
        draft = locked
        if draft.state != State.READ or draft.has_expired:
            raise DraftClosed
        draft.state = State.CONFIRMED
        request_draft_job(draft, user)
        names = [file["name"] for file in draft.files]
        record_action(draft.study, "import.confirmed", user=user, data={"files": names})
    return draft


def retry_draft(*, draft: ImportDraft, user: User) -> ImportDraft:
    """Do again what a worker could not finish. Raises DraftClosed where nothing is to be done."""
    with transaction.atomic():
        locked = lock_draft(draft)
        if locked is None:
            return draft
        if locked.state not in {State.UPLOADED, State.CONFIRMED} or locked.has_expired:
            raise DraftClosed
        if locked.job is None or not locked.job.is_at_work:
            request_draft_job(locked, user)
    return locked


def lock_draft(draft: ImportDraft) -> ImportDraft | None:
    """The draft's row of now, locked; None while a worker imports it, which may take minutes."""
    rows = ImportDraft.objects.select_for_update(of=("self",), skip_locked=True)
    return rows.select_related("job").filter(pk=draft.pk).first()


def request_draft_job(draft: ImportDraft, user: User) -> None:
    """Send out the job that belongs to the draft's state."""
    kind = RUN_IMPORT if draft.state == State.CONFIRMED else READ_IMPORT
    arguments: Mapping[str, Any] = {"draft": str(draft.public_id)}
    draft.job = request_job(kind=kind, study=draft.study, user=user, arguments=arguments)
    draft.save(update_fields=["state", "job"])


def discard_draft(*, draft: ImportDraft) -> None:
    """Throw the files away. Raises DraftClosed for a draft that is over or being imported."""
    with transaction.atomic():
        locked = lock_draft(draft)
        if locked is None or locked.is_over or is_being_imported(locked):
            raise DraftClosed
        end_draft(locked, State.DISCARDED)


def is_being_imported(draft: ImportDraft) -> bool:
    """Whether a worker has the draft, or will have it: not one whose job is over or lost."""
    return draft.state == State.CONFIRMED and (draft.job is None or draft.job.is_at_work)


def end_draft(
    draft: ImportDraft, state: ImportDraft.State, report: dict[str, Any] | None = None
) -> None:
    """Close a locked draft; its files go when the transaction is through."""
    draft.state = state
    if report is not None:
        draft.report = report
    draft.save(update_fields=["state", "report"])
    transaction.on_commit(lambda: delete_files(draft))


def delete_files(draft: ImportDraft) -> None:
    """Delete what the storage holds of the draft, and its folder where the storage has one."""
    folder = folder_of(draft)
    try:
        _folders, names = default_storage.listdir(folder)
    except FileNotFoundError:
        return
    for name in names:
        default_storage.delete(f"{folder}/{name}")
    with contextlib.suppress(OSError, NotImplementedError):
        default_storage.delete(folder)


def sweep_drafts() -> int:
    """Discard drafts that nobody confirmed in time; returns their number.

    One that a worker is busy with stays until the worker is done.
    """
    with transaction.atomic():
        expired = list(
            ImportDraft.objects.select_for_update(of=("self",), skip_locked=True)
            .filter(
                state__in=[State.UPLOADED, State.READ, State.CONFIRMED],
                expires_at__lte=timezone.now(),
            )
            .exclude(job__state=Job.State.RUNNING)
        )
        for draft in expired:
            end_draft(draft, State.DISCARDED)
    return len(expired)

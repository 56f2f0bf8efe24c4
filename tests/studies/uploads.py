"""Uploads as a browser sends them, and the worker's part of an import done at once."""

import io
import stat
import zipfile
from collections.abc import Mapping

from django.core.files.uploadedfile import SimpleUploadedFile
from django.http import HttpResponse
from django.test import Client

from results import tasks
from studies.models import ImportDraft, Job, Study
from studies.services.jobs import run_job
from tests.studies.study_folders import HELP, RUN_A, RUN_B

assert tasks  # registers the works

FILES: dict[str, str | bytes] = {name: text for name, text in HELP.items() if name != "study.yaml"}
STUDY_FILES = {name: text for name, text in FILES.items() if "/" not in name}
RUNS = {"a.run": RUN_A, "b.run": RUN_B}


def upload(name: str, content: str | bytes = "") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, content if isinstance(content, bytes) else content.encode())


def uploads(**files: Mapping[str, str | bytes]) -> dict[str, list[SimpleUploadedFile]]:
    """Fields of the form from names and contents, by field."""
    return {
        field: [upload(name, text) for name, text in named.items()]
        for field, named in files.items()
    }


def zipped(files: Mapping[str, str | bytes], *, mode: int = stat.S_IFREG | 0o644) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = mode << 16
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, content)
    return buffer.getvalue()


def work() -> None:
    """Do every job that waits, as a worker would."""
    for pk in list(Job.objects.filter(state=Job.State.QUEUED).values_list("pk", flat=True)):
        run_job(pk)


def post_files(client: Client, study: Study, **fields: object) -> HttpResponse:
    return client.post(f"/studies/{study.slug}/import/", fields)


def upload_and_read(client: Client, study: Study, **fields: object) -> ImportDraft:
    """Upload, and let the worker read it; returns the draft as it then is."""
    response = post_files(client, study, **fields)
    assert response.status_code == 302, response.content.decode()
    work()
    return ImportDraft.objects.first()


def confirm(client: Client, draft: ImportDraft) -> ImportDraft:
    url = f"/studies/{draft.study.slug}/import/{draft.public_id}/confirm/"
    assert client.post(url).status_code == 302
    work()
    draft.refresh_from_db()
    return draft


def list_reasons(draft: ImportDraft) -> list[str]:
    """What was refused, as `file:line: reason`."""
    return [
        f"{file}:{line}: {reason}" if line else f"{file}: {reason}"
        for file, line, reason in draft.report["problems"]
    ]

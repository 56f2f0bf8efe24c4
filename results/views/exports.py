"""Exports: what would leave is shown first, then streamed."""

import re
from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import (
    Http404,
    HttpRequest,
    HttpResponse,
    HttpResponseBase,
    JsonResponse,
    StreamingHttpResponse,
)
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST, require_safe

from results.access import get_study_for_results
from results.export_contexts import show_exports, write_asked
from results.services.export_accounts import request_account
from results.services.exports import (
    KINDS,
    ExportRefused,
    ExportStream,
    find_last_end,
    stream_export,
)
from results.services.gate import read_gate
from results.services.reading import open_results
from studies.access import StudyAccess

OK, CONFLICT = 200, 409


class Download(Iterator[bytes]):
    """An export whose first chunk has been read, so that what refuses it has done so.

    Closing it ends the stream, and with it the transaction in which it reads.
    """

    def __init__(self, stream: ExportStream) -> None:
        self.stream = stream
        self.first: bytes | None = next(stream, None)

    def __next__(self) -> bytes:
        chunk, self.first = self.first, None
        return next(self.stream) if chunk is None else chunk

    def close(self) -> None:
        self.stream.close()


@require_safe
@login_required
def exports(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_results(request, slug)
    return render_exports(request, access)


@require_POST
@login_required
def count(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for the counts of now, and lead back to the page, which shows how far they are."""
    access = get_study_for_results(request, slug)
    annotator = request.POST.get("annotator") or None
    try:
        request_account(access.study, annotator, user=access.user)
    except ExportRefused as refusal:
        raise Http404(str(refusal)) from refusal
    return redirect(reverse("results:exports", args=[slug]) + write_asked(annotator))


@require_GET
@login_required
def export(request: HttpRequest, slug: str, kind: str) -> HttpResponseBase:
    """The file, streamed; a refusal is said before the first byte is sent."""
    access = get_study_for_results(request, slug)
    if lock := find_lock(access, kind):
        return render_exports(request, access, error=lock, status=CONFLICT)
    try:
        download = begin_download(request, access, kind)
    except ExportRefused as refusal:
        return refuse(request, access, str(refusal))
    return StreamingHttpResponse(
        download,
        content_type=KINDS[kind].content_type,
        headers=attach(download.stream.file_name),
    )


@require_GET
@login_required
def manifest(request: HttpRequest, slug: str, kind: str) -> HttpResponse:
    """The account of the export as it would be made now, checksum included.

    Its log ends where that of the last download of this person did, so that the account is of
    the file in their hands: by now the log also tells of that download.
    """
    access = get_study_for_results(request, slug)
    end = find_last_end(access.study, kind, access.user)
    try:
        download = begin_download(request, access, kind, until=end, logged=False)
        for _chunk in download:
            pass
    except ExportRefused as refusal:
        return refuse(request, access, str(refusal))
    return JsonResponse(
        download.stream.manifest.as_json(),
        json_dumps_params={"ensure_ascii": False, "indent": 2},
        headers=attach(f"{download.stream.file_name}.manifest.json"),
    )


def find_lock(access: StudyAccess, kind: str) -> str:
    """What is to be done first, where labels would be handed over through a gate that is shut and
    nobody has said why; else ""."""
    if kind not in KINDS or not KINDS[kind].is_release or open_results(access):
        return ""
    gate = read_gate(access.study)
    if not gate.asks_for_reason:
        return ""
    if gate.is_overridable:
        return _("The gate is red. Say first why these labels leave in spite of it.")
    return _("Qrels, ground truth, training pairs and BEIR wait until the checklist is computed.")


def begin_download(
    request: HttpRequest,
    access: StudyAccess,
    kind: str,
    *,
    until: int | None = None,
    logged: bool = True,
) -> Download:
    """The export that the address asks for; its log ends after `until` actions unless the address
    says otherwise. Raises Http404 for an unknown kind, and ExportRefused."""
    if kind not in KINDS:
        raise Http404("No such export.")
    rounds = list(access.study.rounds.all()) if KINDS[kind].is_whole else None
    if hiding := open_results(access, rounds):
        raise ExportRefused(
            _("You still have pairs to judge blind in: %(rounds)s. Exports hold the labels of it.")
            % {"rounds": ", ".join(hiding)}
        )
    stream = stream_export(
        access.study,
        kind,
        annotator=request.GET.get("annotator") or None,
        with_texts="with_texts" in request.GET,
        until=read_end(request.GET.get("until")) or until,
        user=access.user,
        logged=logged,
    )
    return Download(stream)


def read_end(text: str | None) -> int | None:
    """A number of actions. Raises ExportRefused for anything else."""
    if not text:
        return None
    if not re.fullmatch("[1-9][0-9]{0,14}", text):
        raise ExportRefused(_("Until which action the log goes is a number from 1 on."))
    return int(text)


def attach(file_name: str) -> dict[str, str]:
    return {"Content-Disposition": str(content_disposition_header(True, file_name))}


def render_exports(
    request: HttpRequest, access: StudyAccess, *, error: str = "", status: int = 200
) -> HttpResponse:
    """The page, of one annotator's labels where the address names one. Raises Http404 for an
    annotator that the study does not know."""
    annotator = request.GET.get("annotator") if status == OK else None
    try:
        page = show_exports(access, annotator or None, page=request.GET.get("page"), error=error)
    except ExportRefused as refusal:
        raise Http404(str(refusal)) from refusal
    template = "results/hidden.html" if page.hidden_by else "results/exports.html"
    return render(request, template, {"page": page}, status=status)


def refuse(request: HttpRequest, access: StudyAccess, reason: str) -> HttpResponse:
    context = {"study": access.study, "reason": reason}
    return render(request, "results/refused.html", context, status=CONFLICT)

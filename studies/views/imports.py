"""Imports on the page: upload, read the report, confirm. For the study's admins."""

import uuid

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from studies.access import StudyAccess, get_study_for_role
from studies.http import HtmxRequest
from studies.import_contexts import show_draft, show_import
from studies.import_forms import UploadForm
from studies.models import ImportDraft, Role
from studies.services.import_drafts import (
    DraftClosed,
    confirm_draft,
    create_draft,
    discard_draft,
    retry_draft,
)
from studies.uploads import is_too_large

CONFLICT, TOO_LARGE, INVALID = 409, 413, 422


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def import_files(request: HttpRequest, slug: str) -> HttpResponse:
    """The upload form with what was uploaded of late; a post makes a draft of its files."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    if request.method != "POST":
        return render(request, "studies/import.html", {"page": show_import(access)})
    if is_too_large(request):
        return refuse_size(request, access)
    form = UploadForm(request.POST, request.FILES, study=access.study)
    if not form.is_valid():
        page = show_import(access, form=form)
        return render(request, "studies/import.html", {"page": page}, status=INVALID)
    draft = create_draft(
        study=access.study, user=access.user, uploads=form.uploads, options=form.options
    )
    return redirect("studies:import-draft", slug, draft.public_id)


def refuse_size(request: HttpRequest, access: StudyAccess) -> HttpResponse:
    problem = _(
        "These files are larger than %(limit)d MiB together, the most that can be uploaded here. "
        "Nothing was kept. Upload them in parts, compress them (.jsonl.gz, a zip), or import them "
        "on the server with manage.py import_study."
    ) % {"limit": settings.UPLOAD_LIMIT // 1024**2}
    page = show_import(access, problem=problem)
    return render(request, "studies/import.html", {"page": page}, status=TOO_LARGE)


@require_safe
@login_required
def import_draft(request: HtmxRequest, slug: str, draft_id: uuid.UUID) -> HttpResponse:
    """A draft: how far it is, what it would change, what came of it."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    page = show_draft(access.study, get_draft(access, draft_id))
    if request.htmx and not page.is_working:
        response: HttpResponse = HttpResponseClientRefresh()
    else:
        part = "#progress" if request.htmx else ""
        response = render(request, f"studies/import_draft.html{part}", {"page": page})
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
@login_required
def confirm_import(request: HttpRequest, slug: str, draft_id: uuid.UUID) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    draft = get_draft(access, draft_id)
    try:
        confirm_draft(draft=draft, user=access.user)
    except DraftClosed:
        return refuse(request, access, draft, _("This upload can no longer be imported."))
    return redirect("studies:import-draft", slug, draft_id)


@require_POST
@login_required
def retry_import(request: HttpRequest, slug: str, draft_id: uuid.UUID) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    draft = get_draft(access, draft_id)
    try:
        retry_draft(draft=draft, user=access.user)
    except DraftClosed:
        return refuse(request, access, draft, _("There is nothing to try again."))
    return redirect("studies:import-draft", slug, draft_id)


@require_POST
@login_required
def discard_import(request: HttpRequest, slug: str, draft_id: uuid.UUID) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    draft = get_draft(access, draft_id)
    try:
        discard_draft(draft=draft)
    except DraftClosed:
        return refuse(request, access, draft, _("This upload can no longer be discarded."))
    messages.success(request, _("The upload was discarded. The study is as it was."))
    return redirect("studies:import", slug)


def get_draft(access: StudyAccess, draft_id: uuid.UUID) -> ImportDraft:
    """The study's draft of this id. Raises Http404 where there is none."""
    drafts = ImportDraft.objects.select_related("job")
    draft = drafts.filter(study=access.study, public_id=draft_id).first()
    if draft is None:
        raise Http404("No such import in this study.")
    return draft


def refuse(
    request: HttpRequest, access: StudyAccess, draft: ImportDraft, problem: str
) -> HttpResponse:
    """The draft as it stands now, and why it stays so."""
    draft.refresh_from_db()
    page = show_draft(access.study, draft, problem=problem)
    return render(request, "studies/import_draft.html", {"page": page}, status=CONFLICT)

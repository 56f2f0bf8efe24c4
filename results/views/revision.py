"""The account of a revision: what was stored is shown, asked for anew, and taken along."""

import json

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from results.access import get_study_for_results
from results.revision_contexts import RevisionPage, show_revision
from results.revision_markdown import render_account
from results.selectors.revisions import get_account
from results.services.revision_accounts import request_account
from results.services.scopes import UnknownScope
from studies.access import StudyAccess

CONFLICT, INVALID = 409, 422
MARKDOWN = "text/markdown; charset=utf-8"


@require_safe
@login_required
def revision(request: HttpRequest, slug: str) -> HttpResponse:
    page = read_page(request, get_study_for_results(request, slug))
    return render_page(request, page)


@require_POST
@login_required
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for the account, and lead back to the page, which shows how far it is."""
    access = get_study_for_results(request, slug)
    page = read_page(request, access)
    if page.hidden_by or page.comparison is None:
        return render_page(request, page, status=CONFLICT)
    request_account(access.study, page.comparison, user=access.user)
    return redirect(reverse("results:revision", args=[slug]) + page.query)


@require_safe
@login_required
def markdown(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, "md")


@require_safe
@login_required
def as_json(request: HttpRequest, slug: str) -> HttpResponse:
    return download(request, slug, "json")


def download(request: HttpRequest, slug: str, ending: str) -> HttpResponse:
    """The stored account as a file; nothing is computed for a download."""
    access = get_study_for_results(request, slug)
    page = read_page(request, access)
    account = page.comparison and get_account(access.study, page.comparison)
    if page.hidden_by or not account:
        problem = _("There is no stored account of this: have it computed first.")
        return render_page(request, page, problem=problem, status=CONFLICT)
    if ending == "md":
        response = HttpResponse(render_account(account.payload), content_type=MARKDOWN)
    else:
        text = json.dumps(account.payload, ensure_ascii=False, indent=2)
        response = HttpResponse(f"{text}\n", content_type="application/json")
    response["Content-Disposition"] = f'attachment; filename="{slug}-revision.{ending}"'
    return response


def read_page(request: HttpRequest, access: StudyAccess) -> RevisionPage:
    data = request.POST if request.method == "POST" else request.GET
    try:
        return show_revision(access, data)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown


def render_page(
    request: HttpRequest, page: RevisionPage, *, problem: str = "", status: int = 200
) -> HttpResponse:
    if page.hidden_by:
        return render(request, "results/hidden.html", {"page": page}, status=status)
    context = {"page": page, "problem": problem or page.problem}
    code = INVALID if page.problem else status
    return render(request, "results/revision.html", context, status=code)

"""Agreement and splits: stored numbers shown, and asked for anew."""

import uuid

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from results.access import get_results_job, get_study_for_results, read_scope
from results.contexts import show_job, show_results, write_query
from results.services import reports
from results.services.scopes import UnknownScope, find_rounds
from studies.http import HtmxRequest


@require_safe
@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    return render_results(request, slug, "results:overview", "results/overview.html")


@require_safe
@login_required
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    return render_results(request, slug, "results:agreement", "results/agreement.html")


@require_safe
@login_required
def splits(request: HttpRequest, slug: str) -> HttpResponse:
    return render_results(request, slug, "results:splits", "results/splits.html")


def render_results(request: HttpRequest, slug: str, view_name: str, template: str) -> HttpResponse:
    """A page of the scope that the address names, or why this person may not see it yet."""
    access = get_study_for_results(request, slug)
    try:
        page = show_results(access, read_scope(request.GET), view_name)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    return render(request, "results/hidden.html" if page.hidden_by else template, {"page": page})


@require_POST
@login_required
def refresh(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for numbers of today, and lead back to the page, which shows how far they are."""
    access = get_study_for_results(request, slug)
    scope = read_scope(request.POST)
    try:
        find_rounds(access.study, scope)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    reports.refresh(access.study, scope=scope, user=access.user)
    return redirect(reverse("results:overview", args=[slug]) + write_query(scope))


@require_safe
@login_required
def job(request: HtmxRequest, slug: str, job_id: uuid.UUID) -> HttpResponse:
    """The progress of a job: a page of its own, or the bar in another page that polls it."""
    access = get_study_for_results(request, slug)
    progress = show_job(access.study, get_results_job(access, job_id))
    if request.htmx and progress.is_over:
        response: HttpResponse = HttpResponseClientRefresh()
    else:
        template = "results/job.html#progress" if request.htmx else "results/job.html"
        response = render(request, template, {"progress": progress, "study": access.study})
    patch_vary_headers(response, ["HX-Request"])
    return response

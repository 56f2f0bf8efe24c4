"""Agreement and splits: stored numbers shown, and asked for anew."""

import uuid
from collections.abc import Sequence

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe
from django_htmx.http import HttpResponseClientRefresh

from results.access import (
    get_results_job,
    get_scope,
    get_study_for_admin,
    get_study_for_results,
)
from results.agreement_figures import find_paradox, group_directions, make_matrix
from results.contexts import ResultsPage, show_job, show_results, write_query
from results.selectors.targets import get_target
from results.services import reports
from results.services.scopes import UnknownScope, find_rounds
from results.services.targets import remove_target, set_target
from results.target_forms import TargetForm
from studies.access import StudyAccess
from studies.http import HtmxRequest

# Each has a row in two tables and a confusion matrix of its own, and one for each class.
TWOS_PER_PAGE = 20
SPLITS_TABLES = ("causes", "dimensions", "dimensions-by-class")
AGREEMENT_TABLES = ("targets", "over-time", "class-agreement", "rubric-versions")


@require_safe
@login_required
def overview(request: HttpRequest, slug: str) -> HttpResponse:
    return render_results(request, slug, "results:overview", "results/overview.html")


@require_safe
@login_required
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_results(request, slug)
    form = TargetForm(instance=get_target(access.study))
    return render_agreement(request, access, form)


@require_safe
@login_required
def splits(request: HttpRequest, slug: str) -> HttpResponse:
    """Where people split; who is higher for some of the annotators at a time."""
    access = get_study_for_results(request, slug)
    page = read_page(request, access, "results:splits", SPLITS_TABLES)
    twos = page.figures and group_directions(page.figures)
    context = {
        "page": page,
        "directions": twos and Paginator(twos, TWOS_PER_PAGE).get_page(request.GET.get("page")),
    }
    template = "results/hidden.html" if page.hidden_by else "results/splits.html"
    return render(request, template, context)


@require_safe
@login_required
def third_vote(request: HttpRequest, slug: str) -> HttpResponse:
    """What a third vote would do in each class with an open hole."""
    template = "results/third_vote.html"
    return render_results(request, slug, "results:splits", template, ("third-vote",))


@require_safe
@login_required
def queries(request: HttpRequest, slug: str) -> HttpResponse:
    return render_results(request, slug, "results:queries", "results/queries.html", ("queries",))


@require_safe
@login_required
def people(request: HttpRequest, slug: str) -> HttpResponse:
    names = ("time", "dimensions-by-annotator")
    return render_results(request, slug, "results:people", "results/people.html", names)


@require_POST
@login_required
def target(request: HttpRequest, slug: str) -> HttpResponse:
    """Set the target of the study's agreement, or take it away; admins only."""
    access = get_study_for_admin(request, slug)
    if "remove" in request.POST:
        remove_target(access.study, by=access.member)
        messages.success(request, _("The study has no target any more."))
        return redirect("results:agreement", slug)
    form = TargetForm(request.POST)
    if not form.is_valid():
        return render_agreement(request, access, form, status=422)
    set_target(access.study, by=access.member, **form.cleaned_data)
    messages.success(request, _("The target was set."))
    return redirect("results:agreement", slug)


def render_agreement(
    request: HttpRequest, access: StudyAccess, form: TargetForm, *, status: int = 200
) -> HttpResponse:
    page = read_page(request, access, "results:agreement", AGREEMENT_TABLES)
    context = {
        "page": page,
        "form": form,
        "twos": page.figures
        and Paginator(page.figures.twos, TWOS_PER_PAGE).get_page(request.GET.get("page")),
        "matrix": page.figures and make_matrix(page.figures),
        "paradox": page.figures and find_paradox(page.figures),
    }
    template = "results/hidden.html" if page.hidden_by else "results/agreement.html"
    return render(request, template, context, status=status)


def render_results(
    request: HttpRequest, slug: str, view_name: str, template: str, tables: Sequence[str] = ()
) -> HttpResponse:
    """A page of the scope that the address names, or why this person may not see it yet."""
    page = read_page(request, get_study_for_results(request, slug), view_name, tables)
    return render(request, "results/hidden.html" if page.hidden_by else template, {"page": page})


def read_page(
    request: HttpRequest, access: StudyAccess, view_name: str, tables: Sequence[str]
) -> ResultsPage:
    try:
        return show_results(access, get_scope(access, request.GET), view_name, tables)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown


@require_POST
@login_required
def refresh(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for numbers of today, and lead back to the page, which shows how far they are."""
    access = get_study_for_results(request, slug)
    scope = get_scope(access, request.POST)
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

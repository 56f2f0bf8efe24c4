"""The release: the gate line by line, passing it or exporting in spite of it, the runs' scores."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.forms import NOTE_LIMIT
from results.access import get_study_for_results
from results.release_contexts import ask_for_reason, say_not_overridden, show_gate, show_systems
from results.services.gate import GateRefused, override_gate, read_gate
from results.services.gate import pass_gate as record_pass
from results.services.reading import open_results
from results.services.releases import request_release
from results.views.exports import render_exports
from studies.access import StudyAccess, get_study_for_role
from studies.models import Role

CONFLICT, INVALID = 409, 422


@require_safe
@login_required
def gate(request: HttpRequest, slug: str) -> HttpResponse:
    return render_gate(request, get_study_for_results(request, slug))


@require_safe
@login_required
def systems(request: HttpRequest, slug: str) -> HttpResponse:
    page = show_systems(get_study_for_results(request, slug))
    template = "results/hidden.html" if page.hidden_by else "results/systems.html"
    return render(request, template, {"page": page})


@require_POST
@login_required
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for all that the checklist rests on, and lead back to the page that asked."""
    access = get_study_for_results(request, slug)
    request_release(access.study, user=access.user)
    return redirect("results:systems" if request.POST.get("page") else "results:gate", slug)


@require_POST
@login_required
def pass_gate(request: HttpRequest, slug: str) -> HttpResponse:
    """Record that the labels may be handed over, which only leads do."""
    access = get_study_for_role(request, slug, Role.LEAD)
    if open_results(access):
        return render_gate(request, access, status=CONFLICT)
    reason = read_reason(request)
    if not reason:
        return render_gate(request, access, error=ask_for_reason(), status=INVALID)
    try:
        record_pass(study=access.study, member=access.member, reason=reason)
    except GateRefused:
        error = _("A line has turned red meanwhile. Nothing was recorded; your words are kept.")
        return render_gate(request, access, reason=reason, error=error, status=CONFLICT)
    messages.success(request, _("The gate is passed; every manifest says so from now on."))
    return redirect("results:gate", slug)


@require_POST
@login_required
def override(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the exports in spite of a red gate, for a reason that is kept."""
    access = get_study_for_results(request, slug)
    if open_results(access):
        return render_exports(request, access, status=CONFLICT)
    reason = read_reason(request)
    if not reason:
        return render_exports(request, access, error=ask_for_reason(), status=INVALID)
    try:
        override_gate(study=access.study, member=access.member, reason=reason)
    except GateRefused:
        error = say_not_overridden(read_gate(access.study))
        return render_exports(request, access, error=error, status=CONFLICT)
    messages.success(request, _("The exports are open in spite of the gate; the log says why."))
    return redirect("results:exports", slug)


def read_reason(request: HttpRequest) -> str:
    return request.POST.get("reason", "").strip()[:NOTE_LIMIT]


def render_gate(
    request: HttpRequest,
    access: StudyAccess,
    *,
    reason: str = "",
    error: str = "",
    status: int = 200,
) -> HttpResponse:
    page = show_gate(access, reason=reason, error=error)
    template = "results/hidden.html" if page.hidden_by else "results/gate.html"
    return render(request, template, {"page": page}, status=status)

"""Tables and pictures of a stored report, to take along."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from results.access import get_scope, get_study_for_results
from results.agreement_figures import judge_payload
from results.pictures import PICTURES, UnknownPicture
from results.selectors.blindness import find_blinding_rounds
from results.selectors.reports import get_report
from results.selectors.targets import read_target
from results.services.scopes import UnknownScope, find_rounds
from results.tables import TABLES, write_table
from results.tables.making import Payload
from studies.access import StudyAccess

CONFLICT = 409


@require_safe
@login_required
def table(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """A table of the stored report as CSV; nothing is computed for a download."""
    access = get_study_for_results(request, slug)
    if name not in TABLES:
        raise Http404("No such table.")
    payload, problem = read_payload(request, access)
    if payload is None:
        return refuse(request, access, problem)
    judged = judge_payload(payload, read_target(access.study))
    return StreamingHttpResponse(
        write_table(TABLES[name](judged)),
        content_type="text/csv; charset=utf-8",
        headers=name_file(f"{slug}-{name}.csv"),
    )


@require_safe
@login_required
def picture(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A picture of the stored report as an SVG file."""
    access = get_study_for_results(request, slug)
    if name not in PICTURES:
        raise Http404("No such picture.")
    payload, problem = read_payload(request, access)
    if payload is None:
        return refuse(request, access, problem)
    try:
        drawn = PICTURES[name](payload, request.GET)
    except UnknownPicture as unknown:
        raise Http404(str(unknown)) from unknown
    template = f"results/pictures/{drawn.template}.svg"
    svg = render_to_string(template, {"picture": drawn})
    return HttpResponse(svg, content_type="image/svg+xml", headers=name_file(f"{slug}-{name}.svg"))


def read_payload(request: HttpRequest, access: StudyAccess) -> tuple[Payload | None, str]:
    """The stored report of the address, or why this person cannot have it now. Raises Http404
    for a scope that the study does not have."""
    scope = get_scope(access, request.GET)
    try:
        rounds = find_rounds(access.study, scope)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    hiding = find_blinding_rounds(access.member, rounds.labels)
    if hiding:
        told = _("You still have pairs to judge blind in: %(rounds)s.")
        return None, told % {"rounds": ", ".join(hiding)}
    report = get_report(access.study, scope)
    if report is None:
        return None, _("There are no numbers of this yet: have them computed first.")
    return report.payload, ""


def refuse(request: HttpRequest, access: StudyAccess, problem: str) -> HttpResponse:
    context = {"study": access.study, "reason": problem}
    return render(request, "results/refused.html", context, status=CONFLICT)


def name_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": str(content_disposition_header(True, name))}

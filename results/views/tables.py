"""Tables and pictures of the results, to take along."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.http import content_disposition_header
from django.views.decorators.http import require_safe

from results.access import get_scope, get_study_for_results
from results.agreement_figures import judge_payload
from results.page_tables import PAGE_TABLES, TableWithheld, refuse_hidden, say_uncounted
from results.pictures import PICTURES, UnknownPicture
from results.selectors.reports import get_report
from results.selectors.targets import read_target
from results.services.reading import open_results
from results.services.scopes import UnknownScope, find_rounds
from results.tables import TABLES, write_table
from results.tables.making import Payload, write_rows
from studies.access import StudyAccess

CONFLICT = 409


@require_safe
@login_required
def table(request: HttpRequest, slug: str, name: str) -> HttpResponseBase:
    """A table of the stored report, or of another page, as CSV; no numbers are computed for it."""
    access = get_study_for_results(request, slug)
    if name not in TABLES and name not in PAGE_TABLES:
        raise Http404("No such table.")
    try:
        lines = (write_stored if name in TABLES else write_of_page)(request, access, name)
    except TableWithheld as withheld:
        return refuse(request, access, str(withheld))
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers=name_file(f"{slug}-{name}.csv"),
    )


def write_stored(request: HttpRequest, access: StudyAccess, name: str) -> Iterator[str]:
    """The lines of a table of the stored report. Raises TableWithheld."""
    payload = read_payload(request, access)
    return write_table(TABLES[name](judge_payload(payload, read_target(access.study))))


def write_of_page(request: HttpRequest, access: StudyAccess, name: str) -> Iterator[str]:
    """The lines of another page's table. Raises TableWithheld."""
    made = PAGE_TABLES[name](access, request.GET)
    return write_rows(made.columns, made.rows)


@require_safe
@login_required
def picture(request: HttpRequest, slug: str, name: str) -> HttpResponse:
    """A picture of the stored report as an SVG file."""
    access = get_study_for_results(request, slug)
    if name not in PICTURES:
        raise Http404("No such picture.")
    try:
        drawn = PICTURES[name](read_payload(request, access), request.GET)
    except TableWithheld as withheld:
        return refuse(request, access, str(withheld))
    except UnknownPicture as unknown:
        raise Http404(str(unknown)) from unknown
    template = f"results/pictures/{drawn.template}.svg"
    svg = render_to_string(template, {"picture": drawn})
    return HttpResponse(svg, content_type="image/svg+xml", headers=name_file(f"{slug}-{name}.svg"))


def read_payload(request: HttpRequest, access: StudyAccess) -> Payload:
    """The stored report of the address. Raises TableWithheld, and Http404 for a scope that the
    study does not have."""
    scope = get_scope(access, request.GET)
    try:
        rounds = find_rounds(access.study, scope)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    refuse_hidden(open_results(access, rounds.labels))
    report = get_report(access.study, scope)
    if report is None:
        raise TableWithheld(say_uncounted())
    payload: Payload = report.payload
    return payload


def refuse(request: HttpRequest, access: StudyAccess, problem: str) -> HttpResponse:
    context = {"study": access.study, "reason": problem}
    return render(request, "results/refused.html", context, status=CONFLICT)


def name_file(name: str) -> dict[str, str]:
    return {"Content-Disposition": str(content_disposition_header(True, name))}

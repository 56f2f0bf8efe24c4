"""The pairs that split, laid out side by side, and as a table to take along."""

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import render
from django.utils.http import content_disposition_header
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from results.access import get_scope, get_study_for_results
from results.services.reading import open_results
from results.services.scopes import UnknownScope, find_rounds
from results.split_contexts import read_wanted, show_pairs, write_pairs_csv

CONFLICT = 409


@require_safe
@login_required
def pairs(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_results(request, slug)
    try:
        page = show_pairs(access, get_scope(access, request.GET).unfiltered, request.GET)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    template = "results/hidden.html" if page.hidden_by else "results/pairs.html"
    return render(request, template, {"page": page})


@require_safe
@login_required
def pairs_csv(request: HttpRequest, slug: str) -> HttpResponseBase:
    """The labels of all the pairs that the page with the same filters speaks of."""
    access = get_study_for_results(request, slug)
    scope = get_scope(access, request.GET).unfiltered
    try:
        hiding = open_results(access, find_rounds(access.study, scope).labels)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    if hiding:
        reason = _("You still have pairs to judge blind in: %(rounds)s.") % {
            "rounds": ", ".join(hiding)
        }
        context = {"study": access.study, "reason": reason}
        return render(request, "results/refused.html", context, status=CONFLICT)
    wanted = read_wanted(request.GET, access.study)
    return StreamingHttpResponse(
        write_pairs_csv(access.study, scope, wanted),
        content_type="text/csv; charset=utf-8",
        headers={
            "Content-Disposition": str(content_disposition_header(True, f"{slug}-splits.csv"))
        },
    )

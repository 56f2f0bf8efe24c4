"""Counting a withheld query with the outcomes it has, where no more can come."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from results.access import get_study_for_admin
from results.reason_forms import ShortfallForm
from results.services.reading import open_results
from results.services.shortfalls import count_with_present, find_shortfalls, list_parts
from results.views.exports import render_exports
from studies.access import StudyAccess
from studies.models import Query

CONFLICT, INVALID = 409, 422


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def shortfall(request: HttpRequest, slug: str) -> HttpResponse:
    """Who is missing on a query of closed rounds; posted with a reason, it counts without them."""
    access = get_study_for_admin(request, slug)
    query = get_query(request, access)
    if open_results(access):
        return render_exports(request, access)
    found = find_shortfalls(access.study, [query.external_id]).get(query.external_id)
    if found is None:
        error = _("Nothing is missing on the query that can come no more. Nothing was changed.")
        return render_exports(request, access, error=error, status=CONFLICT)
    form = ShortfallForm(request.POST if request.method == "POST" else None)
    problem = ""
    if form.is_valid():
        if count_with_present(query=query, by=access.member, **form.cleaned_data):
            messages.success(request, _("The query counts with the outcomes that it has."))
            return redirect("results:exports", slug)
        problem = _("Since this page was shown its outcomes changed. Below is what is there now.")
    context = {
        "study": access.study,
        "query": query,
        "shortfall": found,
        "parts": list_parts(found),
        "form": form,
        "problem": problem,
    }
    status = CONFLICT if problem else INVALID if form.is_bound else 200
    return render(request, "results/shortfall.html", context, status=status)


def get_query(request: HttpRequest, access: StudyAccess) -> Query:
    """The query that the form or the address names by its id. Raises Http404."""
    data = request.POST if request.method == "POST" else request.GET
    query = Query.objects.filter(study=access.study, external_id=data.get("query", "")).first()
    if query is None:
        raise Http404("No such query in this study.")
    return query

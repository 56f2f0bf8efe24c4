"""The plan of a round: previewed by address, applied by posting the same form."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from annotation.assigned import is_assigned
from annotation.plan_contexts import show_plan
from annotation.plan_forms import PlanForm, say_begun
from annotation.services.openings import RoundBegun
from annotation.services.plans import PlacesInForce, list_team, make_plan, put_in_force
from annotation.services.releases import RoundClosed
from studies.access import StudyAccess, get_study_for_role
from studies.models import Role, Round

QUERIES_NAMED = 10


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def plan(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    is_posted = request.method == "POST"
    data = request.POST if is_posted else request.GET
    round = get_open_round(access, data.get("round", ""))
    form = PlanForm(
        data if is_posted or "shared" in data else None, round=round, team=list_team(round)
    )
    context = {"study": access.study, "round": round, "form": form}
    if not form.is_valid():
        status = 422 if form.is_bound else 200
        return render(request, "annotation/plan.html", context, status=status)
    made = make_plan(
        round=round,
        shared=form.cleaned_data["shared"],
        per_query=form.cleaned_data["per_query"],
        quotas=form.quotas,
    )
    context |= {"plan": show_plan(made), "values": data}
    if not is_posted:
        return render(request, "annotation/plan.html", context)
    try:
        put_in_force(
            plan=made,
            opens_at=form.cleaned_data["opens_at"],
            by=access.member,
            user=access.user,
        )
    except (PlacesInForce, RoundClosed, RoundBegun) as refusal:
        context["problem"] = explain(refusal)
        return render(request, "annotation/plan.html", context, status=409)
    messages.success(request, _("The plan holds from now on."))
    return redirect("annotation:progress", slug)


def get_open_round(access: StudyAccess, name: str) -> Round:
    """The round of that name that is not closed, or the first one. Raises Http404 where there is
    none."""
    rounds = Round.objects.select_related("study").filter(study=access.study, closed_at=None)
    if name:
        rounds = rounds.filter(name=name)
    round = rounds.order_by("position", "pk").first()
    # Where single pairs are given to single people there is nothing left to plan.
    if round is None or is_assigned(round):
        raise Http404("No such open round.")
    return round


def explain(refusal: PlacesInForce | RoundClosed | RoundBegun) -> str:
    if isinstance(refusal, RoundBegun):
        return say_begun()
    if isinstance(refusal, RoundClosed):
        return _("The round was closed. Nothing was changed.")
    number, more = len(refusal.queries), " …" if len(refusal.queries) > QUERIES_NAMED else ""
    return ngettext(
        "Nothing was changed: %(number)d query has more people at work than this plan gives it "
        "(%(named)s). Plan more annotators, share more queries, or give that query to others "
        "first.",
        "Nothing was changed: %(number)d queries have more people at work than this plan gives "
        "them (%(named)s). Plan more annotators, share more queries, or give those queries to "
        "others first.",
        number,
    ) % {"number": number, "named": ", ".join(refusal.queries[:QUERIES_NAMED]) + more}

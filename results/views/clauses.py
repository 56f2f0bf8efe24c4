"""Declining a clause that adjudication asked for."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from results.access import get_study_for_admin
from results.clause_contexts import show_proposals
from results.models import ClauseProposal
from results.reason_forms import DeclineForm
from results.services.proposals import ProposalClosed, decline_proposal

CONFLICT, INVALID = 409, 422


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def decline(request: HttpRequest, slug: str, proposal_id: int) -> HttpResponse:
    """Say no to one clause, for a reason; the draft loses it, everything else in it stays."""
    access = get_study_for_admin(request, slug)
    proposal = get_object_or_404(
        ClauseProposal.objects.select_related("pair__query__query_class", "pair__document"),
        pk=proposal_id,
        pair__study=access.study,
    )
    form = DeclineForm(request.POST if request.method == "POST" else None)
    status, problem = INVALID if form.is_bound else 200, ""
    if form.is_bound and form.is_valid():
        try:
            decline_proposal(
                proposal=proposal, reason=form.cleaned_data["reason"], by=access.member
            )
        except ProposalClosed:
            proposal.refresh_from_db()
            status = CONFLICT
            problem = _("It is not open any more: what became of it is told below.")
        else:
            messages.success(request, _("The clause is declined; its pair tells why."))
            return redirect("rubric:draft", slug)
    (asked,) = show_proposals(access.study, [proposal])
    context = {"study": access.study, "asked": asked, "form": form, "problem": problem}
    return render(request, "results/decline_clause.html", context, status=status)

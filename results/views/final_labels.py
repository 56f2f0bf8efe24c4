"""The tab of final labels: contested and settled pairs, and what admins do with them."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.kept_forms import find_unconfirmed, keeps_typed
from results.access import (
    get_case_pair,
    get_study_for_admin,
    get_study_for_results,
    get_study_pair,
    is_free_to_settle,
)
from results.adjudication import screens
from results.adjudication.contexts import Case
from results.adjudication.forms import ReopenForm, ShownCaseForm
from results.adjudication.tokens import read_member
from results.contexts import list_tabs
from results.final_label_contexts import read_wanted, show_final_labels
from results.selectors.contested import list_final_keys
from results.services.final_labels import reopen_final_labels
from results.services.reading import open_results
from results.services.scopes import Scope
from results.views.adjudication import read_decision, record_decision
from studies.access import StudyAccess
from studies.models import Pair, Role
from studies.services.log import record_action


@require_safe
@login_required
def final_labels(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_results(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    page = show_final_labels(access, request.GET)
    return render(request, "results/final_labels.html", {"page": page})


@keeps_typed(read_member)
@require_http_methods(["GET", "HEAD", "POST"])
def final_label(request: HttpRequest, slug: str, pair_id: uuid.UUID) -> HttpResponse:
    """One pair: its labels and its final label with its history; for an admin also the form."""
    is_post = request.method == "POST"
    access = (get_study_for_admin if is_post else get_study_for_results)(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    pair = get_study_pair(access, pair_id)
    if is_post:
        return take_decision(request, access, get_case_pair(access, pair_id))
    return render_pair(request, access, pair)


@require_POST
@login_required
def names(request: HttpRequest, slug: str, pair_id: uuid.UUID) -> HttpResponse:
    """Show who gave which label of the pair: an act of its own, which the log keeps."""
    access = get_study_for_admin(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    pair = get_study_pair(access, pair_id)
    record_action(
        access.study,
        "names.shown",
        user=access.user,
        member=access.member,
        data={"query_id": pair.query.external_id, "doc_id": pair.document.external_id},
    )
    return render_pair(request, access, pair, with_names=True)


@require_POST
@login_required
def reopen(request: HttpRequest, slug: str) -> HttpResponse:
    """End every final label that the filter shows, once the study's name confirms it."""
    access = get_study_for_admin(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    form = ReopenForm(request.POST, study=access.study)
    if not form.is_valid():
        errors = {name: " ".join(map(str, found)) for name, found in form.errors.items()}
        return render_tab(request, access, errors, status=422)
    finals = list_final_keys(access.study, read_wanted(access.study, request.POST))
    if len(finals) != form.cleaned_data["count"]:
        sentence = _(
            "Final labels were set or reopened meanwhile, so that the number is another one. "
            "Nothing was reopened; look at the number and confirm again."
        )
        return render_tab(request, access, {"count": sentence}, status=409)
    number = reopen_final_labels(
        study=access.study,
        finals=finals,
        member=access.member,
        reason=form.cleaned_data["reason"],
    )
    messages.success(
        request,
        ngettext(
            "%(number)s final label was reopened; its history is kept.",
            "%(number)s final labels were reopened; their history is kept.",
            number,
        )
        % {"number": number},
    )
    return redirect("results:final-labels", slug)


def take_decision(request: HttpRequest, access: StudyAccess, pair: Pair) -> HttpResponse:
    slip = ShownCaseForm(request.POST)
    shown = slip.cleaned_data["token"] if slip.is_valid() else None
    if shown is None or (shown.member_id, shown.pair_id) != (access.member.pk, pair.public_id):
        problem = _("This form was not made for you and this pair. Nothing changed.")
        return render_pair(request, access, pair, status=409, problem=problem)
    key = slip.cleaned_data["key"]
    version, form = read_decision(request.POST, access, shown, pair)
    unconfirmed = find_unconfirmed(request)
    outcome = None if unconfirmed else record_decision(access, pair, version, form, shown, key)
    if outcome is None:
        asked = screens.Asked(form.values, form.messages, key)
        return render_pair(request, access, pair, status=422, asked=asked, problem=unconfirmed)
    if outcome.kind == "outdated":
        problem = _(
            "The pair was settled or reopened before your answer arrived, so nothing of it was "
            "changed. What stands is told below; what you chose and wrote is still in the form."
        )
        asked = screens.Asked(form.values, {})
        return render_pair(request, access, pair, status=409, asked=asked, problem=problem)
    messages.success(request, _("The final label is recorded."))
    return redirect("results:final-label", access.study.slug, pair.public_id)


def render_pair(
    request: HttpRequest,
    access: StudyAccess,
    pair: Pair,
    *,
    status: int = 200,
    asked: screens.Asked | None = None,
    with_names: bool = False,
    problem: str = "",
) -> HttpResponse:
    case: Case | None = None
    is_admin = access.member.has_role(Role.ADMIN)
    try:
        case = screens.show_case(
            access.study,
            access.member,
            pair,
            asked=asked,
            with_names=with_names,
            with_history=True,
        )
        may_settle = is_admin and is_free_to_settle(access, pair)
        case = case if may_settle else screens.close(case)
    except screens.NoRubric:
        problem = _("The study has no published rubric, so nothing can be settled under one.")
    context = {
        "case": case,
        "problem": problem,
        "is_admin": is_admin,
        "page": {"study": access.study, "tabs": list_tabs_of(access)},
        "back": reverse("results:final-labels", args=[access.study.slug]),
    }
    return render(request, "results/final_label.html", context, status=status)


def render_tab(
    request: HttpRequest, access: StudyAccess, errors: dict[str, str], *, status: int
) -> HttpResponse:
    page = show_final_labels(access, request.POST, errors=errors)
    return render(request, "results/final_labels.html", {"page": page}, status=status)


def render_hidden(request: HttpRequest, access: StudyAccess, rounds: list[str]) -> HttpResponse:
    page = {"study": access.study, "tabs": list_tabs_of(access), "hidden_by": rounds}
    return render(request, "results/hidden.html", {"page": page})


def list_tabs_of(access: StudyAccess) -> object:
    return list_tabs(access.study, Scope(), "results:final-labels")

"""The adjudicators' page: one contested pair at a time, until there is none."""

import uuid
from dataclasses import replace

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.kept_forms import find_unconfirmed, keeps_typed
from annotation.rubric_sheet import get_rubric_sheet
from annotation.views.images import send_image
from results.access import get_case_pair, get_study_for_adjudication, get_study_pair
from results.adjudication import screens
from results.adjudication.contexts import Case, Focus, NothingToSettle
from results.adjudication.forms import SettleForm, ShownCaseForm
from results.adjudication.tokens import ShownCase, read_member
from results.selectors.contested import CONTESTED
from results.services.final_labels import Settled, settle_pair
from results.services.leases import release_lease
from results.services.reading import open_results
from studies.access import StudyAccess, get_study_for_role
from studies.http import HtmxRequest
from studies.models import Pair, Role, RubricVersion
from studies.services.rubrics import RubricRefused

PUT_OFF_KEPT = 50


@keeps_typed(read_member)
@require_http_methods(["GET", "HEAD", "POST"])
def adjudicate(request: HtmxRequest, slug: str) -> HttpResponse:
    access = get_study_for_adjudication(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    if request.method == "POST":
        return take_decision(request, access)
    return render_next(request, access)


@require_safe
@login_required
def case(request: HtmxRequest, slug: str, pair_id: uuid.UUID) -> HttpResponse:
    """One contested pair by its address: to settle, or who has it, or what was decided."""
    access = get_study_for_adjudication(request, slug)
    if hidden_by := open_results(access):
        return render_hidden(request, access, hidden_by)
    try:
        shown = screens.show_one(access, get_case_pair(access, pair_id))
    except screens.NoRubric:
        return render_screen(request, access, no_rubric=True)
    if shown.kind not in CONTESTED and shown.standing is None:
        raise Http404("This pair is not contested.")
    shown = screens.narrow(access, shown, read_focus(access, request.GET))
    return render_screen(request, access, shown)


@require_POST
@login_required
def later(request: HtmxRequest, slug: str) -> HttpResponse:
    """Put a pair off: it comes again once nothing else is left."""
    access = get_study_for_adjudication(request, slug)
    slip = ShownCaseForm(request.POST)
    if slip.is_valid():
        pair = get_case_pair(access, slip.cleaned_data["token"].pair_id)
        release_lease(pair, access.member)
        put_off = [one for one in list_put_off(request) if one != pair.public_id]
        kept = [*put_off, pair.public_id][-PUT_OFF_KEPT:]
        request.session[name_put_off(slug)] = [str(one) for one in kept]
    return lead_on(request, access, _("Put off: it comes again at the end."))


@require_safe
@login_required
def image(request: HtmxRequest, slug: str, pair_id: uuid.UUID) -> HttpResponseBase:
    access = get_study_for_role(request, slug, Role.ADJUDICATOR, Role.LEAD, Role.ADMIN)
    return send_image(get_study_pair(access, pair_id).document)


def take_decision(request: HtmxRequest, access: StudyAccess) -> HttpResponse:
    """Validate and record one decision, then lead on to the next pair."""
    slip = ShownCaseForm(request.POST)
    if not slip.is_valid() or slip.cleaned_data["token"].member_id != access.member.pk:
        problem = _("This form was not made for you. Nothing changed.")
        return render_next(request, access, status=409, problem=problem)
    shown, key = slip.cleaned_data["token"], slip.cleaned_data["key"]
    pair = get_case_pair(access, shown.pair_id)
    version, form = read_decision(request.POST, access, shown, pair)
    problem = find_unconfirmed(request)
    # Whatever stands already was decided by somebody: only admins revise.
    first = replace(shown, final_id="")
    outcome = None if problem else record_decision(access, pair, version, form, first, key)
    if outcome is None:
        asked = screens.Asked(form.values, form.messages, key)
        found = screens.show_case(access.study, access.member, pair, asked=asked)
        found = screens.narrow(access, found, read_focus(access, request.POST))
        return render_screen(request, access, found, status=422, problem=problem)
    if outcome.kind == "outdated":
        return tell_late(request, access, pair, form)
    return lead_on(request, access, tell_recorded(outcome, form))


def read_decision(
    data: QueryDict, access: StudyAccess, shown: ShownCase, pair: Pair
) -> tuple[RubricVersion, SettleForm]:
    """The form in the terms of the rubric version it was shown with. Raises Http404 where the
    study does not have that version."""
    version = access.study.rubric_versions.filter(pk=shown.rubric_version_id).first()
    if version is None:
        raise Http404("No such rubric version.")
    needs_cause, needs_citation = screens.find_needs(access.study, pair)
    rubric = get_rubric_sheet(version.pk, "")
    form = SettleForm(data, rubric=rubric, needs_cause=needs_cause, needs_citation=needs_citation)
    return version, form


def record_decision(
    access: StudyAccess,
    pair: Pair,
    version: RubricVersion,
    form: SettleForm,
    shown: ShownCase,
    key: uuid.UUID,
) -> Settled | None:
    """Record a valid form. None where it is not valid, or the clause that it asks for finds no
    place in the draft; the form then says so."""
    if not form.is_valid():
        return None
    try:
        return settle_pair(
            pair=pair,
            member=access.member,
            rubric_version=version,
            decision=form.decision,
            shown=shown.final_id,
            key=key,
            seconds=shown.measure_time(),
            proposal=form.proposal,
        )
    except RubricRefused as refusal:
        form.add_error("decided_by", str(refusal))
        return None


def tell_late(
    request: HtmxRequest, access: StudyAccess, pair: Pair, form: SettleForm
) -> HttpResponse:
    """Answer 409: somebody was faster. Says what was decided and keeps what was typed."""
    found = screens.show_late(access, pair, form.values)
    found = screens.narrow(access, found, read_focus(access, request.POST))
    problem = (
        _("This pair was settled before your answer arrived. Nothing of it was changed.")
        if found.standing
        else _("This pair was reopened before your answer arrived. Nothing was recorded.")
    )
    return render_screen(request, access, found, status=409, problem=problem)


def lead_on(request: HtmxRequest, access: StudyAccess, notice: str) -> HttpResponse:
    """With HTMX the answer is the next pair itself; without, a redirect to it."""
    if request.htmx:
        return render_next(request, access, notice=notice)
    messages.success(request, notice)
    focus = read_focus(access, request.POST)
    named = {"class": focus.query_class, "kind": focus.kind}
    query = urlencode({key: value for key, value in named.items() if value})
    url = reverse("results:adjudicate", args=[access.study.slug])
    return redirect(f"{url}?{query}" if query else url)


def render_next(
    request: HtmxRequest,
    access: StudyAccess,
    *,
    status: int = 200,
    problem: str = "",
    notice: str = "",
) -> HttpResponse:
    focus = read_focus(access, request.POST if request.method == "POST" else request.GET)
    try:
        found = screens.show_next(access, focus, later=list_put_off(request), notice=notice)
    except screens.NoRubric:
        return render_screen(request, access, no_rubric=True, status=status, problem=problem)
    return render_screen(request, access, found, status=status, problem=problem)


def render_screen(
    request: HtmxRequest,
    access: StudyAccess,
    screen: Case | NothingToSettle | None = None,
    *,
    status: int = 200,
    problem: str = "",
    no_rubric: bool = False,
) -> HttpResponse:
    """The page, or with HTMX its changing part. Both come from the same context."""
    is_case = isinstance(screen, Case)
    template = "results/adjudicate.html"
    if request.htmx:
        template += "#card" if is_case else "#nothing"
    context = {
        "case" if is_case else "nothing": screen,
        "problem": problem,
        "no_rubric": no_rubric,
        "study": access.study,
    }
    response = render(request, template, context, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response


def render_hidden(request: HtmxRequest, access: StudyAccess, hidden_by: list[str]) -> HttpResponse:
    page = {"study": access.study, "hidden_by": hidden_by}
    return render(request, "results/hidden.html", {"page": page})


def read_focus(access: StudyAccess, data: QueryDict) -> Focus:
    """The class and kind that an address or form asks for; what is unknown narrows nothing."""
    classes = list(access.study.query_classes.order_by("position").values_list("name", flat=True))
    query_class, kind = data.get("class", ""), data.get("kind", "")
    return Focus(
        query_class=query_class if query_class in classes else "",
        kind=kind if kind in CONTESTED else "",
        classes=classes,
    )


def describe(outcome: Settled) -> str:
    """A decision in words, for the notice that it was recorded."""
    final = outcome.final
    if final is None or final.is_dropped:
        return _("dropped")
    return f"{final.grade} · {final.decided_by}"


def tell_recorded(outcome: Settled, form: SettleForm) -> str:
    """The notice that a decision was recorded, and that a grade chosen before "drop" was not."""
    if not form.grade_left:
        return _("Recorded: %(label)s") % {"label": describe(outcome)}
    return _("Recorded: %(label)s, without the grade %(grade)s") % {
        "label": describe(outcome),
        "grade": form.grade_left,
    }


def name_put_off(slug: str) -> str:
    return f"put-off:{slug}"


def list_put_off(request: HtmxRequest) -> list[uuid.UUID]:
    slug = request.resolver_match.kwargs["slug"] if request.resolver_match else ""
    return [uuid.UUID(one) for one in request.session.get(name_put_off(slug), [])]

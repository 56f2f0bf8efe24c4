"""Rounds beside each other; the next one opened, now or later; and one closed."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from annotation.opening_forms import OpeningForm
from annotation.plan_forms import say_begun
from annotation.services.calibrations import CalibrationRefused, open_calibration
from annotation.services.mains import MainRefused, open_main
from annotation.services.openings import RoundBegun, set_opening
from annotation.services.relabels import RelabelRefused, open_relabel
from annotation.services.releases import RoundClosed
from results.access import get_study_for_admin, get_study_for_results
from results.calibration_forms import CountForm
from results.rounds_contexts import show_rounds
from results.rounds_wording import say_opened
from results.services.calibration import request_missing_numbers
from studies.access import StudyAccess
from studies.models import Round
from studies.services.rounds import close_round

CONFLICT, INVALID = 409, 422


@require_safe
@login_required
def rounds(request: HttpRequest, slug: str) -> HttpResponse:
    return render_rounds(request, get_study_for_results(request, slug))


@require_POST
@login_required
def calibrate(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the calibration round that the page previews."""
    access = get_study_for_admin(request, slug)
    form = CountForm(request.POST)
    if not form.is_valid():
        return render_rounds(request, access, problem=say_wrong_number(), status=INVALID)
    try:
        opened = open_calibration(
            study=access.study,
            count=form.read("queries"),
            by=access.member,
            opens_at=form.cleaned_data["opens_at"],
        )
    except CalibrationRefused as refusal:
        return render_rounds(request, access, problem=str(refusal), status=CONFLICT)
    messages.success(request, say_opened(opened))
    return redirect("results:rounds", slug)


@require_POST
@login_required
def main(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the main round that the page previews, and lead on to its plan."""
    access = get_study_for_admin(request, slug)
    form = CountForm(request.POST)
    if not form.is_valid():
        return render_rounds(request, access, problem=say_wrong_number(), status=INVALID)
    try:
        opened = open_main(
            study=access.study,
            annotators=form.cleaned_data["annotators"] or access.study.annotators_per_query,
            by=access.member,
            opens_at=form.cleaned_data["opens_at"],
        )
    except MainRefused as refusal:
        return render_rounds(request, access, problem=str(refusal), status=CONFLICT)
    messages.success(request, say_opened(opened))
    plan = reverse("annotation:plan", args=[slug])
    return redirect(f"{plan}?{urlencode({'round': opened.name})}")


@require_POST
@login_required
def relabel(request: HttpRequest, slug: str) -> HttpResponse:
    """Open the relabel round that the page previews."""
    access = get_study_for_admin(request, slug)
    form = CountForm(request.POST)
    if not form.is_valid():
        return render_rounds(request, access, problem=say_wrong_number(), status=INVALID)
    try:
        opened = open_relabel(
            study=access.study,
            each=form.read("each"),
            by=access.member,
            opens_at=form.cleaned_data["opens_at"],
        )
    except RelabelRefused as refusal:
        return render_rounds(request, access, problem=str(refusal), status=CONFLICT)
    messages.success(request, say_opened(opened))
    return redirect("results:rounds", slug)


@require_POST
@login_required
def opening(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a round off, bring it forward, or open it at once."""
    access = get_study_for_admin(request, slug)
    round = get_object_or_404(access.study.rounds, name=request.POST.get("round", ""))
    form = OpeningForm(request.POST)
    if not form.is_valid():
        problem = _("Say by date and time when the round opens. Nothing was changed.")
        return render_rounds(request, access, problem=problem, status=INVALID)
    opens_at = None if "now" in request.POST else form.cleaned_data["opens_at"]
    try:
        set_opening(round=round, opens_at=opens_at, by=access.member)
    except RoundBegun:
        return render_rounds(request, access, problem=say_begun(), status=CONFLICT)
    except RoundClosed:
        problem = _("The round was closed. Nothing was changed.")
        return render_rounds(request, access, problem=problem, status=CONFLICT)
    messages.success(request, say_opened(round))
    return redirect("results:rounds", slug)


@require_POST
@login_required
def close(request: HttpRequest, slug: str) -> HttpResponse:
    """Close a round for good, once the box beside its button confirms it."""
    access = get_study_for_admin(request, slug)
    round = find_open_round(access, request.POST.get("round", ""))
    if not request.POST.get("sure"):
        problem = _("Tick the box to confirm: a closed round takes no labels any more.")
        return render_rounds(request, access, problem=problem, status=INVALID)
    close_round(round=round, user=access.user, member=access.member)
    request_missing_numbers(access.study, user=access.user)
    messages.success(request, _("The round “%(round)s” is closed.") % {"round": round.name})
    return redirect("results:rounds", slug)


@require_POST
@login_required
def compute(request: HttpRequest, slug: str) -> HttpResponse:
    """Ask for the numbers of closed rounds that have none."""
    access = get_study_for_results(request, slug)
    request_missing_numbers(access.study, user=access.user)
    return redirect("results:rounds", slug)


def find_open_round(access: StudyAccess, name: str) -> Round:
    """An open round that is not a calibration: those are closed by being compared. Raises
    Http404."""
    found = access.study.rounds.filter(name=name, closed_at__isnull=True)
    round = found.exclude(kind=Round.Kind.CALIBRATION).first()
    if round is None:
        raise Http404("No such open round.")
    return round


def say_wrong_number() -> str:
    return _("Say how many by a number from 1 on, when by date and time. Nothing was opened.")


def render_rounds(
    request: HttpRequest, access: StudyAccess, *, problem: str = "", status: int = 200
) -> HttpResponse:
    data = request.POST if request.method == "POST" else request.GET
    form = CountForm(data)
    page = show_rounds(
        access,
        queries=form.read("queries"),
        each=form.read("each"),
        with_relabel="each" in data,
        annotators=form.cleaned_data.get("annotators"),
        opens_at=data.get("opens_at", ""),
        problem=problem,
    )
    context = {"page": page, "problem": problem}
    return render(request, "results/rounds.html", context, status=status)

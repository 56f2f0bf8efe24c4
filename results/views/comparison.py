"""The splits of a calibration round side by side: opened once, talked over, noted."""

import uuid

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import content_disposition_header, urlencode
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from results.access import get_study_for_results, get_study_pair
from results.calibration_forms import NoteForm
from results.calibration_markdown import render_notes
from results.comparison_contexts import NoteValues, lay_out_split, show_comparison
from results.selectors.calibration import find_calibration, list_notes
from results.selectors.split_pairs import SplitPair, Wanted, list_split_pairs
from results.services.calibration import NoteOutdated, open_comparison, save_note
from results.services.reading import open_results
from results.services.scopes import Scope
from studies.access import StudyAccess
from studies.http import HtmxRequest
from studies.models import Round
from studies.services.log import record_action

CONFLICT, INVALID = 409, 422
MARKDOWN = "text/markdown; charset=utf-8"


@require_safe
@login_required
def comparison(request: HttpRequest, slug: str) -> HttpResponse:
    """What opening the comparison would do, or the comparison itself."""
    access = get_study_for_results(request, slug)
    return render_comparison(request, access, get_round(access, request.GET))


@require_POST
@login_required
def open_it(request: HttpRequest, slug: str) -> HttpResponse:
    """Close the round and compare: its labels stay as they are from here on."""
    access = get_study_for_results(request, slug)
    round = get_round(access, request.POST)
    open_comparison(round=round, by=access.member)
    return redirect(find_address(slug, round))


@require_POST
@login_required
def names(request: HttpRequest, slug: str) -> HttpResponse:
    """Show who gave which label: an act of its own, which the log keeps."""
    access = get_study_for_results(request, slug)
    round = get_closed_round(access, request.POST)
    record_action(
        access.study,
        "names.shown",
        user=access.user,
        member=access.member,
        data={"round": round.name},
    )
    return render_comparison(request, access, round, with_names=True)


@require_POST
@login_required
def note(request: HtmxRequest, slug: str, pair_id: uuid.UUID) -> HttpResponse:
    """Keep what a split was found to be."""
    access = get_study_for_results(request, slug)
    round = get_closed_round(access, request.POST)
    pair = get_study_pair(access, pair_id)
    split = get_split(access, round, pair.pk)
    form = NoteForm(request.POST)
    if not form.is_valid():
        return render_split(request, access, round, split, error=form.message, status=INVALID)
    try:
        save_note(round=round, pair=pair, by=access.member, **form.cleaned_data)
    except NoteOutdated:
        problem = _(
            "Somebody noted this split meanwhile. What you wrote stands in the form and is not "
            "saved yet: save again to put it in the place of theirs."
        )
        return render_split(request, access, round, split, problem=problem, status=CONFLICT)
    if request.htmx:
        return render_split(request, access, round, split)
    page = request.POST.get("page", "")
    return redirect(f"{find_address(slug, round, page)}#split-{pair.public_id}")


@require_safe
@login_required
def notes(request: HttpRequest, slug: str) -> HttpResponse:
    """The calibration notes as Markdown, without names."""
    access = get_study_for_results(request, slug)
    round = get_closed_round(access, request.GET)
    response = HttpResponse(render_notes(access.study, round), content_type=MARKDOWN)
    name = f"{slug}-{round.name}-notes.md"
    response["Content-Disposition"] = str(content_disposition_header(True, name))
    return response


def get_round(access: StudyAccess, data: QueryDict) -> Round:
    """The calibration round that an address or form names. Raises Http404."""
    round = find_calibration(access.study, data.get("round", ""))
    if round is None:
        raise Http404("No such calibration round.")
    return round


def get_closed_round(access: StudyAccess, data: QueryDict) -> Round:
    """A round whose comparison is open, to this person too. Raises Http404 otherwise."""
    round = get_round(access, data)
    if round.closed_at is None or open_results(access, [round]):
        raise Http404("The comparison of this round is not open.")
    return round


def get_split(access: StudyAccess, round: Round, pair: int) -> SplitPair:
    scope = Scope(round=round.name)
    found = list_split_pairs(access.study, scope, Wanted(pair=pair), limit=1)
    if not found:
        raise Http404("This pair is no split of the round.")
    return found[0]


def find_address(slug: str, round: Round, page: str = "") -> str:
    fields = {"round": round.name} | ({"page": page} if page.isdecimal() else {})
    return f"{reverse('results:comparison', args=[slug])}?{urlencode(fields)}"


def render_comparison(
    request: HttpRequest, access: StudyAccess, round: Round, *, with_names: bool = False
) -> HttpResponse:
    data = request.POST if request.method == "POST" else request.GET
    page = show_comparison(access, round, data, with_names=with_names)
    template = "results/hidden.html" if page.hidden_by else "results/comparison.html"
    return render(request, template, {"page": page})


def render_split(
    request: HtmxRequest,
    access: StudyAccess,
    round: Round,
    split: SplitPair,
    *,
    error: str = "",
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    """One split with its form: as the fragment that HTMX puts in its place, or a page of it."""
    typed = NoteValues(kind=request.POST.get("kind", ""), note=request.POST.get("note", ""))
    shown = lay_out_split(
        access.study,
        split,
        list_notes(round),
        values=typed if error or problem else None,
        error=error,
        problem=problem,
    )
    number = request.POST.get("page", "")
    page = {"study": access.study, "round": round, "number": number if number.isdecimal() else 1}
    template = "results/one_split.html#split" if request.htmx else "results/one_split.html"
    response = render(request, template, {"page": page, "split": shown}, status=status)
    patch_vary_headers(response, ["HX-Request"])
    return response

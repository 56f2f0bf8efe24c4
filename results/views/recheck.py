"""After a change of the rubric: what it touches is shown first, then given back in one step."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from annotation.opening_forms import OpeningForm
from results.recheck_contexts import show_recheck
from results.rounds_wording import say_opened
from results.services.rechecks import RecheckRefused, carry_without_round, open_recheck
from studies.access import StudyAccess, get_study_for_role
from studies.models import Role, RubricVersion
from studies.numbers import read_number

CONFLICT, INVALID = 409, 422


@require_safe
@login_required
def recheck(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    return render_recheck(request, access, find_version(access, request.GET), request.GET)


@require_POST
@login_required
def open_round(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    version = find_version(access, request.POST)
    if version is None:
        return render_recheck(request, access, version, request.POST, status=CONFLICT)
    form = OpeningForm(request.POST)
    if not form.is_valid():
        problem = _("Say by date and time when the round opens. Nothing was changed.")
        return render_recheck(
            request, access, version, request.POST, problem=problem, status=INVALID
        )
    try:
        opened = open_recheck(
            study=access.study,
            version=version,
            by=access.member,
            chosen=read_chosen(request.POST),
            keep_not_asked="keep_not_asked" in request.POST,
            opens_at=form.cleaned_data["opens_at"],
        )
    except RecheckRefused as refusal:
        return render_recheck(
            request, access, version, request.POST, problem=str(refusal), status=CONFLICT
        )
    messages.success(request, say_opened(opened))
    return redirect(f"{reverse('recheck:page', args=[slug])}?to={version.number}")


@require_POST
@login_required
def carry(request: HttpRequest, slug: str) -> HttpResponse:
    """Carry forward what no change concerns and what is kept, without opening a round."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    version = find_version(access, request.POST)
    count = 0
    if version is not None:
        count = carry_without_round(
            study=access.study,
            version=version,
            by=access.member,
            chosen=read_chosen(request.POST),
            keep_not_asked="keep_not_asked" in request.POST,
        )
    if version is None or not count:
        problem = _("There is no label to carry forward. Nothing was changed.")
        return render_recheck(
            request, access, version, request.POST, problem=problem, status=CONFLICT
        )
    messages.success(
        request,
        ngettext(
            "%(count)d label counts under rubric %(number)d too.",
            "%(count)d labels count under rubric %(number)d too.",
            count,
        )
        % {"count": count, "number": version.number},
    )
    return redirect(f"{reverse('recheck:page', args=[slug])}?to={version.number}")


def find_version(access: StudyAccess, data: QueryDict) -> RubricVersion | None:
    """The version that the address or form names, else the newest; None where there is only
    one. Raises Http404 for one that does not exist."""
    versions = RubricVersion.objects.filter(
        study=access.study, published_at__isnull=False, number__gt=1
    ).order_by("-number")
    if not data.get("to"):
        return versions.first()
    number = read_number(data.get("to", ""))
    version = versions.filter(number=number).first() if number is not None else None
    if version is None:
        raise Http404("No such later version.")
    return version


def read_chosen(data: QueryDict) -> list[str] | None:
    """The changes ticked in the form; None, for all of them, before the form was ever sent."""
    return data.getlist("change") if "chosen" in data else None


def render_recheck(
    request: HttpRequest,
    access: StudyAccess,
    version: RubricVersion | None,
    data: QueryDict,
    *,
    problem: str = "",
    status: int = 200,
) -> HttpResponse:
    page = version and show_recheck(
        access.study, version, read_chosen(data), keep_not_asked="keep_not_asked" in data
    )
    context = {
        "study": access.study,
        "page": page,
        "problem": problem,
        "opens_at": data.get("opens_at", ""),
    }
    return render(request, "results/recheck.html", context, status=status)

"""My studies, and a study's front page."""

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from studies import selectors
from studies.access import get_study_for_role, get_user
from studies.contexts import count_study, show_membership
from studies.first_steps import find_first_steps


@require_safe
@login_required
def index(request: HttpRequest) -> HttpResponse:
    memberships = selectors.list_memberships(get_user(request))
    context = {"memberships": [show_membership(member) for member in memberships]}
    return render(request, "studies/index.html", context)


@require_safe
@login_required
def study(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug)
    membership = show_membership(access.member)
    context = {
        "study": access.study,
        "membership": membership,
        "counts": count_study(access.study) if membership.is_in_charge else None,
        "steps": find_first_steps(access.study) if membership.is_admin else None,
    }
    return render(request, "studies/study.html", context)

"""The progress of a study: who holds what, what is left, and taking places back."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.progress.page import show_progress
from annotation.progress.requeue import RequeueForm
from annotation.services.releases import RoundClosed, release_claims, requeue_queries
from studies.access import get_study_for_role
from studies.models import Role
from studies.numbers import read_number


@require_safe
@login_required
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.LEAD, Role.ADMIN)
    return render(request, "annotation/progress.html", {"page": show_progress(access)})


@require_POST
@login_required
def release(request: HttpRequest, slug: str) -> HttpResponse:
    """End the holds that were ticked."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    keys = (read_number(key) for key in request.POST.getlist("claim"))
    chosen = [key for key in keys if key is not None]
    released = release_claims(study=access.study, claim_ids=chosen, user=access.user)
    if not released:
        problem = _("Nothing was released: tick who holds a query, and look whether they still do.")
        page = show_progress(access, problem=problem)
        return render(request, "annotation/progress.html", {"page": page}, status=409)
    sentence = ngettext(
        "%(number)d place is free again.", "%(number)d places are free again.", released
    )
    messages.success(request, sentence % {"number": released})
    return redirect("annotation:progress", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def requeue(request: HttpRequest, slug: str) -> HttpResponse:
    """Give queries to others: the address of a filled-in form shows what it would do, posting
    the same form does it."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    data = request.POST if request.method == "POST" else request.GET
    form = RequeueForm(data or None, study=access.study)
    context = {"study": access.study, "form": form}
    if not form.is_valid():
        is_wrong = form.is_bound or request.method == "POST"
        return render(request, "annotation/requeue.html", context, status=422 if is_wrong else 200)
    preview = form.preview()
    context["confirmed"] = RequeueForm(data, study=access.study, auto_id="confirmed-%s")
    if request.method != "POST" or not preview.places:
        return render(request, "annotation/requeue.html", context | {"preview": preview})
    try:
        freed = requeue_queries(
            round=form.cleaned_data["round"],
            round_query_ids=preview.keys,
            annotator=form.cleaned_data["annotator"],
            user=access.user,
        )
    except RoundClosed:
        form.add_error("round", _("The round was closed. Nothing was changed."))
        return render(request, "annotation/requeue.html", context, status=409)
    sentence = ngettext("%(number)d place was freed.", "%(number)d places were freed.", freed)
    messages.success(request, sentence % {"number": freed})
    return redirect("annotation:progress", slug)

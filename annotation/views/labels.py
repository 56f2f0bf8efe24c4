"""One's own past labels: a list, and each to be revised while its round is open."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from annotation import screens, selectors
from annotation.access import get_annotator, get_own_label
from annotation.contexts import JudgeContext
from annotation.forms import JudgmentForm
from annotation.kept_forms import find_unconfirmed, keeps_typed
from annotation.models import Judgment
from annotation.rubric_sheet import get_rubric_sheet
from annotation.services.judgments import revise_judgment
from annotation.tokens import BadToken, read_annotator, read_slip
from studies.models import Member

LABELS_PER_PAGE = 50


@require_safe
@login_required
def labels(request: HttpRequest, slug: str) -> HttpResponse:
    annotator = get_annotator(request, slug)
    page = Paginator(selectors.list_own_labels(annotator), LABELS_PER_PAGE).get_page(
        request.GET.get("page")
    )
    rows = [screens.list_own_label(judgment) for judgment in page]
    context = {"study": annotator.study, "labels": rows, "page": page}
    return render(request, "annotation/labels.html", context)


@keeps_typed(read_annotator)
@require_http_methods(["GET", "HEAD", "POST"])
def revise(request: HttpRequest, slug: str, judgment_id: uuid.UUID) -> HttpResponse:
    annotator = get_annotator(request, slug)
    judgment = get_own_label(annotator, judgment_id)
    if request.method == "POST":
        return take_revision(request, annotator, judgment)
    return render_revision(request, judgment, screens.show_own_label(annotator, judgment))


def take_revision(request: HttpRequest, annotator: Member, judgment: Judgment) -> HttpResponse:
    try:
        slip = read_slip(request.POST, annotator_id=annotator.pk)
    except BadToken:
        return outdated(request, annotator, judgment)
    shown, key = slip.shown, slip.key
    if shown.judgment_id != str(judgment.public_id):
        return outdated(request, annotator, judgment)
    form = JudgmentForm(request.POST, rubric=get_rubric_sheet(shown.rubric_version_id, ""))
    if not form.is_valid() or find_unconfirmed(request):
        screen = screens.show_again(
            annotator, shown, key=key, values=form.values, errors=form.messages
        )
        problem = find_unconfirmed(request)
        return render_revision(request, judgment, screen, status=422, problem=problem)
    outcome = revise_judgment(shown=shown, annotator=annotator, label=form.label, key=key)
    if not outcome.leads_on:
        return outdated(request, annotator, judgment)
    messages.success(request, _("The label now says what you chose."))
    return redirect("annotation:labels", annotator.study.slug)


def outdated(request: HttpRequest, annotator: Member, judgment: Judgment) -> HttpResponse:
    screen = screens.show_own_label(annotator, get_own_label(annotator, judgment.public_id))
    problem = _(
        "This label was changed elsewhere, or its round was closed. Nothing was changed by this "
        "form; below is what the label says now."
    )
    return render_revision(request, judgment, screen, status=409, problem=problem)


def render_revision(
    request: HttpRequest,
    judgment: Judgment,
    screen: JudgeContext | None,
    *,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    context = {
        "judge": screen,
        "problem": problem,
        "judgment_id": judgment.public_id,
        "is_open": judgment.round.is_open,
    }
    return render(request, "annotation/revise.html", context, status=status)

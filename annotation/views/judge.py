"""The judging screen: show the next pair, record a label, take it back, report a document."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from django_htmx.http import HttpResponseClientRedirect

from annotation import screens
from annotation.access import get_annotator, get_held_pair
from annotation.contexts import JudgeContext, NothingToJudge, RubricChanged
from annotation.forms import JudgmentForm, ProblemForm
from annotation.kept_forms import find_unconfirmed, keeps_typed
from annotation.models import Judgment, ProblemReport
from annotation.rubric_sheet import get_rubric_sheet
from annotation.services.judgments import Outcome, record_judgment, undo_judgment
from annotation.services.reports import report_problem as record_problem
from annotation.services.rubric_notices import confirm_version_read
from annotation.tokens import BadToken, ShownPair, read_annotator, read_slip
from studies.http import HtmxRequest
from studies.models import Member, Pair
from studies.numbers import read_number

# Where the note of a label that was taken back waits for its pair to be shown again.
NOTES_BACK = "notes_back"

# What a screen is called in the template, and the partial that shows it.
PARTS = {
    JudgeContext: ("judge", "#card"),
    RubricChanged: ("changed", "#changed"),
    NothingToJudge: ("nothing", "#nothing"),
}


@keeps_typed(read_annotator)
@require_http_methods(["GET", "HEAD", "POST"])
def judge(request: HtmxRequest, slug: str) -> HttpResponse:
    annotator = get_annotator(request, slug)
    if request.method == "POST":
        return take_submission(request, annotator)
    notes = request.session.get(NOTES_BACK, {})
    return render_screen(request, screens.show_next(annotator, notes=notes))


def take_submission(request: HtmxRequest, annotator: Member) -> HttpResponse:
    """Validate and record one label, then lead on to the next pair."""
    try:
        slip = read_slip(request.POST, annotator_id=annotator.pk)
    except BadToken:
        return refuse(request, annotator, _("This form was not made for you. Nothing changed."))
    shown, key = slip.shown, slip.key
    form = JudgmentForm(request.POST, rubric=get_rubric_sheet(shown.rubric_version_id, ""))
    if not form.is_valid() or find_unconfirmed(request):
        return show_errors(request, annotator, shown, key, form)
    outcome = record_judgment(shown=shown, annotator=annotator, label=form.label, key=key)
    if outcome.kind == "closed":
        return show_typed(request, annotator, shown, key, form, problem=explain(outcome))
    if not outcome.leads_on:
        return refuse(request, annotator, explain(outcome))
    drop_note(request, shown.pair_id)
    return lead_on(request, annotator, outcome, grade_left=form.grade_left)


def keep_note(request: HtmxRequest, taken_back: Judgment) -> dict[str, str]:
    """The notes of labels taken back, by pair: each waits in the session for the pair's label."""
    notes: dict[str, str] = request.session.get(NOTES_BACK, {})
    if taken_back.note:
        notes = {**notes, str(taken_back.pair.public_id): taken_back.note}
        request.session[NOTES_BACK] = notes
    return notes


def drop_note(request: HtmxRequest, pair_id: uuid.UUID) -> None:
    notes: dict[str, str] = request.session.get(NOTES_BACK, {})
    if str(pair_id) in notes:
        kept = {pair: note for pair, note in notes.items() if pair != str(pair_id)}
        request.session[NOTES_BACK] = kept


def lead_on(
    request: HtmxRequest, annotator: Member, outcome: Outcome, *, grade_left: str = ""
) -> HttpResponse:
    """With HTMX the answer is the next pair itself; without, a redirect to it."""
    notice = screens.tell_recorded(outcome.judgment, grade_left=grade_left)
    if not request.htmx:
        messages.success(request, notice)
        return redirect("annotation:judge", annotator.study.slug)
    latest = outcome.judgment if outcome.kind == "recorded" else None
    return render_screen(request, screens.show_next(annotator, notice=notice, latest=latest))


def show_errors(
    request: HtmxRequest, annotator: Member, shown: ShownPair, key: uuid.UUID, form: JudgmentForm
) -> HttpResponse:
    problem = find_unconfirmed(request)
    return show_typed(request, annotator, shown, key, form, status=422, problem=problem)


def show_typed(
    request: HtmxRequest,
    annotator: Member,
    shown: ShownPair,
    key: uuid.UUID,
    form: JudgmentForm,
    *,
    status: int = 409,
    problem: str,
) -> HttpResponse:
    """The same pair with what was typed, so that nothing of it is lost."""
    screen = screens.show_again(annotator, shown, key=key, values=form.values, errors=form.messages)
    if screen is None:
        return refuse(request, annotator, _("This pair is no longer in the study."))
    return render_screen(request, screen, status=status, problem=problem)


def refuse(request: HtmxRequest, annotator: Member, sentence: str) -> HttpResponse:
    """Answer 409: the form is outdated. Says so above the pair that is really next."""
    screen = screens.show_next(annotator)
    return render_screen(request, screen, status=409, problem=sentence)


def explain(outcome: Outcome) -> str:
    sentences = {
        "outdated": _(
            "You had already labelled this pair, here or in another tab. Your first label "
            "stands; change it under “My labels” if it is wrong."
        ),
        "closed": _("The round was closed before this label arrived. It was not recorded."),
        "surplus": _(
            "Your hold on this query had run out and others have taken its places. Your label is "
            "kept as surplus: numbers and exports leave it out. It counts if you get a place on "
            "this query again."
        ),
        "not_held": _("This pair is not assigned to you. Nothing changed."),
    }
    return sentences[outcome.kind]


def render_screen(
    request: HtmxRequest,
    screen: JudgeContext | RubricChanged | NothingToJudge,
    *,
    status: int = 200,
    problem: str = "",
) -> HttpResponse:
    """The page, or with HTMX its changing part. Both come from the same context."""
    name, partial = PARTS[type(screen)]
    template = "annotation/judge.html"
    if request.htmx:
        template += partial
    context = {name: screen, "problem": problem}
    response = render(request, template, context, status=status)
    response["Vary"] = "HX-Request"
    return response


@require_POST
@login_required
def undo(request: HtmxRequest, slug: str) -> HttpResponse:
    annotator = get_annotator(request, slug)
    try:
        judgment_id = uuid.UUID(request.POST.get("judgment", ""))
    except ValueError:
        return refuse(request, annotator, _("There is no label to take back."))
    outcome = undo_judgment(judgment_id=judgment_id, annotator=annotator)
    if not outcome.leads_on or outcome.judgment is None:
        sentence = _("Only your latest label can be taken back, while its round is open.")
        return refuse(request, annotator, sentence)
    notice = _("Taken back: %(label)s. The pair is here again.") % {
        "label": screens.describe_label(outcome.judgment)
    }
    notes = keep_note(request, outcome.judgment)
    if not request.htmx:
        messages.info(request, notice)
        return redirect("annotation:judge", slug)
    return render_screen(request, screens.show_next(annotator, notice=notice, notes=notes))


@require_POST
@login_required
def confirm_rubric(request: HtmxRequest, slug: str) -> HttpResponse:
    """The changes of the rubric are read: on to the next pair, or to what changed since."""
    annotator = get_annotator(request, slug)
    number = read_number(request.POST.get("number", ""))
    if number is None or not confirm_version_read(annotator=annotator, number=number):
        sentence = _("The rubric of the round changed once more. Below is what is new.")
        return refuse(request, annotator, sentence)
    if not request.htmx:
        return redirect("annotation:judge", slug)
    return render_screen(request, screens.show_next(annotator))


@require_POST
@login_required
def report_problem(request: HtmxRequest, slug: str) -> HttpResponse:
    annotator = get_annotator(request, slug)
    form = ProblemForm(request.POST)
    if not form.is_valid() or form.cleaned_data["kind"] not in ProblemReport.Kind.values:
        return refuse(request, annotator, _("Say what is wrong with the document."))
    pair: Pair = get_held_pair(annotator, form.cleaned_data["token"].pair_id)
    record_problem(
        pair=pair,
        annotator=annotator,
        kind=form.cleaned_data["kind"],
        note=form.cleaned_data["note"],
    )
    messages.success(request, _("Thank you: the admins see your report. You can still judge."))
    target = reverse("annotation:judge", args=[slug])
    return HttpResponseClientRedirect(target) if request.htmx else redirect(target)

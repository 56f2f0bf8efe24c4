"""The rubric: read, compared, and its next version written and published."""

from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from studies import rubric_contexts as contexts
from studies import rubric_drafts as drafts
from studies.access import StudyAccess, get_study_for_role
from studies.clause_requests import list_requests
from studies.formats.rubrics import write_rubric
from studies.models import Role, Round, RubricDraft, RubricVersion
from studies.numbers import read_number
from studies.selectors import find_rubric_in_force
from studies.services import rubric_drafts as services
from studies.services.rubrics import RubricRefused, describe_rubric

UPLOAD_LIMIT = 1_000_000  # bytes


@require_safe
@login_required
def rubric(request: HttpRequest, slug: str, number: int | None = None) -> HttpResponse:
    """A published version: the one judged under now, or the one that the address names."""
    member = get_study_for_role(request, slug).member
    visible = contexts.list_visible_versions(member)
    if number is None:
        number = contexts.find_version_judged_under(member, visible)
    else:
        pick_version(visible, number)
    page = contexts.show_rubric(member, visible, number)
    return render(request, "studies/rubric.html", {"page": page})


@require_safe
@login_required
def diff(request: HttpRequest, slug: str) -> HttpResponse:
    """What differs between two versions that this person may read."""
    access = get_study_for_role(request, slug)
    visible = contexts.list_visible_versions(access.member)
    before = pick_version(visible, read_version(request.GET, "from"))
    after = pick_version(visible, read_version(request.GET, "to"))
    context = {
        "study": access.study,
        "before": before,
        "after": after,
        "note": after.note if contexts.may_see_all(access.member) else "",
        "changes": contexts.show_diff(before, after),
        "numbers": [version.number for version in visible],
    }
    return render(request, "studies/rubric_diff.html", context)


@require_safe
@login_required
def download(request: HttpRequest, slug: str, number: int) -> HttpResponse:
    """A version as the file that `import_study` reads."""
    member = get_study_for_role(request, slug).member
    version = pick_version(contexts.list_visible_versions(member), number)
    content = describe_rubric(version)
    if not contexts.may_see_all(member):
        content = replace(content, note="")
    response = HttpResponse(write_rubric(content), content_type="application/yaml; charset=utf-8")
    name = "rubric.yaml" if number == 1 else f"rubric-{number}.yaml"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_POST
@login_required
def start(request: HttpRequest, slug: str) -> HttpResponse:
    """Begin the next version from the newest published one, or from a starter."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    starter = request.POST.get("starter", "")
    newest = None if starter else find_rubric_in_force(access.study)
    try:
        services.start_draft(
            study=access.study,
            rubric=describe_rubric(newest)
            if newest
            else services.read_starter(starter or "graded"),
            by=access.member,
            based_on=newest,
        )
    except RubricRefused as refusal:
        return refuse(request, access, str(refusal), status=422)
    except services.DraftOutdated:
        messages.info(request, _("There is a draft already; it was kept as it is."))
    return redirect("rubric:draft", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def draft(request: HttpRequest, slug: str) -> HttpResponse:
    """The editor. Each button saves all that stands in the form, then does what it says."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    found = RubricDraft.objects.filter(study=access.study).first()
    if found is None:
        return redirect("rubric:page", slug)
    if request.method == "POST":
        return take_draft(request, access, found)
    return render_draft(request, access, found)


def take_draft(request: HttpRequest, access: StudyAccess, found: RubricDraft) -> HttpResponse:
    content = drafts.draft_from_form(request.POST)
    step, _colon, path = request.POST.get("do", "save").partition(":")
    try:
        change_content(content, step, path)
    except ValueError:
        problem = _("This button belongs to an older state of the draft. Nothing was changed.")
        return render_draft(request, access, found, content=content, problem=problem, status=409)
    try:
        services.save_draft(
            study=access.study,
            content=content,
            edition=read_edition(request.POST),
            by=access.member,
        )
    except services.DraftOutdated:
        problem = _(
            "Somebody saved this draft meanwhile. What you wrote stands below and is not saved "
            "yet: save again to put it in the place of theirs."
        )
        return render_draft(request, access, found, content=content, problem=problem, status=409)
    if step == "save":
        messages.success(request, _("The draft is saved. Nobody judges under it yet."))
    # Back to the part that the button belongs to.
    return redirect(f"{request.path}#{path or 'draft'}")


def change_content(content: drafts.Draft, step: str, path: str) -> None:
    """Do what a button of the editor says. Raises ValueError where it does not fit."""
    if step == "add":
        drafts.add_item(content, path)
    elif step == "remove":
        drafts.remove_item(content, path)
    elif step == "starters":
        drafts.add_edge_case_starters(content)


@require_POST
@login_required
def upload(request: HttpRequest, slug: str) -> HttpResponse:
    """Put a rubric file in the place of what the draft holds; begins one where there is none."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    file = request.FILES.get("file")
    if file is None or (file.size or 0) > UPLOAD_LIMIT:
        reason = _("Choose a rubric file of at most one megabyte.")
        return refuse(request, access, reason, status=422)
    content, problems = drafts.read_draft(file.read())
    if content is not None:
        known = access.study.query_classes.values_list("name", flat=True)
        problems = [*problems, *drafts.find_unknown_classes(content, known)]
    if content is None or problems:
        head = _("The file was refused; nothing was changed.")
        reasons = [str(problem) for problem in problems]
        return refuse(request, access, head, reasons=reasons, status=422)
    try:
        services.replace_draft(study=access.study, rubric=content, by=access.member)
    except RubricRefused as refusal:
        return refuse(request, access, str(refusal), status=422)
    messages.success(request, _("The file is in the draft now. Read it over, then publish it."))
    return redirect("rubric:draft", slug)


@require_POST
@login_required
def publish(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    note, rounds = request.POST.get("note", ""), request.POST.getlist("rounds")
    try:
        version = services.publish_draft(
            study=access.study,
            note=note,
            edition=read_edition(request.POST),
            by=access.member,
            rounds=rounds,
        )
    except services.DraftRefused as refusal:
        found = get_object_or_404(RubricDraft, study=access.study)
        kept: dict[str, Any] = {"note": note, "chosen": rounds, "refusals": refusal.faults}
        return render_draft(request, access, found, status=422, **kept)
    except services.DraftOutdated:
        return refuse(request, access, say_outdated(), status=409)
    messages.success(request, say_published(version))
    return redirect("rubric:page", slug)


@require_POST
@login_required
def discard(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    try:
        services.discard_draft(
            study=access.study, edition=read_edition(request.POST), by=access.member
        )
    except services.DraftOutdated:
        return refuse(request, access, say_outdated(), status=409)
    messages.success(request, _("The draft is gone; the log keeps what it said."))
    return redirect("rubric:page", slug)


@require_POST
@login_required
def switch(request: HttpRequest, slug: str) -> HttpResponse:
    """Judge on under another version, in one round."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    rounds = Round.objects.filter(study=access.study, name=request.POST.get("round", ""))
    version = RubricVersion.objects.filter(
        study=access.study, number=read_number(request.POST.get("version", "")) or 0
    ).first()
    found = rounds.first()
    if found is None or version is None:
        reason = _("Choose a round and a version of this study.")
        return refuse(request, access, reason, status=422)
    try:
        changed = services.switch_round(round=found, version=version, by=access.member)
    except RubricRefused as refusal:
        return refuse(request, access, str(refusal), status=422)
    said = (
        _(
            "“%(round)s” is judged on under rubric %(number)d. "
            "Everybody is told before the next pair."
        )
        if changed
        else _("“%(round)s” was under rubric %(number)d already.")
    )
    messages.success(request, said % {"round": found.name, "number": version.number})
    return redirect("rubric:page", slug)


def pick_version(visible: list[RubricVersion], number: int) -> RubricVersion:
    """Raises Http404 for a version that this person may not read, or that does not exist."""
    for version in visible:
        if version.number == number:
            return version
    raise Http404("No such version for this person.")


def read_version(data: QueryDict, name: str) -> int:
    """Raises Http404 where it is no number."""
    number = read_number(data.get(name, ""))
    if number is None:
        raise Http404("Rubric versions are numbers.")
    return number


def read_edition(data: QueryDict) -> int:
    return read_number(data.get("edition", "")) or 0


def say_published(version: RubricVersion) -> str:
    under_it = ", ".join(version.rounds.order_by("position", "pk").values_list("name", flat=True))
    if not under_it:
        text = _("Rubric %(number)d is published. Rounds go on as they were until you switch them.")
        return text % {"number": version.number}
    return _(
        "Rubric %(number)d is published, and judged under from now on in: %(rounds)s. Everybody is "
        "told what changed before their next pair."
    ) % {"number": version.number, "rounds": under_it}


def say_outdated() -> str:
    return _("The draft was saved, published or discarded meanwhile. Nothing was changed.")


def render_draft(
    request: HttpRequest,
    access: StudyAccess,
    found: RubricDraft,
    *,
    content: drafts.Draft | None = None,
    status: int = 200,
    **extra: Any,
) -> HttpResponse:
    shown = found.content if content is None else content
    context = {
        "study": access.study,
        "draft": shown,
        "edition": found.edition,
        "based_on": found.based_on,
        "classes": list(access.study.query_classes.values_list("name", flat=True)),
        "faults": services.check_content(access.study, shown)[1],
        "requests": list_requests(access.study, shown),
        "rounds": contexts.list_rounds(access.study),
        "has_history": find_rubric_in_force(access.study) is not None,
        **extra,
    }
    return render(request, "studies/rubric_draft.html", context, status=status)


def refuse(
    request: HttpRequest,
    access: StudyAccess,
    reason: str,
    *,
    reasons: list[str] | None = None,
    status: int,
) -> HttpResponse:
    """The rubric's page with what was refused above it."""
    visible = contexts.list_visible_versions(access.member)
    number = contexts.find_version_judged_under(access.member, visible)
    page = contexts.show_rubric(access.member, visible, number)
    context = {"page": page, "problem": reason, "reasons": reasons or []}
    return render(request, "studies/rubric.html", context, status=status)

"""Query classes: how many queries each has, and giving them by hand or by rules."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from studies.access import StudyAccess, get_study_for_role
from studies.class_forms import AssignForm, NewClassForm, RulesForm, WeightForm
from studies.models import QueryClass, Role
from studies.selectors import count_classes, list_queries_of_class
from studies.services.classes import (
    apply_rules,
    classify_queries,
    create_class,
    match_rules,
    weigh_class,
)

QUERIES_PER_PAGE = 100


@require_safe
@login_required
def classes(request: HttpRequest, slug: str) -> HttpResponse:
    return render_classes(request, get_study_for_role(request, slug, Role.ADMIN))


def render_classes(
    request: HttpRequest, access: StudyAccess, *, status: int = 200, **more: object
) -> HttpResponse:
    """The page with its classes, and the queries of the class and words that the address names."""
    study = access.study
    chosen, words = request.GET.get("class", ""), request.GET.get("q", "")
    queries = list_queries_of_class(study, chosen, words)
    page = Paginator(queries, QUERIES_PER_PAGE).get_page(request.GET.get("page"))
    page.object_list = list(page.object_list)
    context = {
        "study": study,
        "classes": count_classes(study),
        "chosen": chosen,
        "words": words,
        "page": page,
        "new": NewClassForm(study=study),
        "assign": AssignForm(study=study),
    }
    return render(request, "studies/classes.html", context | more, status=status)


@require_POST
@login_required
def new_class(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = NewClassForm(request.POST, study=access.study)
    if not form.is_valid():
        return render_classes(request, access, status=422, new=form)
    create_class(study=access.study, user=access.user, **form.cleaned_data)
    messages.success(request, _("The class is there."))
    return redirect("studies:classes", slug)


@require_POST
@login_required
def weigh(request: HttpRequest, slug: str) -> HttpResponse:
    """What the release gate asks of one class."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    name, form = request.POST.get("name", ""), WeightForm(request.POST)
    if not form.is_valid():
        problem = _("Say by a number from 0 on how many judged queries the class needs.")
        return render_classes(request, access, status=422, problem=problem)
    try:
        weigh_class(study=access.study, name=name, user=access.user, **form.cleaned_data)
    except QueryClass.DoesNotExist:
        raise Http404("No such class.") from None
    messages.success(request, _("The release gate asks this of “%(name)s” now.") % {"name": name})
    return redirect("studies:classes", slug)


@require_POST
@login_required
def assign(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = AssignForm(request.POST, study=access.study)
    if not form.is_valid():
        problem = " ".join(str(error) for errors in form.errors.values() for error in errors)
        return render_classes(request, access, status=422, problem=problem)
    changed = classify_queries(
        study=access.study,
        queries=[query.pk for query in form.cleaned_data["queries"]],
        query_class=form.cleaned_data["query_class"],
        user=access.user,
    )
    tell_changed(request, changed)
    return redirect("studies:classes", slug)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def rules(request: HttpRequest, slug: str) -> HttpResponse:
    """Rules by their address are tried and shown; posting the same form applies them."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    is_posted = request.method == "POST"
    data = request.POST if is_posted else request.GET
    form = RulesForm(data or None, study=access.study)
    context = {"study": access.study, "form": form, "classes": count_classes(access.study)}
    if not data and not is_posted:
        return render(request, "studies/class_rules.html", context)
    if not form.is_valid():
        context["problem"] = _("Give at least one rule, each with words and a class.")
        return render(request, "studies/class_rules.html", context, status=422)
    if is_posted:
        changed = apply_rules(
            study=access.study,
            rules=form.rules,
            unclassified_only=form.unclassified_only,
            user=access.user,
        )
        tell_changed(request, changed)
        return redirect("studies:classes", slug)
    matches = match_rules(
        study=access.study, rules=form.rules, unclassified_only=form.unclassified_only
    )
    context |= {"matches": matches, "changes": sum(match.changes for match in matches)}
    context["values"] = list(data.items())
    return render(request, "studies/class_rules.html", context)


def tell_changed(request: HttpRequest, changed: int) -> None:
    sentence = ngettext(
        "%(number)d query has another class now. Numbers by class computed before are old.",
        "%(number)d queries have another class now. Numbers by class computed before are old.",
        changed,
    )
    if changed:
        messages.success(request, sentence % {"number": changed})
    else:
        messages.info(request, _("Nothing changed: they had this class already."))

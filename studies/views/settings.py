"""Creating a study, for superusers, and its settings, for its admins."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from studies.access import get_study_for_role
from studies.models import Role, Study, User
from studies.services.studies import change_settings, create_study
from studies.study_forms import NewStudyForm, SettingsForm


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def new_study(request: HttpRequest) -> HttpResponse:
    if not isinstance(request.user, User) or not request.user.is_superuser:
        raise Http404("Only superusers create studies.")
    form = NewStudyForm(request.POST or None)
    if request.method != "POST" or not form.is_valid():
        status = 422 if request.method == "POST" else 200
        return render(request, "studies/new.html", {"form": form}, status=status)
    study = create_study(fields=form.cleaned_data, user=request.user)
    messages.success(request, _("The study is there, and you are its admin."))
    return redirect("studies:study", study.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def settings(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    # The form works on a copy: the heading must not show what was refused.
    form = SettingsForm(request.POST or None, instance=Study.objects.get(pk=access.study.pk))
    if request.method != "POST" or not form.is_valid():
        status = 422 if request.method == "POST" else 200
        context = {"form": form, "study": access.study}
        return render(request, "studies/settings.html", context, status=status)
    change_settings(study=access.study, fields=form.cleaned_data, user=access.user)
    messages.success(request, _("The settings were changed."))
    return redirect("studies:settings", slug)

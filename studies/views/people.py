"""The people of a study: roles, activity, identities, invitations. For its admins."""

import uuid

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import Form
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from studies.access import StudyAccess, get_study_for_role
from studies.models import Invitation, Role
from studies.people_contexts import show_people
from studies.people_forms import ActivityForm, InvitationForm, LinkForm, RolesForm
from studies.services.invitations import InvitationClosed, create_invitation, revoke_invitation
from studies.services.memberships import change_roles, deactivate_member, reactivate_member
from studies.services.people import PersonRefused, link_account


@require_safe
@login_required
def people(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    return render(request, "studies/people.html", {"page": show_people(access)})


@require_POST
@login_required
def invite(request: HttpRequest, slug: str) -> HttpResponse:
    """Make a link and show it, in the answer to this very request and never again."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = InvitationForm(request.POST, study=access.study)
    if not form.is_valid():
        page = show_people(access, form=form)
        return render(request, "studies/people.html", {"page": page}, status=422)
    _invitation, token = create_invitation(
        study=access.study,
        roles=form.cleaned_data["roles"],
        valid_for=form.valid_for,
        note=form.cleaned_data["note"],
        identity=form.cleaned_data["identity"],
        user=access.user,
    )
    link = request.build_absolute_uri(reverse("studies:join", args=[token]))
    return render(request, "studies/people.html", {"page": show_people(access, link=link)})


@require_POST
@login_required
def revoke(request: HttpRequest, slug: str, invitation_id: uuid.UUID) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    invitation = Invitation.objects.filter(study=access.study, public_id=invitation_id).first()
    if invitation is None:
        raise Http404("No such invitation to this study.")
    try:
        revoke_invitation(invitation=invitation, user=access.user)
    except InvitationClosed:
        problem = _("This link was used, taken back or has run out already. Nothing changed.")
        return refuse(request, access, problem, status=409)
    messages.success(request, _("The link no longer works."))
    return redirect("studies:people", slug)


@require_POST
@login_required
def roles(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = RolesForm(request.POST, study=access.study)
    if not form.is_valid():
        return refuse(request, access, list_faults(form))
    member = form.cleaned_data["member"]
    try:
        change_roles(member=member, roles=form.cleaned_data["roles"], user=access.user)
    except PersonRefused as refusal:
        return refuse(request, access, str(refusal))
    messages.success(request, _("Roles of %(name)s changed.") % {"name": member.name})
    return lead_back(access, member.pk == access.member.pk, form.cleaned_data["roles"])


def lead_back(access: StudyAccess, is_self: bool, roles: list[str]) -> HttpResponse:
    """An admin who has given the role away may no longer open the page."""
    has_left = is_self and Role.ADMIN not in roles
    if has_left and not roles:
        return redirect("studies:index")
    return redirect("studies:study" if has_left else "studies:people", access.study.slug)


@require_POST
@login_required
def activity(request: HttpRequest, slug: str) -> HttpResponse:
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = ActivityForm(request.POST, study=access.study)
    if not form.is_valid():
        return refuse(request, access, list_faults(form))
    member, is_active = form.cleaned_data["member"], form.cleaned_data["active"] == "yes"
    change = reactivate_member if is_active else deactivate_member
    try:
        change(member=member, user=access.user)
    except PersonRefused as refusal:
        return refuse(request, access, str(refusal))
    sentence = _("%(name)s is active again.") if is_active else _("%(name)s is no longer active.")
    messages.success(request, sentence % {"name": member.name})
    has_left = member.pk == access.member.pk and not is_active
    return redirect("studies:index") if has_left else redirect("studies:people", slug)


@require_POST
@login_required
def link(request: HttpRequest, slug: str) -> HttpResponse:
    """Let an account speak for an identity, whose labels become theirs."""
    access = get_study_for_role(request, slug, Role.ADMIN)
    form = LinkForm(request.POST, study=access.study)
    if not form.is_valid():
        return refuse(request, access, list_faults(form))
    member, account = form.cleaned_data["member"], form.cleaned_data["account"]
    try:
        link_account(member=member, account=account, user=access.user)
    except PersonRefused as refusal:
        return refuse(request, access, str(refusal))
    messages.success(
        request,
        _("%(name)s now belongs to the account %(account)s.")
        % {"name": member.name, "account": account.username},
    )
    return redirect("studies:people", slug)


def refuse(
    request: HttpRequest, access: StudyAccess, problem: str, *, status: int = 422
) -> HttpResponse:
    page = show_people(access, problem=problem)
    return render(request, "studies/people.html", {"page": page}, status=status)


def list_faults(form: Form) -> str:
    """What is wrong with a small form, in one line."""
    return " ".join(str(error) for errors in form.errors.values() for error in errors)

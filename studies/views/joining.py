"""The page behind an invitation: joining with a new account or with one's own."""

from django.contrib import messages
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from studies.models import Invitation, Member, Role, User
from studies.people_forms import AccountForm
from studies.services.invitations import (
    InvitationClosed,
    NameTaken,
    accept_invitation,
    find_invitation,
    join_with_new_account,
)
from studies.services.people import PersonRefused

BACKEND = "django.contrib.auth.backends.ModelBackend"


@require_http_methods(["GET", "HEAD", "POST"])
def join(request: HttpRequest, token: str) -> HttpResponse:
    """Show the invitation, and let it be accepted once. What no longer works says why."""
    invitation = find_invitation(token)
    if invitation is None:
        raise Http404("No such invitation.")
    if invitation.state != "open":
        return render_closed(request, invitation.state)
    if request.method != "POST":
        return render_invitation(request, invitation, AccountForm())
    try:
        if isinstance(request.user, User):
            return welcome(request, accept_invitation(invitation=invitation, user=request.user))
        return join_as_new(request, invitation)
    except InvitationClosed as closed:
        return render_closed(request, closed.state)
    except PersonRefused as refusal:
        return render_invitation(request, invitation, AccountForm(), problem=str(refusal))


def join_as_new(request: HttpRequest, invitation: Invitation) -> HttpResponse:
    form = AccountForm(request.POST)
    if not form.is_valid():
        return render_invitation(request, invitation, form)
    try:
        member = join_with_new_account(
            invitation=invitation,
            username=form.cleaned_data["username"],
            password=form.cleaned_data["password1"],
        )
    except NameTaken as taken:
        form.add_error("username", str(taken))
        return render_invitation(request, invitation, form)
    login(request, member.user, backend=BACKEND)
    return welcome(request, member)


def welcome(request: HttpRequest, member: Member) -> HttpResponse:
    messages.success(request, _("Welcome: you are a member of this study now."))
    return redirect("studies:study", member.study.slug)


def render_invitation(
    request: HttpRequest, invitation: Invitation, form: AccountForm, *, problem: str = ""
) -> HttpResponse:
    context = {
        "invitation": invitation,
        "roles": [Role(role).label for role in invitation.roles],
        "form": form,
        "problem": problem,
    }
    status = 422 if problem or form.errors else 200
    return render(request, "studies/join.html", context, status=status)


def render_closed(request: HttpRequest, state: str) -> HttpResponse:
    return render(request, "studies/join_closed.html", {"state": state}, status=410)

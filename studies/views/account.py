"""A person's own page: name, language, password, and where they are logged in."""

import uuid
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.forms import BaseForm
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views import i18n
from django.views.decorators.http import require_POST, require_safe

from studies.account_forms import LanguageForm, NameForm, PasswordForm
from studies.models import LoginSession, User
from studies.services.sessions import (
    end_other_sessions,
    end_session,
    list_sessions,
    renew_after_password_change,
)


@dataclass(frozen=True, slots=True)
class SessionRow:
    session: LoginSession
    browser: str
    is_this: bool


# The first that is found in what a browser says of itself; many name several.
BROWSERS = {
    "Firefox/": "Firefox",
    "Edg": "Edge",
    "OPR/": "Opera",
    "Chrome/": "Chrome",
    "Safari/": "Safari",
}
SYSTEMS = {
    "Android": "Android",
    "iPhone": "iPhone",
    "iPad": "iPad",
    "Windows": "Windows",
    "Mac OS X": "macOS",
    "CrOS": "ChromeOS",
    "Linux": "Linux",
}


def name_browser(said: str) -> str:
    """What a person calls the browser: "Firefox, Linux". What is not known is shown as it is."""
    found = [
        next((name for mark, name in marks.items() if mark in said), "")
        for marks in (BROWSERS, SYSTEMS)
    ]
    return ", ".join(filter(None, found)) or said


@require_safe
@login_required
def me(request: HttpRequest) -> HttpResponse:
    return render_me(request)


@require_POST
@login_required
def change_name(request: HttpRequest) -> HttpResponse:
    form = NameForm(request.POST, instance=get_account(request))
    if not form.is_valid():
        return render_me(request, name=form)
    form.save()
    messages.success(request, _("Your name was changed."))
    return redirect("studies:me")


@require_POST
@login_required
def change_language(request: HttpRequest) -> HttpResponse:
    """Keep the language with the account, so that it holds in every browser."""
    form = LanguageForm(request.POST)
    if not form.is_valid():
        return render_me(request, language=form)
    keep_language(get_account(request), form.cleaned_data["language"])
    with translation.override(form.cleaned_data["language"] or translation.get_language()):
        messages.success(request, _("Your language was changed."))
    return redirect("studies:me")


@require_POST
def set_language(request: HttpRequest) -> HttpResponse:
    """The language form at the foot of each page; the choice stays with the account, if any."""
    language = request.POST.get("language", "")
    if isinstance(request.user, User) and language in dict(settings.LANGUAGES):
        keep_language(request.user, language)
    return i18n.set_language(request)


def keep_language(user: User, language: str) -> None:
    user.language = language
    user.save(update_fields=["language"])


@require_POST
@login_required
def change_password(request: HttpRequest) -> HttpResponse:
    form = PasswordForm(get_account(request), request.POST)
    if not form.is_valid():
        return render_me(request, password=form)
    user = form.save()
    renew_after_password_change(request=request, user=user)
    messages.success(request, _("Your password was changed. You are logged out everywhere else."))
    return redirect("studies:me")


@require_POST
@login_required
def end(request: HttpRequest, session_id: uuid.UUID) -> HttpResponse:
    session = get_account(request).login_sessions.filter(public_id=session_id).first()
    if session is None:
        raise Http404("No such session of this person.")
    end_session(session)
    messages.success(request, _("That browser is logged out."))
    return redirect("studies:me")


@require_POST
@login_required
def end_others(request: HttpRequest) -> HttpResponse:
    end_other_sessions(user=get_account(request), session_key=request.session.session_key)
    messages.success(request, _("You are logged out everywhere else."))
    return redirect("studies:me")


def get_account(request: HttpRequest) -> User:
    if not isinstance(request.user, User):
        raise Http404("Nobody is logged in.")
    return request.user


def render_me(request: HttpRequest, **bound: BaseForm) -> HttpResponse:
    """The page with its forms; one that was sent and refused is shown with what is wrong."""
    user = User.objects.get(pk=get_account(request).pk)
    forms: dict[str, Any] = {
        "name": NameForm(instance=user),
        "language": LanguageForm(initial={"language": user.language}),
        "password": PasswordForm(user),
    }
    key = request.session.session_key
    rows = [
        SessionRow(one, name_browser(one.browser), one.session_key == key)
        for one in list_sessions(user)
    ]
    context = {"forms": forms | bound, "sessions": rows, "has_others": len(rows) > 1}
    return render(request, "studies/me.html", context, status=422 if bound else 200)

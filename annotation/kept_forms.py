"""What a person typed outlives their session: one mechanism for every page where people decide.

A form that arrives after its session has ended is kept, and taken once the person it was made for
has logged in again in the same browser. A form whose CSRF token is out of date (a login in another
tab renews it) is shown again with what was typed, to be sent by one key press: without a valid
token nothing is ever taken. The signed slip in the form names its person, so nobody else is shown
it or has it recorded for them, however many people log in between.
"""

import uuid
from collections.abc import Callable
from datetime import timedelta
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.views import redirect_to_login
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django_htmx.http import HttpResponseClientRedirect

from annotation.models import KeptForm
from annotation.tokens import BadToken
from studies.models import Member, User

COOKIE = "kept-forms"
KEPT_FOR = timedelta(days=7)
# A note of the greatest length, percent-encoded, and some.
LONGEST = 100_000
CONFLICT = 409

P = ParamSpec("P")
Request = TypeVar("Request", bound=HttpRequest)
View = Callable[Concatenate[Request, P], HttpResponse]
ReadOwner = Callable[[str], int]


def keeps_typed(read_owner: ReadOwner) -> Callable[[View[Request, P]], View[Request, P]]:
    """Decorate a view for people who are logged in, so that no form sent to it is lost.

    `read_owner` gives the key of the member whom the form's `token` names, or raises BadToken.
    """

    def decorate(view: View[Request, P]) -> View[Request, P]:
        @wraps(view)
        def keeping(request: Request, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
            if not request.user.is_authenticated:
                return ask_to_log_in(request, read_owner, is_checked=True)
            waiting = find_waiting(request) if request.method == "GET" else None
            if waiting is None:
                return view(request, *args, **kwargs)
            request.method, request.POST = "POST", QueryDict(waiting.data)
            if not waiting.is_checked:
                mark_unconfirmed(request)
            try:
                response = view(request, *args, **kwargs)
            except Http404:
                waiting.delete()
                raise
            waiting.delete()
            return response

        # The middleware finds it on the view.
        keeping.read_owner = read_owner  # type: ignore[attr-defined]
        return keeping

    return decorate


def ask_to_log_in(request: HttpRequest, read_owner: ReadOwner, *, is_checked: bool) -> HttpResponse:
    """Send to the login and back; what was typed is kept meanwhile."""
    answer: HttpResponse = redirect_to_login(request.path)
    if getattr(request, "htmx", False):
        answer = HttpResponseClientRedirect(answer["Location"])
    if request.method != "POST":
        return answer
    if not keep_form(request, answer, find_owner(request, read_owner), is_checked=is_checked):
        messages.info(request, _("Your session had ended. Log in again."))
    elif is_checked:
        messages.info(
            request,
            _("Your session had ended. Log in again: what you gave is kept and recorded then."),
        )
    else:
        messages.info(
            request,
            _("Your session had ended. Log in again: what you gave is kept and shown to you then."),
        )
    return answer


def show_typed_again(request: HttpRequest) -> HttpResponse | None:
    """Answer a form whose only fault is its CSRF token: 409 with what was typed in a fresh form.

    None for pages that keep nothing, and for forms that were made for nobody.
    """
    match = request.resolver_match
    read_owner: ReadOwner | None = getattr(match.func, "read_owner", None) if match else None
    if match is None or read_owner is None:
        return None
    owner = find_owner(request, read_owner)
    if owner is None:
        return None
    if not request.user.is_authenticated:
        return ask_to_log_in(request, read_owner, is_checked=False)
    if owner.user_id != request.user.pk:
        return tell_other_person(request, owner)
    mark_unconfirmed(request)
    response: HttpResponse = match.func(request, *match.args, **match.kwargs)
    response.status_code = CONFLICT
    return response


def tell_other_person(request: HttpRequest, owner: Member) -> HttpResponse:
    """Somebody else has logged in meanwhile: the form waits for its own person."""
    target = reverse("studies:index")
    is_htmx = getattr(request, "htmx", False)
    answer = HttpResponseClientRedirect(target) if is_htmx else redirect(target)
    keep_form(request, answer, owner, is_checked=False)
    messages.warning(
        request,
        _(
            "The form you sent was made for another account. Nothing was recorded; it is kept "
            "until that person logs in again in this browser."
        ),
    )
    return answer


def mark_unconfirmed(request: HttpRequest) -> None:
    request.is_unconfirmed = True  # type: ignore[attr-defined]  # a mark of our own on the request


def find_unconfirmed(request: HttpRequest) -> str:
    """Why the form is only to be shown again, "" where it may be taken."""
    if not getattr(request, "is_unconfirmed", False):
        return ""
    return _(
        "Not recorded yet: you had logged in anew meanwhile, perhaps in another tab. What you "
        "chose and wrote is below; press Enter to send it."
    )


def keep_form(
    request: HttpRequest, answer: HttpResponse, owner: Member | None, *, is_checked: bool
) -> bool:
    """Keep the posted form for its person and let the browser know of it; False where it was made
    for nobody, or is longer than any form of this site."""
    KeptForm.objects.filter(expires_at__lte=timezone.now()).delete()
    data = request.POST.urlencode()
    if owner is None or len(data) > LONGEST:
        return False
    browser = read_browser(request) or uuid.uuid4()
    KeptForm.objects.create(
        browser=browser,
        owner=owner,
        address=request.path,
        data=data,
        is_checked=is_checked,
        expires_at=timezone.now() + KEPT_FOR,
    )
    answer.set_cookie(
        COOKIE,
        browser.hex,
        max_age=KEPT_FOR,
        path=settings.SESSION_COOKIE_PATH,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )
    return True


def find_owner(request: HttpRequest, read_owner: ReadOwner) -> Member | None:
    """The member, with an account, whom the form was made for."""
    try:
        key = read_owner(request.POST.get("token", ""))
    except BadToken:
        return None
    return Member.objects.filter(pk=key, user__isnull=False).first()


def find_waiting(request: HttpRequest) -> KeptForm | None:
    """The oldest form that waits in this browser for who is asking, at this address."""
    return _list_waiting(request, address=request.path)


def find_waiting_address(request: HttpRequest) -> str:
    """Where a form waits in this browser for who is asking, "" where none does."""
    waiting = _list_waiting(request)
    return waiting.address if waiting else ""


def _list_waiting(request: HttpRequest, **narrowed: str) -> KeptForm | None:
    browser = read_browser(request)
    if browser is None or not isinstance(request.user, User):
        return None
    return KeptForm.objects.filter(
        browser=browser, owner__user=request.user, expires_at__gt=timezone.now(), **narrowed
    ).first()


def read_browser(request: HttpRequest) -> uuid.UUID | None:
    try:
        return uuid.UUID(hex=request.COOKIES.get(COOKIE, ""))
    except ValueError:
        return None

"""Middleware of the whole site."""

from collections.abc import Callable

from django.conf import settings
from django.db import DataError
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.shortcuts import render
from django.utils import translation
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext as _

from studies.http import ExplainedBadRequest

NUL = "\0"


class CompressMiddleware(GZipMiddleware):
    """Compresses pages, style sheets and scripts on their way out.

    Downloads and images are left alone: they are compressed already, or streamed in constant
    memory and best left to a proxy. Guessing a secret from the size of a compressed page (BREACH)
    needs one that stays the same: the only ones in pages are Django's CSRF token, which is masked
    anew each time, and forms' tokens, which are used once; Django adds bytes at random as well.
    """

    COMPRESSED = ("text/html", "text/css", "text/javascript", "image/svg+xml")

    def process_response(
        self, request: HttpRequest, response: HttpResponseBase
    ) -> HttpResponseBase:
        kind = response.headers.get("Content-Type", "").partition(";")[0]
        if kind not in self.COMPRESSED or response.has_header("Content-Disposition"):
            return response
        return super().process_response(request, response)


class NoStoreMiddleware:
    """Keeps pages out of caches: the back button must never bring a label form back to life.

    Responses that name their own caching (static files, images) are left alone.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        if not response.has_header("Cache-Control"):
            add_never_cache_headers(response)
        return response


class AccountLanguageMiddleware:
    """Speaks the language chosen for the account, in whichever browser it is logged in."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        language = getattr(request.user, "language", "")
        if language in dict(settings.LANGUAGES):
            translation.activate(language)
            request.LANGUAGE_CODE = language
        return self.get_response(request)


class UnusableTextMiddleware:
    """Refuses the character NUL, which PostgreSQL cannot store or look for, whatever page it is
    sent to: an address that holds it with 400, a form with 422.

    Form fields refuse it themselves, each with a sentence of its own; what is answered here is what
    a page looks up without a form.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *view: object) -> None:
        if NUL in request.path_info or holds_nul(request.GET):
            raise ExplainedBadRequest(
                _("The address holds a character that cannot be used (NUL). Take it out.")
            )

    def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not isinstance(exception, DataError | ValueError) or not holds_nul(request.POST):
            return None
        reason = _("A field of the form holds a character that cannot be used (NUL). Take it out.")
        return render(request, "400.html", {"reason": reason}, status=422)


def holds_nul(data: QueryDict) -> bool:
    return any(NUL in text for name, values in data.lists() for text in (name, *values))

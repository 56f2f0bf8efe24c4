"""Middleware of the whole site."""

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from django.utils import translation
from django.utils.cache import add_never_cache_headers


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

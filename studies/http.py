"""The request as the middleware leaves it."""

from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """`request.htmx` is true where htmx asks for the changing part of a page only."""

    htmx: HtmxDetails

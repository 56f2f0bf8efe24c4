"""The request as the middleware leaves it, and the refusal that says why."""

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django_htmx.middleware import HtmxDetails


class HtmxRequest(HttpRequest):
    """`request.htmx` is true where htmx asks for the changing part of a page only."""

    htmx: HtmxDetails


class ExplainedBadRequest(BadRequest):
    """A request that is refused with a sentence, in its sender's language, that the error page
    shows: what is wrong with it and what to do."""

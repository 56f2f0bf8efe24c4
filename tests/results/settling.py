"""Contested pairs, and settling them through the pages."""

from typing import Any

from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from studies.models import Round
from tests.cast import Cast
from tests.pages import post_form, read_forms
from tests.results.exported import judge_all

ADJUDICATE = "/studies/alpha/adjudicate/"
HTMX = {"HX-Request": "true"}
DECISION = {
    "grade": "1",
    "decided_by": "recency",
    "cause": "rubric_ambiguity",
    "citation": "different_dimensions",
    "reason": "It is the older price list.",
}


def contest(cast: Cast, *, pairs: int = 3, ben: int = 2) -> None:
    """Two annotators tie on the first pairs, agree on the rest, and the round is closed."""
    count = len(cast.pairs)
    judge_all(
        cast, ana=[0] * pairs + [1] * (count - pairs), ben=[ben] * pairs + [1] * (count - pairs)
    )
    Round.objects.update(closed_at=timezone.now())


def settle(client: Client, response: HttpResponse, **changes: Any) -> HttpResponse:
    """Send the settling form of a page with a decision filled in."""
    form = read_forms(response)["judgment-form"]
    fields = DECISION | changes
    return post_form(client, form, ADJUDICATE, **fields)

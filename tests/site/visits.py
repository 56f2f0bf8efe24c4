"""Every address of the permission matrix, as a browser asks for it: what sweeps look through."""

from collections.abc import Iterator

from django.http import HttpResponse
from django.test import Client

from annotation.models import Judgment
from studies.models import Member
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.site.test_permissions import MATRIX

HTMX = {"HX-Request": "true"}
LEAVING = {"/logout/", "/me/password/"}
"""Forms that end the session which visits."""


def visit_matrix(cast: Cast, person: Member) -> Iterator[HttpResponse]:
    """What the person gets of each address, let in or not: the page, its forms sent as they
    stand, and nothing sent, as a page and as a fragment."""
    client = log_in(person)
    for path, _method, _allowed in MATRIX.values():
        yield from visit_address(client, fill(path, cast, person))


def fill(path: str, cast: Cast, person: Member) -> str:
    """The path with ids that exist; the label is the person's own, given anew where it is gone."""
    own = Judgment.objects.filter(annotator=person).first()
    label = own or make.make_judgment(cast.main, cast.pairs[-1], person, 1)
    return path.format(
        label=label.public_id,
        pair=cast.pairs[0].public_id,
        job=make.make_job(cast.study).public_id,
        draft=make.make_draft(cast.study).public_id,
    )


def visit_address(client: Client, url: str) -> Iterator[HttpResponse]:
    page = client.get(url)
    yield page
    forms = read_forms(page) if page.status_code == 200 and not page.streaming else {}
    for form in forms.values():
        if form.method == "post" and form.action not in LEAVING:
            yield post_form(client, form, url)
    yield client.post(url, {})
    yield client.post(url, {}, headers=HTMX)


def list_unanswered(responses: list[HttpResponse], name: str) -> list[str]:
    """Pages of the matrix that the person may open and that answered none of these requests."""
    answered = {
        response.request["PATH_INFO"] for response in responses if response.status_code == 200
    }
    return [
        path
        for path, method, allowed in MATRIX.values()
        if name in allowed
        and method == "get"
        and "{" not in path
        and path.partition("?")[0] not in answered
    ]

"""Whatever a browser can put into an address or a form, no page breaks over it."""

from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client

from studies.models import Action
from tests import factories as make
from tests.cast import Cast
from tests.pages import Form, log_in, read_forms
from tests.results.settling import contest
from tests.site.addresses import ask, fill_in, find_parameters, watch_parameters
from tests.site.test_permissions import MATRIX

GETS = sorted(
    path for path, method, allowed in MATRIX.values() if method == "get" and "uma" in allowed
)
PAGES = [path for path in GETS if "{label}" not in path]
LONG = 10_000
STRANGE = ["%FF", "%ED%A0%80", "x" * LONG, "9" * LONG, "-1", "1e9", "٣", "99999999999999999999"]
# The same in three values, for each parameter alone: a page that refuses one may not read the next.
STRANGEST = ["%FF%ED%A0%80" + "x" * LONG, "-99999999999999999999", "9" * LONG]


@pytest.fixture
def parameters(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    return watch_parameters(monkeypatch)


@pytest.mark.parametrize("path", PAGES)
def test_no_address_breaks_over_what_its_parameters_hold(
    cast: Cast, path: str, parameters: set[str]
) -> None:
    contest(cast)
    client = log_in(cast.uma)
    url = fill_in(cast, path)
    bare = url.partition("?")[0]
    names = find_parameters(client, url, parameters)
    for value in STRANGE if names else []:
        query = "&".join(f"{name}={value}" for name in names)
        assert ask(client, f"{bare}?{query}").status_code < 500
    for name in names:
        for value in [*STRANGEST, f"1&{name}=2&{name}="]:
            assert ask(client, f"{bare}?{name}={value}").status_code < 500


def test_nul_in_an_address_is_answered_with_a_sentence(cast: Cast) -> None:
    client = log_in(cast.max)
    for path in PAGES:
        bare = fill_in(cast, path).partition("?")[0]
        for query in ("q=%00", "q=a&q=b%00c", "%00=1"):
            response = client.get(f"{bare}?{query}")
            assert response.status_code == 400
            assert "cannot be used (NUL)" in response.content.decode()


@pytest.mark.django_db
@pytest.mark.parametrize("url", ["/login/?next=%00", "/join/%00/", "/login/?%00", "/healthz?a=%00"])
def test_nul_in_an_address_is_refused_from_strangers_too(url: str) -> None:
    assert Client().get(url).status_code == 400


def list_posted(client: Client, url: str) -> Iterator[tuple[str, Form]]:
    response = ask(client, url)
    if response.streaming or "text/html" not in response["Content-Type"]:
        return
    for form in read_forms(response).values():
        if form.method == "post":
            yield form.action or url, form


@pytest.mark.parametrize("path", PAGES)
def test_no_form_breaks_over_nul_in_a_field(cast: Cast, path: str) -> None:
    contest(cast)
    make.make_rubric_draft(cast.study)
    client = log_in(cast.uma)
    for url, form in list(list_posted(client, fill_in(cast, path))):
        for name in [*form.fields, *form.choices, *form.buttons]:
            with transaction.atomic():
                response = client.post(url, form.fields | {name: "a\0b"})
                assert response.status_code < 500, (url, name)
                transaction.set_rollback(True)


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("people/invite/", {"roles": "annotator", "name": "a\0b"}),
        ("people/roles/", {"member": "a\0b"}),
        ("classes/new/", {"name": "a\0b"}),
        ("classes/assign/", {"query": "a\0b", "query_class": "a\0b"}),
        ("progress/requeue/", {"round": "a\0b"}),
        ("plan/?round=main", {"shared": "a\0b"}),
        ("settings/", {"title": "a\0b"}),
        ("rubric/upload/", {"file": "a\0b"}),
    ],
)
def test_a_form_with_nul_is_refused_as_one_that_is_filled_in_wrongly(
    cast: Cast, path: str, fields: dict[str, str]
) -> None:
    response = log_in(cast.max).post(f"/studies/alpha/{path}", fields)
    assert response.status_code == 422


@pytest.mark.parametrize("path", ["judge/", "labels/{label}/"])
def test_no_label_is_refused_for_its_time_away(cast: Cast, path: str) -> None:
    label = make.make_judgment(cast.main, cast.pairs[0], cast.ana, 2, decided_by="recency")
    client, url = log_in(cast.ana), f"/studies/alpha/{path.format(label=label.public_id)}"
    for grade, away in enumerate(["a\0b", "\0", "-5", "9" * 5000]):
        form = next(form for form in read_forms(client.get(url)).values() if "key" in form.fields)
        typed = {"grade": str(grade % 2), "decided_by": "recency", "away": away}
        before = Action.objects.filter(name__startswith="judgment.").count()
        assert client.post(url, form.fields | typed).status_code == 302, away
        assert Action.objects.filter(name__startswith="judgment.").count() == before + 1


def test_a_label_with_nul_in_its_note_is_refused_and_stays_in_the_form(cast: Cast) -> None:
    client, url = log_in(cast.ana), "/studies/alpha/judge/"
    form = read_forms(client.get(url))["judgment-form"]
    typed = {"grade": "1", "decided_by": "recency", "note": "a\0b"}
    response = client.post(url, form.fields | typed)
    assert response.status_code == 422
    assert read_forms(response)["judgment-form"].fields["grade"] == "1"

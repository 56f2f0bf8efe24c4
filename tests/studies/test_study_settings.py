"""Creating a study on a page, and changing its settings."""

from django.test import Client

from studies.models import Action, Member, Study
from tests.cast import Cast
from tests.pages import log_in, read_forms

NEW = "/studies/new/"
SETTINGS = "/studies/alpha/settings/"


def fill_in(client: Client, url: str, **changes: str) -> dict[str, str]:
    """The page's form as a browser would send it, with some fields filled in."""
    form = next(one for one in read_forms(client.get(url)).values() if "title" in one.fields)
    return form.fields | {"ordering": "by_query", "consensus": "plurality"} | changes


def test_superuser_creates_a_study_and_is_its_admin(cast: Cast) -> None:
    client = log_in(cast.sue)
    data = fill_in(client, NEW, title="Gamma", slug="gamma", annotators_per_query="3")
    response = client.post(NEW, data)
    assert response.url == "/studies/gamma/"
    assert client.get("/studies/gamma/settings/").status_code == 200
    study = Study.objects.get(slug="gamma")
    assert study.annotators_per_query == 3
    assert Member.objects.get(study=study).roles == ["admin"]
    assert Action.objects.get(study=study, name="study.created").user == cast.sue


def test_study_with_a_taken_or_reserved_name_is_refused(cast: Cast) -> None:
    client = log_in(cast.sue)
    for slug in ("alpha", "new", "NEW", "", "a b"):
        response = client.post(NEW, fill_in(client, NEW, title="Gamma", slug=slug))
        assert response.status_code == 422
    assert Study.objects.count() == 2


def test_nobody_else_creates_studies(cast: Cast) -> None:
    assert log_in(cast.uma).post(NEW, {"title": "x", "slug": "x"}).status_code == 404
    assert not Study.objects.filter(slug="x").exists()


def test_new_study_page_has_one_heading(cast: Cast) -> None:
    page = log_in(cast.sue).get(NEW).content.decode()
    assert page.count("<h1") == 1


def test_admin_changes_settings_and_the_log_keeps_what_was(cast: Cast) -> None:
    client = log_in(cast.max)
    response = client.post(SETTINGS, fill_in(client, SETTINGS, title="Omega", claim_minutes="30"))
    assert response.status_code == 302
    cast.study.refresh_from_db()
    assert (cast.study.title, cast.study.claim_minutes) == ("Omega", 30)
    data = Action.objects.get(name="study.changed").data
    assert data["claim_minutes"] == {"before": 240, "now": 30}
    assert "description" not in data


def test_invalid_settings_change_nothing(cast: Cast) -> None:
    client = log_in(cast.max)
    data = fill_in(client, SETTINGS, title="Omega", annotators_per_query="0")
    response = client.post(SETTINGS, data)
    assert response.status_code == 422
    cast.study.refresh_from_db()
    assert cast.study.title == "Alpha help centre"
    assert not Action.objects.filter(name="study.changed").exists()

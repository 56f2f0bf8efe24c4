"""One's own past labels, and revising them."""

from django.utils import timezone

from annotation.models import Judgment
from studies.models import Action
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

URL = "/studies/alpha/labels/"


def label(cast: Cast, **fields: object) -> Judgment:
    return make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, **fields)


def test_list_shows_own_labels_only(cast: Cast) -> None:
    label(cast, note="my own reason")
    make.make_judgment(cast.main, cast.pairs[1], cast.ben, 2, note="a stranger's reason")
    page = log_in(cast.ana).get(URL).content.decode()
    assert "my own reason" in page
    assert "a stranger&#x27;s reason" not in page
    assert "reason" not in log_in(cast.uma).get(URL).content.decode()


def test_revision_changes_the_label_and_logs_before_and_after(cast: Cast) -> None:
    judgment = label(cast)
    client = log_in(cast.ana)
    url = f"{URL}{judgment.public_id}/"
    form = read_forms(client.get(url))["judgment-form"]
    assert form.fields["grade"] == "1"
    response = post_form(client, form, url, grade="2", decided_by="recency")
    assert response.status_code == 302
    judgment.refresh_from_db()
    assert (judgment.grade, judgment.decided_by.name) == (2, "recency")
    data = Action.objects.get(name="judgment.revised").data
    assert (data["before"]["grade"], data["grade"]) == (1, 2)


def test_two_labels_of_one_pair_are_told_apart_by_round_rubric_and_change(cast: Cast) -> None:
    label(cast)
    second = make.make_rubric(cast.study)
    later = make.make_round(cast.study, "recheck-1", rubric_version=second)
    make.make_judgment(later, cast.pairs[0], cast.ana, 1, revised_at=timezone.now())
    page = log_in(cast.ana).get(URL).content.decode()
    rows = [" ".join(row.split()) for row in page.split("<tbody>")[1].split("<tr>")[1:]]
    assert [name in row for name, row in zip(("recheck-1", "main"), rows, strict=True)] == [
        True
    ] * 2
    assert ["rubric 2" in row for row in rows] == [True, False]
    assert ["changed <time" in row for row in rows] == [True, False]


def test_an_imported_label_is_not_said_to_be_of_a_closed_round(cast: Cast) -> None:
    label(cast, source=Judgment.Source.IMPORT)
    page = log_in(cast.ana).get(URL).content.decode()
    assert ">imported<" in page
    assert ">closed<" not in page


def test_revision_in_a_second_tab_is_told(cast: Cast) -> None:
    judgment = label(cast)
    client = log_in(cast.ana)
    url = f"{URL}{judgment.public_id}/"
    tabs = [read_forms(client.get(url))["judgment-form"] for _ in range(2)]
    post_form(client, tabs[0], url, grade="2")
    assert post_form(client, tabs[1], url, grade="0").status_code == 409
    judgment.refresh_from_db()
    assert judgment.grade == 2


def test_closed_round_refuses_revision(cast: Cast) -> None:
    judgment = label(cast)
    client = log_in(cast.ana)
    url = f"{URL}{judgment.public_id}/"
    form = read_forms(client.get(url))["judgment-form"]
    cast.main.closed_at = timezone.now()
    cast.main.save()
    assert post_form(client, form, url, grade="2").status_code == 409
    judgment.refresh_from_db()
    assert judgment.grade == 1


def test_label_of_somebody_else_is_not_found(cast: Cast) -> None:
    judgment = label(cast)
    assert log_in(cast.ben).get(f"{URL}{judgment.public_id}/").status_code == 404


def test_incomplete_revision_is_refused(cast: Cast) -> None:
    judgment = label(cast)
    client = log_in(cast.ana)
    url = f"{URL}{judgment.public_id}/"
    form = read_forms(client.get(url))["judgment-form"]
    assert post_form(client, form, url, decided_by="").status_code == 422


def test_form_of_another_label_or_of_judging_changes_nothing(cast: Cast) -> None:
    """A slip belongs to one label: neither a judging form nor another label's is taken."""
    judgment = label(cast)
    other = make.make_judgment(cast.main, cast.pairs[1], cast.ana, 1)
    client = log_in(cast.ana)
    url = f"{URL}{judgment.public_id}/"
    for source in ("/studies/alpha/judge/", f"{URL}{other.public_id}/"):
        form = read_forms(client.get(source))["judgment-form"]
        data = form.fields | {"grade": "2", "decided_by": "recency"}
        assert client.post(url, data).status_code == 409
    judgment.refresh_from_db()
    other.refresh_from_db()
    assert (judgment.grade, other.grade) == (1, 1)

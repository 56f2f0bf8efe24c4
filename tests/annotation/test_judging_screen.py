"""The judging screen, as a browser without and with HTMX sees it."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Claim, Judgment
from studies.models import Action, DocumentText, Pair
from tests import factories as make
from tests.cast import Cast
from tests.pages import Form, log_in, post_form, read_forms

URL = "/studies/alpha/judge/"
HTMX = {"HX-Request": "true"}
CHOICE = {"grade": "2", "decided_by": "recency"}


def open_form(client: Client) -> Form:
    response = client.get(URL)
    assert response.status_code == 200
    return read_forms(response)["judgment-form"]


def test_form_has_the_fields_of_the_contract(cast: Cast) -> None:
    form = open_form(log_in(cast.ana))
    assert form.method == "post"
    assert form.choices["grade"] == ["0", "1", "2"] or form.choices["grade"] == ["2", "1", "0"]
    assert form.choices["decided_by"] == ["answerability", "recency", "authority"]
    assert "procedural" in form.choices["clause"]
    assert form.buttons["unsure"] == "1"
    assert form.fields["note"] == ""
    assert form.fields["token"]
    assert form.fields["key"]


def test_nothing_is_chosen_beforehand(cast: Cast) -> None:
    form = open_form(log_in(cast.ana))
    assert "grade" not in form.fields
    assert "decided_by" not in form.fields


def test_label_is_recorded_and_the_next_pair_comes(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    response = post_form(client, form, URL, **CHOICE, note="because")
    assert response.status_code == 302
    assert response.url == URL
    judgment = Judgment.objects.get()
    assert (judgment.grade, judgment.decided_by.name, judgment.note) == (2, "recency", "because")
    assert judgment.rubric_version == cast.rubric
    assert open_form(client).fields["token"] != form.fields["token"]


def test_htmx_gets_the_next_pair_in_the_same_request(cast: Cast) -> None:
    client = log_in(cast.ana)
    response = post_form(client, open_form(client), URL, **CHOICE, headers=HTMX)
    assert response.status_code == 200
    assert "<html" not in response.content.decode()
    assert "judgment-form" in read_forms(response)
    assert "HX-Request" in response["Vary"]
    assert Judgment.objects.count() == 1


def test_missing_dimension_is_refused_and_what_was_typed_is_kept(cast: Cast) -> None:
    client = log_in(cast.ana)
    response = post_form(client, open_form(client), URL, grade="1", note="a thought")
    assert response.status_code == 422
    form = read_forms(response)["judgment-form"]
    assert form.fields["grade"] == "1"
    assert form.fields["note"] == "a thought"
    assert not Judgment.objects.exists()


def test_grade_off_the_scale_and_unknown_dimension_are_refused(cast: Cast) -> None:
    client = log_in(cast.ana)
    for wrong in (
        {"grade": "7", "decided_by": "recency"},
        {"grade": "1", "decided_by": "beauty"},
        {"grade": "1", "decided_by": "recency", "clause": "procedural"},
    ):
        response = post_form(client, open_form(client), URL, **wrong)
        assert response.status_code == 422
    assert not Judgment.objects.exists()


def test_unsure_needs_the_dimension_too(cast: Cast) -> None:
    client = log_in(cast.ana)
    assert post_form(client, open_form(client), URL, unsure="1").status_code == 422
    response = post_form(
        client, open_form(client), URL, unsure="1", grade="2", decided_by="authority"
    )
    assert response.status_code == 302
    judgment = Judgment.objects.get()
    assert judgment.is_unsure
    assert judgment.grade is None
    # A grade that stood chosen is not dropped in silence.
    assert "Recorded: unsure · authority, without the grade 2" in client.get(URL).content.decode()


def test_clause_is_recorded_as_the_reading(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    post_form(client, form, URL, grade="1", decided_by="answerability", clause="procedural")
    assert Judgment.objects.get().clause.name == "procedural"


def test_double_click_makes_one_judgment_and_leads_on(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    responses = [post_form(client, form, URL, **CHOICE) for _ in range(2)]
    assert [response.status_code for response in responses] == [302, 302]
    assert Judgment.objects.count() == 1


def test_back_button_with_another_label_gets_409_and_changes_nothing(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    post_form(client, form, URL, **CHOICE)
    response = post_form(client, form, URL, grade="0", decided_by="recency")
    assert response.status_code == 409
    assert "already labelled" in response.content.decode()
    assert Judgment.objects.get().grade == 2


def test_old_form_after_an_undo_gets_409(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    post_form(client, form, URL, **CHOICE)
    client.post(URL + "undo/", {"judgment": Judgment.objects.get().public_id})
    assert post_form(client, form, URL, **CHOICE).status_code == 409
    assert not Judgment.objects.exists()


def test_form_of_another_annotator_is_refused(cast: Cast) -> None:
    form = open_form(log_in(cast.ana))
    response = post_form(log_in(cast.ben), form, URL, **CHOICE)
    assert response.status_code == 409
    assert not Judgment.objects.exists()


def test_changed_token_is_refused(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    response = post_form(client, form, URL, **CHOICE, token=form.fields["token"] + "x")
    assert response.status_code == 409
    assert not Judgment.objects.exists()


def test_closed_round_keeps_nothing_and_says_so(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    cast.main.closed_at = timezone.now()
    cast.main.save()
    response = post_form(client, form, URL, **CHOICE, note="long thought about")
    assert response.status_code == 409
    assert "closed" in response.content.decode()
    assert "long thought about" in response.content.decode()
    assert not Judgment.objects.exists()


def test_coming_back_too_late_gets_409_and_keeps_the_label(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    client = log_in(cast.ana)
    form = open_form(client)
    Claim.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    other = log_in(cast.ben)
    for _ in range(9):
        post_form(other, open_form(other), URL, **CHOICE)
    response = post_form(client, form, URL, **CHOICE)
    assert response.status_code == 409
    assert Judgment.objects.get(annotator=cast.ana).is_surplus


def test_expired_session_keeps_the_label_until_the_next_login(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    client.logout()
    response = post_form(client, form, URL, **CHOICE)
    assert response.status_code == 302
    assert response.url.startswith("/login/")
    assert not Judgment.objects.exists()
    response = client.post(response.url, {"username": "ana", "password": make.PASSWORD})
    assert response.url == URL
    assert client.get(URL).status_code == 302
    assert Judgment.objects.get().annotator == cast.ana


def test_expired_session_under_htmx_goes_to_the_login_page(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    client.logout()
    response = post_form(client, form, URL, **CHOICE, headers=HTMX)
    assert response["HX-Redirect"].startswith("/login/")


def test_waiting_label_is_never_recorded_for_another_person(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    client.logout()
    post_form(client, form, URL, **CHOICE)
    client.post("/login/", {"username": "ben", "password": make.PASSWORD})
    assert client.get(URL).status_code == 200
    assert not Judgment.objects.exists()


def test_undo_takes_back_the_latest_label_once(cast: Cast) -> None:
    client = log_in(cast.ana)
    post_form(client, open_form(client), URL, **CHOICE)
    first = Judgment.objects.get()
    post_form(client, open_form(client), URL, **CHOICE)
    latest = Judgment.objects.exclude(pk=first.pk).get()
    for status in (302, 409):
        response = client.post(URL + "undo/", {"judgment": latest.public_id})
        assert response.status_code == status
    assert Judgment.objects.get() == first
    assert Action.objects.filter(name="judgment.undone").count() == 1
    assert str(latest.pair.public_id) not in open_form(client).fields["note"]


@pytest.mark.parametrize("headers", [{}, {"HX-Request": "true"}])
def test_undone_pair_comes_next_with_its_note_and_no_other_does(
    cast: Cast, headers: dict[str, str]
) -> None:
    client = log_in(cast.ana)
    post_form(client, open_form(client), URL, **CHOICE, note="says so twice")
    undone = Judgment.objects.get()
    response = client.post(URL + "undo/", {"judgment": undone.public_id}, headers=headers)
    form = read_forms(response)["judgment-form"] if headers else open_form(client)
    assert form.fields["note"] == "says so twice"
    assert open_form(client).fields["note"] == "says so twice"  # also when it is loaded again
    assert "grade" not in form.fields
    post_form(client, form, URL, grade="0", decided_by="authority")
    assert (Judgment.objects.get().pair, Judgment.objects.get().note) == (
        undone.pair,
        form.fields["note"],
    )
    assert open_form(client).fields["note"] == ""


def test_undo_of_somebody_elses_label_changes_nothing(cast: Cast) -> None:
    client = log_in(cast.ana)
    post_form(client, open_form(client), URL, **CHOICE)
    response = log_in(cast.ben).post(URL + "undo/", {"judgment": Judgment.objects.get().public_id})
    assert response.status_code == 409
    assert Judgment.objects.count() == 1


def test_all_done_is_said_truthfully(cast: Cast) -> None:
    client = log_in(cast.ana)
    for _ in cast.pairs:
        post_form(client, open_form(client), URL, **CHOICE)
    response = client.get(URL)
    assert response.context["nothing"].reason == "all_done"
    assert response.context["nothing"].labelled == len(cast.pairs)


def test_queue_held_by_others_says_until_when(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    Pair.objects.exclude(query=cast.pairs[0].query).delete()
    open_form(log_in(cast.ana))
    nothing = log_in(cast.ben).get(URL).context["nothing"]
    assert nothing.reason == "held_by_others"
    held_until = Claim.objects.get(annotator=cast.ana).expires_at
    assert nothing.frees_at.minute == nothing.frees_at.second == 0
    assert timedelta() < nothing.frees_at - held_until <= timedelta(hours=1)


def test_missing_text_is_said_and_can_be_reported(cast: Cast) -> None:
    DocumentText.objects.all().delete()
    client = log_in(cast.ana)
    response = client.get(URL)
    assert response.context["judge"].item.is_missing
    form = read_forms(response)["judgment-form"]
    report = {"token": form.fields["token"], "kind": "missing", "note": "empty"}
    for _ in range(2):
        assert client.post(URL + "report/", report).status_code == 302
    assert Action.objects.filter(name="document.reported").count() == 1


def test_query_count_of_a_judgment_does_not_grow(cast: Cast) -> None:
    client = log_in(cast.ana)
    form = open_form(client)
    with CaptureQueriesContext(connection) as few:
        post_form(client, form, URL, **CHOICE, headers=HTMX)
    for _ in range(20):
        query = make.make_query(cast.study)
        for _ in range(3):
            make.make_pair(query)
    form = open_form(client)
    with CaptureQueriesContext(connection) as many:
        post_form(client, form, URL, **CHOICE, headers=HTMX)
    assert len(many) == len(few)


def test_progress_stays_the_same_when_a_form_is_refused(cast: Cast) -> None:
    """What was imported under somebody's name is no pair that they have done here."""
    client = log_in(cast.ana)
    query = make.make_query(cast.study, "imported", rounds=[])
    elsewhere = make.make_pair(query, make.make_document(cast.study, "elsewhere"))
    make.make_judgment(cast.main, elsewhere, cast.ana, 1, source="import")
    response = client.get(URL)
    shown = response.context["judge"].progress
    form = read_forms(response)["judgment-form"]
    refused = post_form(client, form, URL).context["judge"].progress
    assert (shown.done, shown.left) == (refused.done, refused.left) == (0, 9)


def test_when_every_round_is_closed_the_screen_says_that_labels_stand(cast: Cast) -> None:
    cast.study.rounds.update(closed_at=timezone.now())
    page = log_in(cast.ana).get("/studies/alpha/judge/")
    assert page.context["nothing"].reason == "closed"
    assert "This round is closed" in page.content.decode()
    cast.study.rounds.update(closed_at=None, opens_at=timezone.now() + timedelta(days=1))
    assert log_in(cast.ana).get("/studies/alpha/judge/").context["nothing"].reason == "no_round"


def test_what_is_kept_of_the_form_is_told_apart_by_class_language_and_what_was_typed(
    cast: Cast,
) -> None:
    client, marked = log_in(cast.ana), set()
    for _ in range(9):
        page = client.get(URL).content.decode()
        is_procedural = "How do I …" in page
        assert ("for this kind of query" in page) == is_procedural
        translated = client.get(URL, headers={"Accept-Language": "id"}).content.decode()
        assert ("untuk kueri jenis ini" in translated) == is_procedural
        assert "for this kind of query" not in translated
        assert ("Take the last label back" in page) == bool(marked)
        refused = post_form(client, read_forms(client.get(URL))["judgment-form"], URL, note="mine")
        assert read_forms(refused)["judgment-form"].fields["note"] == "mine"
        post_form(client, open_form(client), URL, **CHOICE)
        marked.add(is_procedural)
    assert marked == {True, False}

"""The adjudicators' page: form contract, answers, lease, late answers, access."""

import uuid
from datetime import timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import FinalLabel, Lease
from studies.models import Action, DocumentText, Member, Role
from tests import factories as make
from tests.cast import Cast, make_cast
from tests.pages import log_in, post_form, read_forms
from tests.results.exported import UNSURE, judge, judge_all
from tests.results.settling import ADJUDICATE, HTMX, contest, settle

TAB = "/studies/alpha/results/final-labels/"


def test_a_decision_is_recorded_and_leads_to_the_next_pair(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.ada)
    page = client.get(ADJUDICATE)
    first = page.context["case"].pair_id
    response = settle(client, page)
    assert (response.status_code, response.url) == (302, ADJUDICATE)
    final = FinalLabel.objects.get()
    assert str(final.pair.public_id) == first
    assert (final.grade, final.decided_by.name, final.by) == (1, "recency", cast.ada)
    assert (final.cause, final.citation) == ("rubric_ambiguity", "different_dimensions")
    following = client.get(ADJUDICATE)
    assert following.context["case"].pair_id != first
    assert b"Recorded: 1" in following.content
    assert Action.objects.get(name="final_label.set").active_seconds is not None


def test_with_htmx_one_request_brings_the_next_pair(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.ada)
    page = client.get(ADJUDICATE)
    form = read_forms(page)["judgment-form"]
    response = settle(client, page, headers=HTMX)
    assert response.status_code == 200
    assert b"<html" not in response.content
    assert read_forms(response)["judgment-form"].fields["token"] != form.fields["token"]


def test_the_last_decision_leads_to_a_page_that_says_so(cast: Cast) -> None:
    contest(cast, pairs=1)
    client = log_in(cast.ada)
    response = settle(client, client.get(ADJUDICATE), headers=HTMX)
    assert b"Nothing is left to settle" in response.content
    assert client.get(ADJUDICATE).context["nothing"].settled == 1


def test_dropping_needs_no_dimension_and_wins_over_a_grade(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.ada)
    settle(client, client.get(ADJUDICATE), drop="1", decided_by="", grade="2")
    final = FinalLabel.objects.get()
    assert (final.is_dropped, final.grade, final.decided_by) == (True, None, None)
    # A grade that stood chosen is not dropped in silence.
    assert "Recorded: dropped, without the grade 2" in client.get(ADJUDICATE).content.decode()


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"grade": ""}, "Choose a grade"),
        ({"grade": "9"}, "not on the rubric"),
        ({"decided_by": ""}, "Choose the dimension"),
        ({"decided_by": "charm"}, "no such dimension"),
        ({"clause": "procedural"}, "does not belong to the chosen dimension"),
        ({"cause": ""}, "Say why the labels split"),
        ({"cause": "bad luck"}, "Say why the labels split"),
        ({"citation": ""}, "whether the labels cite the same reading"),
        ({"reason": "  "}, "Write the reason"),
    ],
)
@pytest.mark.parametrize("headers", [None, HTMX])
def test_half_a_decision_is_refused_and_stays_in_the_form(
    cast: Cast, changes: dict, sentence: str, headers: dict | None
) -> None:
    contest(cast)
    client = log_in(cast.ada)
    response = settle(client, client.get(ADJUDICATE), **changes, headers=headers)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert response.context["case"].left == 3
    form = read_forms(response)["judgment-form"]
    assert form.fields["reason"] == changes.get("reason", "It is the older price list.").strip("\n")
    assert not FinalLabel.objects.exists()


def test_what_a_decision_needs_is_said_before_it_is_refused(cast: Cast) -> None:
    contest(cast)
    page = log_in(cast.ada).get(ADJUDICATE).content.decode()
    form = page.split('id="judgment-form"')[1].split("</form>")[0]
    assert form.count('aria-required="true"') == 4
    assert form.count('<small class="hint">required</small>') == 2
    assert 'placeholder="required"' in form


def test_a_form_made_for_somebody_else_is_refused(cast: Cast) -> None:
    contest(cast)
    eve = make.make_member(cast.study, "eve", Role.ADJUDICATOR)
    page = log_in(cast.ada).get(ADJUDICATE)
    response = settle(log_in(eve), page)
    assert response.status_code == 409
    assert settle(log_in(cast.ada), page, token="forged").status_code == 409
    assert not FinalLabel.objects.exists()


def test_a_late_answer_is_told_what_was_decided_and_keeps_its_reason(cast: Cast) -> None:
    contest(cast, pairs=1)
    eve = make.make_member(cast.study, "eve", Role.ADJUDICATOR)
    late, early = log_in(cast.ada), log_in(eve)
    page = late.get(ADJUDICATE)
    Lease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    settle(early, early.get(ADJUDICATE), grade="2", reason="Both steps are there.")
    for headers in (None, HTMX):
        response = settle(late, page, reason="I had a long thought.", headers=headers)
        told = response.content.decode()
        assert response.status_code == 409
        assert "settled before your answer arrived" in told
        assert "Both steps are there." in told
        assert "I had a long thought." in told
        assert "eve" in told
    assert FinalLabel.objects.get().grade == 2


def test_the_same_form_sent_twice_settles_one_pair(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.ada)
    page = client.get(ADJUDICATE)
    assert settle(client, page).status_code == 302
    assert settle(client, page).status_code == 302
    assert FinalLabel.objects.count() == 1


def test_a_lease_keeps_two_adjudicators_apart_and_says_who_has_the_pair(cast: Cast) -> None:
    contest(cast, pairs=2)
    eve = make.make_member(cast.study, "eve", Role.ADJUDICATOR)
    first = log_in(cast.ada).get(ADJUDICATE).context["case"].pair_id
    other = log_in(eve)
    assert other.get(ADJUDICATE).context["case"].pair_id != first
    page = other.get(f"{ADJUDICATE}{first}/")
    assert "Somebody is settling this pair" in page.content.decode()
    assert ">ada</bdi> has it until" in page.content.decode()
    assert "judgment-form" not in read_forms(page)
    Lease.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert "judgment-form" in read_forms(other.get(f"{ADJUDICATE}{first}/"))


def test_loading_the_page_again_shows_the_same_pair(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.ada)
    shown = {client.get(ADJUDICATE).context["case"].pair_id for _ in range(3)}
    assert len(shown) == 1
    assert Lease.objects.count() == 1


def test_a_pair_put_off_comes_again_at_the_end(cast: Cast) -> None:
    contest(cast, pairs=2)
    client = log_in(cast.ada)
    page = client.get(ADJUDICATE)
    first = page.context["case"].pair_id
    form = read_forms(page)["later-form"]
    assert post_form(client, form, ADJUDICATE).status_code == 302
    second = client.get(ADJUDICATE)
    assert second.context["case"].pair_id != first
    settle(client, second)
    assert client.get(ADJUDICATE).context["case"].pair_id == first
    response = post_form(client, form, ADJUDICATE, headers=HTMX)
    assert response.context["case"].pair_id == first


def test_the_filter_narrows_and_stays_for_the_next_pair(cast: Cast) -> None:
    contest(cast, pairs=6)
    client = log_in(cast.ada)
    page = client.get(f"{ADJUDICATE}?class=factual&kind=tie")
    assert page.context["case"].left == 3
    assert page.context["case"].item.query_class == "factual"
    response = settle(client, page)
    assert response.url == f"{ADJUDICATE}?class=factual&kind=tie"
    assert client.get(f"{ADJUDICATE}?class=nonsense").context["case"].left == 5
    empty = client.get(f"{ADJUDICATE}?kind=unsure")
    assert b"Show all pairs" in empty.content


def test_what_one_has_labelled_is_not_theirs_to_settle(cast: Cast) -> None:
    contest(cast, pairs=2)
    judge(cast.main, cast.pairs[:1], cast.uma, [0])
    client = log_in(cast.uma)
    page = client.get(ADJUDICATE)
    assert page.context["case"].pair_id == str(cast.pairs[1].public_id)
    assert client.get(f"{ADJUDICATE}{cast.pairs[0].public_id}/").status_code == 404
    make.make_judgment(cast.main, cast.pairs[1], cast.uma, 0)
    assert settle(client, page).status_code == 404
    cast.study.settle_own_pairs = True
    cast.study.save()
    assert settle(client, page).status_code == 302


def test_who_still_judges_settles_nothing_yet(cast: Cast) -> None:
    judge_all(cast, ana=[0], ben=[2])
    client = log_in(cast.uma)
    page = client.get(ADJUDICATE)
    assert "You are still judging" in page.content.decode()
    assert cast.pairs[0].query.text not in page.content.decode()
    assert not cast.uma.unblindings.exists()
    # Once nobody has a place left, the page opens, and a place that becomes free is not blind.
    for round_query in cast.main.round_queries.all():
        for slot, annotator in enumerate((cast.ana, cast.ben), start=1):
            make.make_claim(round_query, annotator, slot=slot, state="finished")
    assert cast.pairs[0].query.text in client.get(ADJUDICATE).content.decode()
    assert cast.uma.unblindings.get().round == cast.main


def test_agreed_pairs_and_pairs_of_others_studies_have_no_page(cast: Cast) -> None:
    contest(cast, pairs=1)
    client = log_in(cast.ada)
    assert client.get(f"{ADJUDICATE}{cast.pairs[5].public_id}/").status_code == 404
    assert client.get(f"{ADJUDICATE}{uuid.uuid4()}/").status_code == 404
    assert client.get(f"{ADJUDICATE}{cast.pairs[0].public_id}/").status_code == 200


@pytest.mark.parametrize("who", ["ana", "max", "lia", "sid"])
def test_without_the_role_there_is_no_such_page(cast: Cast, who: str) -> None:
    contest(cast)
    page = log_in(cast.ada).get(ADJUDICATE)
    client = log_in(getattr(cast, who))
    assert client.get(ADJUDICATE).status_code == 404
    assert settle(client, page).status_code == 404
    assert client.get(f"{ADJUDICATE}{cast.pairs[0].public_id}/").status_code == 404


def test_each_label_tells_what_decided_it_and_under_which_rubric(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 0, clause="procedural", note="No steps.")
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, None, decided_by="recency")
    contest_labels = log_in(cast.ada)
    make.make_rubric(cast.study, grades={0: "no", 1: "yes"})
    cast.main.closed_at = timezone.now()
    cast.main.save()
    cast.study.minimum_votes = 2
    cast.study.save()
    case = contest_labels.get(ADJUDICATE).context["case"]
    assert case.rubric.number == 2
    labels = {label.decided_by: label for label in case.labels}
    graded, unsure = labels["answerability"], labels["recency"]
    assert (graded.grade, graded.grade_name, graded.clause) == ("0", "irrelevant", "procedural")
    assert (graded.note, graded.rubric_number) == ("No steps.", 1)
    assert unsure.is_unsure


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ({"decided_by": "recency"}, {"decided_by": "authority"}, "different_dimensions"),
        ({"clause": "procedural"}, {}, "different_readings"),
        ({}, {}, "same_reading"),
        ({"decided_by": None, "source": "import"}, {}, ""),
    ],
)
def test_what_the_labels_cite_is_filled_in(
    cast: Cast, first: dict, second: dict, told: str
) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 0, **first)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 2, **second)
    cast.main.closed_at = timezone.now()
    cast.main.save()
    page = log_in(cast.ada).get(ADJUDICATE)
    assert read_forms(page)["judgment-form"].fields.get("citation", "") == told
    assert "cause" not in read_forms(page)["judgment-form"].fields


def test_keys_of_causes_and_dimensions_never_meet(cast: Cast) -> None:
    contest(cast)
    case = log_in(cast.ada).get(ADJUDICATE).context["case"]
    keys = [one.key for one in [*case.causes, *case.citations, *case.rubric.dimensions]]
    keys += [case.drop_key, case.later_key, case.rule_key]
    assert len(set(keys)) == len(keys) == 15
    assert not set(keys) & set("NRUZ")


def test_queries_do_not_grow_with_labels_or_pairs(cast: Cast) -> None:
    contest(cast, pairs=2)
    client = log_in(cast.ada)

    def count() -> int:
        client.get(ADJUDICATE)
        with CaptureQueriesContext(
            connection,
        ) as queries:
            client.get(ADJUDICATE)
        return len(queries)

    before = count()
    for name in ("one", "two", "three"):
        member = make.make_member(cast.study, name, with_account=False)
        judge(cast.main, cast.pairs[:6], member, [0, 0, 0, 2, 2, UNSURE])
    assert count() == before


def test_a_study_without_a_published_rubric_says_so(db: None) -> None:
    study = make.make_study("bare")
    version = make.make_rubric(study, publish=False)
    main = make.make_round(study, rubric_version=version, closed_at=timezone.now())
    pair = make.make_pair(make.make_query(study))
    for grade in (0, 2):
        make.make_judgment(main, pair, make.make_member(study, with_account=False), grade)
    ada = make.make_member(study, "ada", Role.ADJUDICATOR)
    page = log_in(ada).get("/studies/bare/adjudicate/")
    assert page.status_code == 200
    assert b"no published rubric" in page.content


def test_the_image_of_a_pair_is_for_adjudicators(cast: Cast, settings, tmp_path) -> None:
    settings.MEDIA_ROOT = tmp_path
    document = make.make_document(cast.study, "map", text=None, format="image")
    body = DocumentText(document=document)
    body.image.save("map.png", ContentFile(b"a picture"))
    pair = make.make_pair(cast.pairs[0].query, document)
    for member, grade in ((cast.ana, 0), (cast.ben, 2)):
        make.make_judgment(cast.main, pair, member, grade)
    cast.main.closed_at = timezone.now()
    cast.main.save()
    client = log_in(cast.ada)
    url = client.get(ADJUDICATE).context["case"].item.image_url
    assert url == f"{ADJUDICATE}images/{pair.public_id}/"
    assert b"".join(client.get(url).streaming_content) == b"a picture"
    assert log_in(cast.ana).get(url).status_code == 404


def test_the_keys_of_unsure_and_back_press_nothing_here(cast: Cast) -> None:
    contest(cast)
    for member, path in ((cast.ada, ADJUDICATE), (cast.max, f"{TAB}{cast.pairs[0].public_id}/")):
        page = log_in(member).get(path).content.decode()
        assert 'data-key="U"' not in page
        assert 'data-key="Z"' not in page
        assert "js/image-zoom.js" in page


def test_the_letters_order_differs_from_pair_to_pair(db: None) -> None:
    """Over many pairs the same person comes first no more often than chance."""
    cast = make_cast(queries=8)
    contest(cast, pairs=24)
    client = log_in(cast.ada)
    firsts = 0
    for pair in cast.pairs:
        case = client.get(f"{ADJUDICATE}{pair.public_id}/").context["case"]
        firsts += case.labels[0].grade == "0"
    assert 4 <= firsts <= 20
    assert Member.objects.filter(leases__isnull=False).distinct().count() == 1

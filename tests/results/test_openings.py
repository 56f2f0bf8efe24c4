"""When a round opens: every kind can wait, offers nothing before, and is put off or opened now."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Judgment
from annotation.services.queue import next_pair
from results.selectors.blindness import find_blinding_rounds, list_blind_rounds
from studies.formats.records import ClauseSpec, RubricFile
from studies.models import Action, Query, Role, Round
from studies.services.rounds import close_round
from studies.services.rubrics import describe_rubric, publish_rubric
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.calibrated import ROUNDS
from tests.results.labelled import label, label_cast

pytestmark = pytest.mark.django_db
ALPHA = "/studies/alpha/"
OPENING = ROUNDS + "opening/"
LATER = "2999-05-01T09:30"
# What an annotator can open without being given a pair.
SEEN = [ALPHA, ALPHA + "judge/", ALPHA + "labels/", ALPHA + "rubric/", "/"]


@pytest.fixture
def admin(cast: Cast) -> Client:
    return log_in(cast.max)


def finish_main(cast: Cast) -> None:
    label_cast(cast)
    close_round(round=cast.main, user=None)


def plan_main(cast: Cast, admin: Client, opens_at: str) -> int:
    make.make_pair(make.make_query(cast.study, "new", rounds=[]))
    form = read_forms(admin.get(ROUNDS))["main-form"]
    return post_form(admin, form, "", annotators="1", opens_at=opens_at).status_code


def plan_calibration(cast: Cast, admin: Client, opens_at: str) -> int:
    make.make_pair(make.make_query(cast.study, "new", rounds=[]))
    form = read_forms(admin.get(ROUNDS + "?queries=1"))["calibrate-form"]
    return post_form(admin, form, "", opens_at=opens_at).status_code


def plan_relabel(cast: Cast, admin: Client, opens_at: str) -> int:
    form = read_forms(admin.get(ROUNDS + "?each=4"))["relabel-form"]
    return post_form(admin, form, "", opens_at=opens_at).status_code


def plan_recheck(cast: Cast, admin: Client, opens_at: str) -> int:
    rubric = describe_rubric(cast.rubric)
    rubric.dimensions[0].clauses.append(ClauseSpec("steps", ["procedural"], "Every step.", 0))
    said = RubricFile(rubric.grades, rubric.dimensions, rubric.edge_cases, "Steps.")
    publish_rubric(study=cast.study, rubric=said)
    form = read_forms(admin.get(ALPHA + "rubric/recheck/"))["recheck-form"]
    return post_form(admin, form, "", opens_at=opens_at).status_code


PLANS = {
    "main-2": plan_main,
    "calibration": plan_calibration,
    "relabel": plan_relabel,
    "recheck-2": plan_recheck,
}


@pytest.mark.parametrize("name", PLANS)
def test_nothing_of_a_round_to_come_reaches_who_judges_until_it_opens(
    cast: Cast, admin: Client, name: str
) -> None:
    finish_main(cast)
    ana = log_in(cast.ana)
    before = [ana.get(path) for path in SEEN]
    assert PLANS[name](cast, admin, LATER) == 302
    round = cast.study.rounds.get(name=name)
    assert (round.opens_at.year, round.is_open) == (2999, False)
    for path, earlier in zip(SEEN, [page.content.decode() for page in before], strict=True):
        page = ana.get(path).content.decode()
        assert len(page) == len(earlier), path
        assert name not in page
    assert next_pair(cast.ana) is None
    assert Action.objects.filter(name__endswith=".opened").get().data["opens_at"][:4] == "2999"

    assert admin.post(OPENING, {"round": name, "now": "1"}).status_code == 302
    round.refresh_from_db()
    assert round.is_open
    found = next_pair(cast.ana)
    assert found is not None
    assert found.round == round
    told = Action.objects.get(name="round.opening_changed")
    assert (told.member, told.data["round"], told.data["from"][:4]) == (cast.max, name, "2999")


@pytest.mark.parametrize("name", PLANS)
def test_every_form_refuses_what_is_no_time_and_opens_nothing(
    cast: Cast, admin: Client, name: str
) -> None:
    finish_main(cast)
    assert PLANS[name](cast, admin, "soon") == 422
    assert cast.study.rounds.count() == 1


def test_a_round_opened_for_a_time_that_has_passed_opens_now(cast: Cast, admin: Client) -> None:
    finish_main(cast)
    assert plan_relabel(cast, admin, "9999-12-31T23:59") == 422
    assert plan_relabel(cast, admin, "0001-01-01T00:00") == 302
    assert cast.study.rounds.get(kind="relabel").opens_at > cast.main.opens_at


def test_what_runs_the_study_says_when_a_round_opens(cast: Cast, admin: Client) -> None:
    finish_main(cast)
    plan_relabel(cast, admin, LATER)
    for path in (ROUNDS, ALPHA, ALPHA + "progress/"):
        assert "2999-05-01T09:30" in admin.get(path).content.decode(), path
    page = admin.get(ROUNDS).content.decode()
    assert "begun and not finished" not in page
    assert '<span class="tag">closed</span>' not in page
    progress = admin.get(ALPHA + "progress/").context["page"].rounds[1]
    queues = {row.name: (row.queue.state, row.queue.pairs) for row in progress.annotators}
    assert queues == {"ana": ("planned", 4), "ben": ("planned", 4), "uma": ("not_open", 0)}


def test_a_time_is_changed_to_the_minute_and_the_same_time_again_is_no_change(
    cast: Cast, admin: Client
) -> None:
    finish_main(cast)
    plan_relabel(cast, admin, LATER)
    form = read_forms(admin.get(ROUNDS))["1-opening"]
    assert form.fields["opens_at"] == LATER
    assert post_form(admin, form, "").status_code == 302
    assert not Action.objects.filter(name="round.opening_changed").exists()
    assert post_form(admin, form, "", opens_at="2998-01-01T08:00").status_code == 302
    assert cast.study.rounds.get(name="relabel").opens_at.year == 2998
    assert post_form(admin, form, "", opens_at="soon").status_code == 422
    assert log_in(cast.lia).post(OPENING, {"round": "relabel", "now": "1"}).status_code == 404
    assert admin.post(OPENING, {"round": "none", "now": "1"}).status_code == 404


def test_an_open_round_is_put_off_until_somebody_begins_it(cast: Cast, admin: Client) -> None:
    form = read_forms(admin.get(ROUNDS))["1-opening"]
    assert post_form(admin, form, "", opens_at=LATER).status_code == 302
    assert next_pair(cast.ana) is None
    admin.post(OPENING, {"round": "main", "now": "1"})
    assert next_pair(cast.ana) is not None
    assert "1-opening" not in read_forms(admin.get(ROUNDS))
    refused = post_form(admin, form, "", opens_at=LATER)
    assert refused.status_code == 409
    assert "somebody has begun it" in refused.content.decode()
    close_round(round=cast.main, user=None)
    assert post_form(admin, form, "", opens_at=LATER).status_code == 409
    assert cast.study.rounds.get().opens_at < timezone.now()


def test_the_plan_of_a_round_says_when_it_opens(cast: Cast, admin: Client) -> None:
    data = {"round": "main", "shared": "1", "per_query": "1", "opens_at": LATER}
    preview = admin.get(ALPHA + "plan/", data)
    assert "2999-05-01T09:30" in preview.content.decode()
    assert cast.study.rounds.get().is_open
    assert post_form(admin, read_forms(preview)["plan-form"], "").status_code == 302
    assert not cast.study.rounds.get().is_open
    assert list(cast.main.round_queries.values_list("annotators", flat=True)).count(1) == 2
    # A round to come can still be planned; without a time it opens at once.
    assert admin.get(ALPHA + "plan/").context["form"]["opens_at"].value().year == 2999
    assert admin.post(ALPHA + "plan/", data | {"opens_at": ""}).status_code == 302
    assert next_pair(cast.ana) is not None
    assert admin.post(ALPHA + "plan/", data).status_code == 422
    assert admin.post(ALPHA + "plan/", data | {"opens_at": ""}).status_code == 302


def test_pairs_that_wait_to_come_back_hide_results_from_who_is_to_judge_them(
    cast: Cast, admin: Client
) -> None:
    """Who only judges keeps what they had; who reads results too knows of the plan."""
    label(cast.main, cast.uma, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, 1])
    finish_main(cast)
    assert find_blinding_rounds(cast.uma, [cast.main]) == []
    plan_relabel(cast, admin, LATER)
    assert find_blinding_rounds(cast.uma, [cast.main]) == ["relabel"]
    assert find_blinding_rounds(cast.lia, [cast.main]) == []
    assert [one.name for one in list_blind_rounds(cast.uma, [cast.main])] == ["relabel"]
    assert list_blind_rounds(make.make_member(cast.study, "eve", *Role), [cast.main]) == []
    own = Judgment.objects.filter(annotator=cast.ana)
    page = log_in(cast.ana).get(ALPHA + "labels/").content.decode()
    assert all(str(one.public_id) in page or one.round.closed_at for one in own)
    Round.objects.filter(name="relabel").update(opens_at=timezone.now() - timedelta(days=1))
    assert find_blinding_rounds(cast.uma, [cast.main]) == ["relabel"]
    later = log_in(cast.ana).get(ALPHA + "labels/").content.decode()
    assert len(later) < len(page)


def test_a_main_round_holds_what_no_main_round_has(cast: Cast, admin: Client) -> None:
    assert "No query waits for a main round" in admin.get(ROUNDS).content.decode()
    assert admin.post(ROUNDS + "main/", {"annotators": "2"}).status_code == 409
    assert plan_main(cast, admin, "") == 302
    round = cast.study.rounds.get(name="main-2")
    assert [(one.query.external_id, one.annotators) for one in round.round_queries.all()] == [
        ("new", 1)
    ]
    assert (round.is_open, round.rubric_version) == (True, cast.rubric)
    told = Action.objects.get(name="main.opened").data
    assert (told["round"], told["queries"], told["annotators_per_query"]) == ("main-2", 1, 1)
    assert admin.post(ROUNDS + "main/", {"annotators": "0"}).status_code == 422
    # What nobody has begun comes again once its round is closed.
    for one in (cast.main, round):
        close_round(round=one, user=None)
    label(cast.main, cast.ana, cast.pairs[:1], [1])
    assert admin.post(ROUNDS + "main/", {"annotators": "2"}).status_code == 302
    names = Query.objects.filter(round_queries__round__name="main-3")
    assert set(names.values_list("external_id", flat=True)) == {"q2", "q3", "new"}


def test_rounds_to_come_cost_no_further_statements(cast: Cast, admin: Client) -> None:
    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            admin.get(ROUNDS)
        return len(statements)

    count()
    make.make_round(cast.study, "one", opens_at=timezone.now() + timedelta(days=1))
    before = count()
    for name in ("two", "three"):
        make.make_round(cast.study, name, opens_at=timezone.now() + timedelta(days=1))
    assert count() == before

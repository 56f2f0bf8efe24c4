"""Calibration rounds beside each other, the next one on new pairs, and blind relabel rounds."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

import results.tasks  # noqa: F401 - registers the work of this room's jobs
from annotation.models import CarriedLabel, Judgment, RoundAssignment
from annotation.services.calibrations import plan_calibration
from annotation.services.claims import count_label_changes
from annotation.services.queue import next_pair
from annotation.services.relabels import plan_relabel
from results.markdown import render_payload
from results.services import reports
from results.services.agreement import compute_agreement
from results.services.calibration import open_comparison
from results.services.scopes import Scope
from studies.formats.records import ExampleSpec
from studies.models import Action, Job, Round
from studies.services.jobs import run_job
from studies.services.rounds import close_round
from studies.services.rubrics import describe_rubric, publish_rubric
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast, make_cast
from tests.pages import log_in, post_form, read_forms
from tests.results.calibrated import ROUNDS, add_calibration, judge_calibration
from tests.results.labelled import label_cast

pytestmark = pytest.mark.django_db
JUDGE = "/studies/alpha/judge/"


@pytest.fixture
def admin(cast: Cast) -> Client:
    return log_in(cast.max)


def run_jobs() -> None:
    for job in Job.objects.filter(state=Job.State.QUEUED):
        run_job(job.pk)


def judge_all(client: Client, grade: str) -> list[str]:
    pages = []
    while True:
        page = client.get(JUDGE)
        forms = read_forms(page)
        if "judgment-form" not in forms:
            return pages
        pages.append(page.content.decode())
        choice = {"grade": grade, "decided_by": "answerability"}
        post_form(client, forms["judgment-form"], JUDGE, **choice)


def test_consecutive_calibration_rounds_stand_beside_each_other(cast: Cast, admin: Client) -> None:
    first = add_calibration(cast, "calibration")
    judge_calibration(cast, first)
    open_comparison(round=first, by=cast.max)
    second = add_calibration(cast, "calibration-2", queries=1)
    judge_calibration(cast, second)
    Judgment.objects.filter(round=second, annotator=cast.ben).update(grade=2)
    open_comparison(round=second, by=cast.max)
    assert [one.state for one in admin.get(ROUNDS).context["page"].rounds] == ["computing"] * 2
    run_jobs()
    page = admin.get(ROUNDS)
    one, two = page.context["page"].rounds
    assert (one.pairs, one.splits, two.pairs, two.splits) == (6, 3, 3, 0)
    assert one.rate.value == 0.5
    assert one.rate.interval[0] < 0.5 < one.rate.interval[1]
    assert one.alpha.value is not None
    assert two.alpha.value is None
    assert "one label" in two.alpha.reason
    (kappa,) = page.context["page"].kappas
    assert (kappa.a, kappa.b) == ("ana", "ben")
    assert [figure is None for figure in kappa.figures] == [False, False]
    assert "fewer than 10 queries" in page.content.decode()


def test_numbers_of_before_the_close_are_not_those_of_the_round(cast: Cast, admin: Client) -> None:
    round = add_calibration(cast)
    judge_calibration(cast, round)
    admin.post("/studies/alpha/results/refresh/", {"round": "calibration"})
    run_jobs()
    close_round(round=round, user=None)
    page = admin.get(ROUNDS)
    assert page.context["page"].rounds[0].state == "missing"
    post_form(admin, read_forms(page)["compute-form"], "")
    run_jobs()
    assert admin.get(ROUNDS).context["page"].rounds[0].state == "ready"


def test_the_next_round_has_queries_that_nobody_who_judges_has_met(db: None) -> None:
    cast = make_cast(queries=6)
    close_round(round=add_calibration(cast, queries=1), user=None)
    make.make_judgment(cast.main, cast.pairs[3], cast.ana, 1)
    make.make_claim(cast.main.round_queries.get(query=cast.pairs[6].query), cast.ben)
    imported = make.make_member(cast.study, "wanda", with_account=False)
    make.make_judgment(cast.main, cast.pairs[9], imported, 1, source="import")
    plan = plan_calibration(cast.study, 10)
    assert set(plan.queries) == {pair.query_id for pair in cast.pairs[9:]}
    assert (plan.available, plan.pairs, plan.team) == (3, 9, ["ana", "ben", "uma"])


def test_a_query_with_an_example_of_the_rubric_is_left_out(cast: Cast) -> None:
    rubric = describe_rubric(cast.rubric)
    query, document = cast.pairs[0].query, cast.pairs[0].document
    (rubric.grades or [])[0].examples.append(
        ExampleSpec("negative", query.text, document.external_id)
    )
    publish_rubric(study=cast.study, rubric=rubric)
    plain = describe_rubric(cast.rubric)
    publish_rubric(study=cast.study, rubric=plain)
    assert query.pk not in plan_calibration(cast.study, 10).queries
    assert plan_calibration(cast.study, 10).available == 2


def test_one_post_opens_the_round_for_everybody_and_it_comes_first(
    cast: Cast, admin: Client
) -> None:
    form = read_forms(admin.get(ROUNDS + "?queries=2"))["calibrate-form"]
    assert form.fields["queries"] == "2"
    assert post_form(admin, form, "").status_code == 302
    round = cast.study.rounds.get(kind=Round.Kind.CALIBRATION)
    assert (round.name, round.rubric_version) == ("calibration", cast.rubric)
    assert set(round.round_queries.values_list("annotators", flat=True)) == {None}
    assert round.round_queries.count() == 2
    assert Action.objects.get(name="calibration.opened").data["queries"] == 2
    for member in (cast.ana, cast.ben, cast.uma):
        client = log_in(member)
        form = read_forms(client.get(JUDGE))["judgment-form"]
        post_form(client, form, JUDGE, grade="1", decided_by="recency")
    assert Judgment.objects.filter(round=round).count() == 3


def test_a_second_round_waits_for_the_first_to_be_compared(cast: Cast, admin: Client) -> None:
    data = {"queries": "1"}
    assert admin.post(ROUNDS + "calibrate/", data).status_code == 302
    again = admin.post(ROUNDS + "calibrate/", data)
    assert again.status_code == 409
    assert "is still open" in again.content.decode()
    first = cast.study.rounds.get(kind=Round.Kind.CALIBRATION)
    open_comparison(round=first, by=cast.max)
    assert admin.post(ROUNDS + "calibrate/", data).status_code == 302
    second = cast.study.rounds.get(name="calibration-2")
    met = set(first.round_queries.values_list("query", flat=True))
    assert not met & set(second.round_queries.values_list("query", flat=True))


@pytest.mark.django_db(transaction=True)
def test_two_admins_at_once_open_one_calibration(cast: Cast) -> None:
    clients = [log_in(member) for member in (cast.max, cast.uma)]
    answers = run_together(
        [
            lambda one=one: one.post(ROUNDS + "calibrate/", {"queries": "1"}).status_code
            for one in clients
        ]
    )
    assert sorted(answers) == [302, 409]
    assert cast.study.rounds.filter(kind=Round.Kind.CALIBRATION).count() == 1


@pytest.mark.parametrize("number", ["0", "-3", "x", "9999999999"])
def test_a_wrong_number_opens_nothing(cast: Cast, admin: Client, number: str) -> None:
    assert admin.post(ROUNDS + "calibrate/", {"queries": number}).status_code == 422
    assert admin.post(ROUNDS + "relabel/", {"each": number}).status_code == 422
    assert admin.get(f"{ROUNDS}?queries={number}").status_code == 200
    assert cast.study.rounds.count() == 1


def test_a_relabel_round_gives_own_pairs_back_blind(cast: Cast, admin: Client) -> None:
    label_cast(cast)
    close_round(round=cast.main, user=None)
    form = read_forms(admin.get(ROUNDS + "?each=4"))["relabel-form"]
    assert post_form(admin, form, "").status_code == 302
    relabel = cast.study.rounds.get(kind=Round.Kind.RELABEL)
    given = RoundAssignment.objects.filter(round=relabel)
    assert {one: given.filter(annotator=one).count() for one in (cast.ana, cast.ben)} == {
        cast.ana: 4,
        cast.ben: 4,
    }
    ana = log_in(cast.ana)
    hidden = Judgment.objects.get(
        round=cast.main, annotator=cast.ana, pair=given.filter(annotator=cast.ana).first().pair
    )
    assert ana.get(f"/studies/alpha/labels/{hidden.public_id}/").status_code == 404
    pages = judge_all(ana, "1")
    assert len(pages) == 4
    assert not any("checked" in page.partition('id="judgment-form"')[2] for page in pages)
    assert "judgment-form" not in read_forms(log_in(cast.uma).get(JUDGE))
    assert admin.post(ROUNDS + "relabel/", {"each": "4"}).status_code == 409


def relabelled(cast: Cast) -> Round:
    """ana gives all nine labels again, two of them otherwise; ben gives none."""
    label_cast(cast)
    relabel = make.make_round(
        cast.study, "relabel", kind=Round.Kind.RELABEL, rubric_version=cast.rubric, position=2
    )
    own = Judgment.objects.filter(round=cast.main, annotator=cast.ana).order_by("pk")
    for place, label in enumerate(own):
        grade = (label.grade + 1) % 3 if place < 2 else label.grade
        make.make_judgment(relabel, label.pair, cast.ana, grade)
    for query in {pair.query_id: pair.query for pair in cast.pairs}.values():
        make.RoundQuery.objects.create(round=relabel, query=query, annotators=1)
    return relabel


def test_self_agreement_is_told_with_kappa_and_n(cast: Cast, admin: Client) -> None:
    relabel = relabelled(cast)
    form = {"round": relabel.name, "sure": "1"}
    assert admin.post(ROUNDS + "close/", form).status_code == 302
    run_jobs()
    close_round(round=cast.main, user=None)
    (row,) = admin.get(ROUNDS).context["page"].selves
    assert (row.name, row.pairs) == ("ana", 9)
    assert row.observed == pytest.approx(7 / 9)
    assert row.kappa.value == pytest.approx((7 / 9 - row.expected) / (1 - row.expected))


def test_self_agreement_is_old_once_a_label_it_was_held_against_is_another(
    cast: Cast, admin: Client
) -> None:
    relabel = relabelled(cast)
    close_round(round=relabel, user=None)
    reports.run_agreement(cast.study, scope=Scope(round=relabel.name))
    page = admin.get(ROUNDS).context["page"]
    assert ([row.is_old for row in page.selves], page.is_missing) == ([False], False)
    revised = Judgment.objects.get(round=cast.main, annotator=cast.ana, pair=cast.pairs[0])
    count_label_changes({(cast.main.pk, cast.ana.pk): 1})
    Judgment.objects.filter(pk=revised.pk).update(grade=(revised.grade + 1) % 3)
    told = admin.get(ROUNDS)
    assert "labels have changed since" in told.content.decode()
    admin.post(ROUNDS + "compute/")
    assert [one.name for one in admin.get(ROUNDS).context["page"].relabels_without_numbers] == [
        relabel.name
    ]
    run_jobs()
    (row,) = admin.get(ROUNDS).context["page"].selves
    assert (row.is_old, row.observed) == (False, pytest.approx(8 / 9))


def test_relabel_labels_feed_self_agreement_only(cast: Cast) -> None:
    label_cast(cast)
    before = compute_agreement(cast.study, scope=Scope(), resamples=10)
    Judgment.objects.all().delete()
    relabelled(cast)
    after = compute_agreement(cast.study, scope=Scope(), resamples=10)
    kept = {"raw_agreement", "judgments", "labels", "cohen_kappa", "splits", "self_agreement"}
    assert {key: after[key] for key in kept} == {key: before[key] for key in kept}
    assert after["self_agreement"] == []


def test_labels_of_another_version_are_no_repetition(cast: Cast) -> None:
    relabel = relabelled(cast)
    second = publish_rubric(study=cast.study, rubric=describe_rubric(cast.rubric))
    Round.objects.filter(pk=relabel.pk).update(rubric_version=second)
    for label in Judgment.objects.filter(round=relabel):
        label.rubric_version = second
        label.decided_by = second.dimensions.get(name="answerability")
        label.save()
    scope = Scope(round="relabel")
    assert compute_agreement(cast.study, scope=scope, resamples=10)["self_agreement"] == []
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=label, rubric_version=second)
        for label in Judgment.objects.filter(round=cast.main)
    )
    payload = compute_agreement(cast.study, scope=scope, resamples=10)
    assert [row["pairs"] for row in payload["self_agreement"]] == [9]
    assert "## Self-agreement" in render_payload(payload)
    assert "| ana | 9 | 77.8% |" in render_payload(payload)


def test_a_relabel_round_is_judged_under_the_version_in_force(cast: Cast, admin: Client) -> None:
    """The main round stays under rubric 1: only labels carried to rubric 2 can be repeated."""
    label_cast(cast)
    second = publish_rubric(study=cast.study, rubric=describe_rubric(cast.rubric))
    assert plan_relabel(cast.study, 5).given == []
    carried = Judgment.objects.filter(annotator=cast.ana, pair__in=cast.pairs[:3])
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=label, rubric_version=second) for label in carried
    )
    assert admin.post(ROUNDS + "relabel/", {"each": "5"}).status_code == 302
    relabel = cast.study.rounds.get(kind=Round.Kind.RELABEL)
    assert relabel.rubric_version == second
    given = RoundAssignment.objects.filter(round=relabel)
    assert {(one.annotator, one.pair) for one in given} == {
        (cast.ana, pair) for pair in cast.pairs[:3]
    }


def test_only_what_can_be_given_again_is(cast: Cast) -> None:
    label_cast(cast)
    Judgment.objects.filter(annotator=cast.ana).update(grade=None, is_unsure=True)
    cast.study.members.filter(pk=cast.ben.pk).update(is_active=False)
    assert plan_relabel(cast.study, 5).given == []


def test_closing_asks_for_confirmation_and_never_closes_a_calibration(
    cast: Cast, admin: Client
) -> None:
    add_calibration(cast)
    cast.study.rounds.filter(kind="calibration").update(opens_at=timezone.now() + timedelta(days=1))
    assert admin.post(ROUNDS + "close/", {"round": "main"}).status_code == 422
    next_pair(cast.ana)
    assert [one.held for one in admin.get(ROUNDS).context["page"].open_rounds] == [1, 0]
    data = {"round": "calibration", "sure": "1"}
    assert admin.post(ROUNDS + "close/", data).status_code == 404
    assert not Action.objects.filter(name="round.closed").exists()
    assert admin.post(ROUNDS + "close/", {"round": "main", "sure": "1"}).status_code == 302
    assert Action.objects.get(name="round.closed").data == {"round": "main"}
    assert log_in(cast.lia).post(ROUNDS + "close/", data).status_code == 404


def test_who_still_judges_sees_no_numbers_but_may_open_rounds(cast: Cast) -> None:
    round = add_calibration(cast)
    judge_calibration(cast, round)
    open_comparison(round=round, by=cast.max)
    run_jobs()
    page = log_in(cast.uma).get(ROUNDS)
    assert page.context["page"].hidden_by == ["main"]
    assert page.context["page"].rounds[0].rate is None
    assert "calibrate-form" in read_forms(page)


def test_queries_do_not_grow_with_rounds(cast: Cast, admin: Client) -> None:
    def add(name: str) -> None:
        round = add_calibration(cast, name)
        judge_calibration(cast, round)
        open_comparison(round=round, by=cast.max)
        run_jobs()

    add("one")
    admin.get(ROUNDS)
    with CaptureQueriesContext(connection) as few:
        admin.get(ROUNDS)
    for name in ("two", "three"):
        add(name)
    with CaptureQueriesContext(connection) as many:
        admin.get(ROUNDS)
    assert len(many) == len(few)


def test_the_preview_of_a_relabel_round_is_made_when_asked_for(cast: Cast, admin: Client) -> None:
    label_cast(cast)
    assert admin.get(ROUNDS).context["page"].relabel is None
    preview = admin.get(ROUNDS + "?each=4").context["page"].relabel
    assert [(name, pairs) for name, pairs, _time in preview.loads] == [("ana", 4), ("ben", 4)]
    assert log_in(cast.lia).get(ROUNDS + "?each=4").context["page"].relabel is None


def test_numbers_whose_worker_is_gone_can_be_asked_for_again(cast: Cast, admin: Client) -> None:
    round = add_calibration(cast)
    judge_calibration(cast, round)
    open_comparison(round=round, by=cast.max)
    long_ago = timezone.now() - timedelta(hours=1)
    Job.objects.update(state=Job.State.RUNNING, started_at=long_ago, heartbeat_at=long_ago)
    page = admin.get(ROUNDS)
    assert page.context["page"].rounds[0].state == "missing"
    assert "compute-form" in read_forms(page)

"""After a change of the rubric: exactly what it touches goes back, blind; the rest is carried."""

from dataclasses import replace

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import CarriedLabel, Claim, Judgment, RoundAssignment
from annotation.services.claims import reopen_grown_claims
from results.models import Cause, ClauseProposal, FinalLabel
from results.services.final_rechecks import find_concerned_finals
from results.services.gate import read_rubric_facts
from results.services.rechecks import find_touched, open_recheck
from results.services.revision import account_for_revision
from results.services.scopes import Comparison
from studies.formats.records import ClauseSpec, ExampleSpec, RubricFile
from studies.models import Action, Member, Pair, Round, RubricVersion
from studies.services.rubrics import describe_rubric, publish_rubric
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import label_cast

RECHECK = "/studies/alpha/rubric/recheck/"
JUDGE = "/studies/alpha/judge/"


def publish_with(
    cast: Cast, clause: ClauseSpec, *, note: str = "Steps.", dimension: int = 0
) -> RubricVersion:
    """The newest version with one more clause."""
    rubric = describe_rubric(cast.study.rubric_versions.order_by("-number").first())
    rubric.dimensions[dimension].clauses.append(clause)
    return publish_rubric(
        study=cast.study,
        rubric=RubricFile(rubric.grades, rubric.dimensions, rubric.edge_cases, note),
    )


@pytest.fixture
def second(cast: Cast) -> RubricVersion:
    """Both annotators have judged everything and the main round is closed; then a clause for
    procedural queries (the first three pairs) is added."""
    label_cast(cast)
    cast.main.closed_at = cast.main.opens_at
    cast.main.save()
    return publish_with(cast, ClauseSpec("steps", ["procedural"], "Every step, in order.", 0))


def start(cast: Cast, version: RubricVersion) -> Round:
    return open_recheck(study=cast.study, version=version, by=cast.max)


def judge_all(client: Client, grade: str) -> list[str]:
    """Judge to the end; returns the pages on which a pair was shown."""
    pages = []
    while True:
        page = client.get(JUDGE)
        forms = read_forms(page)
        if "rubric-changed-form" in forms:
            post_form(client, forms["rubric-changed-form"], JUDGE + "rubric/")
        elif "judgment-form" in forms:
            pages.append(page.content.decode())
            choice = {"grade": grade, "decided_by": "answerability", "clause": "steps"}
            post_form(client, forms["judgment-form"], JUDGE, **choice)
        else:
            return pages


def test_only_labels_of_the_class_are_touched(cast: Cast, second: RubricVersion) -> None:
    found = find_touched(cast.study, second)
    assert {label.pair for label in found.back} == {pair.pk for pair in cast.pairs[:3]}
    assert (len(found.back), len(found.untouched), found.pairs) == (6, 12, 3)
    assert found.hours == pytest.approx(6 * 2.0 / 3600)
    assert found.count_by_annotator() == {cast.ana.pk: 3, cast.ben.pk: 3}


def test_a_pair_whose_adjudication_named_the_gap_that_the_clause_answers_is_touched(
    cast: Cast, second: RubricVersion
) -> None:
    """Of factual pairs one is silent in the clause's dimension, one was a slip, one is silent in
    another dimension, and one asked for this clause."""
    answerability, recency = cast.rubric.dimensions.order_by("position")[:2]
    for pair, cause, dimension in (
        (cast.pairs[3], Cause.RUBRIC, answerability),
        (cast.pairs[4], Cause.SLIP, answerability),
        (cast.pairs[5], Cause.RUBRIC, recency),
    ):
        FinalLabel.objects.create(
            pair=pair,
            grade=0,
            decided_by=dimension,
            cause=cause,
            reason="Silent.",
            rubric_version=cast.rubric,
        )
    ClauseProposal.objects.create(
        pair=cast.pairs[6], dimension="answerability", clause="steps", text="Steps.", by=cast.ada
    )
    touched = {label.pair for label in find_touched(cast.study, second).back}
    assert touched == {cast.pairs[place].pk for place in (0, 1, 2, 3, 6)}
    assert set(find_concerned_finals(cast.study)) == set(
        FinalLabel.objects.filter(pair=cast.pairs[3]).values_list("pk", flat=True)
    )


def test_one_post_gives_the_pairs_back_and_carries_the_rest(
    cast: Cast, second: RubricVersion
) -> None:
    admin = log_in(cast.max)
    form = read_forms(admin.get(RECHECK))["recheck-form"]
    assert post_form(admin, form, RECHECK, change="clause:answerability:steps").status_code == 302
    recheck = cast.study.rounds.get(kind=Round.Kind.RECHECK)
    assert (recheck.name, recheck.rubric_version) == ("recheck-2", second)
    assigned = set(recheck.assignments.values_list("pair", "annotator"))
    assert assigned == {(p.pk, a.pk) for p in cast.pairs[:3] for a in (cast.ana, cast.ben)}
    carried = CarriedLabel.objects.filter(rubric_version=second, by=cast.max, why="untouched")
    assert carried.count() == 12
    assert Action.objects.get(name="recheck.opened").data["labels"] == 6
    assert Action.objects.get(name="labels.carried").data["untouched"] == 12


def test_each_annotator_judges_exactly_their_pairs_and_blind(
    cast: Cast, second: RubricVersion
) -> None:
    recheck = start(cast, second)
    pages = judge_all(log_in(cast.ana), "2")
    assert len(pages) == 3
    assert not any("checked" in page.partition('id="judgment-form"')[2] for page in pages)
    labels = Judgment.objects.filter(round=recheck)
    assert set(labels.values_list("pair", flat=True)) == {pair.pk for pair in cast.pairs[:3]}
    assert set(labels.values_list("rubric_version", flat=True)) == {second.pk}
    assert set(Claim.objects.filter(annotator=cast.ana).values_list("state", flat=True)) == {
        "finished"
    }
    assert not labels.filter(annotator=cast.ben).exists()


def test_other_pairs_of_the_same_query_do_not_come_along(cast: Cast, second: RubricVersion) -> None:
    """Of one query's three pairs a single label was decided by the dimension that changed."""
    recency = cast.rubric.dimensions.get(name="recency")
    given = Judgment.objects.filter(annotator=cast.ana, pair=cast.pairs[1])
    given.update(decided_by=recency)
    rubric = describe_rubric(second)
    rubric.dimensions[1] = replace(rubric.dimensions[1], test="Would it mislead today?")
    third = publish_rubric(study=cast.study, rubric=replace(rubric, note="Sharper."))
    recheck = open_recheck(
        study=cast.study, version=third, by=cast.max, chosen=["dimension:recency"]
    )
    assert len(judge_all(log_in(cast.ana), "1")) == 1
    assert judge_all(log_in(cast.ben), "1") == []
    assert Judgment.objects.get(round=recheck).pair == cast.pairs[1]


def test_nobody_else_is_served_from_the_round(cast: Cast, second: RubricVersion) -> None:
    start(cast, second)
    page = log_in(cast.uma).get(JUDGE)
    assert "judgment-form" not in read_forms(page)
    assert page.context["nothing"].reason == "all_done"


def test_own_old_label_is_out_of_reach_until_the_recheck_is_closed(
    cast: Cast, second: RubricVersion
) -> None:
    old = Judgment.objects.get(annotator=cast.ana, pair=cast.pairs[0])
    start(cast, second)
    ana, address = log_in(cast.ana), f"/studies/alpha/labels/{old.public_id}/"
    assert ana.get(address).status_code == 404
    assert len(ana.get("/studies/alpha/labels/").context["labels"]) == 6
    judge_all(ana, "1")
    assert ana.get(address).status_code == 404
    assert len(ana.get("/studies/alpha/labels/").context["labels"]) == 9
    cast.study.rounds.filter(kind="recheck").update(closed_at=timezone.now())
    assert ana.get(address).status_code == 200
    assert len(ana.get("/studies/alpha/labels/").context["labels"]) == 12


def test_taking_labels_back_never_reaches_the_old_ones(cast: Cast, second: RubricVersion) -> None:
    start(cast, second)
    ana = log_in(cast.ana)
    judge_all(ana, "1")
    hidden = set(RoundAssignment.objects.filter(annotator=cast.ana).values_list("pair", flat=True))
    for _ in range(12):
        page = ana.get(JUDGE)
        shown = page.context.get("judge") or page.context.get("nothing")
        if not shown.undo_id:
            break
        undone = Judgment.objects.get(public_id=shown.undo_id)
        assert undone.round.kind == "recheck" or undone.pair_id not in hidden
        ana.post(JUDGE + "undo/", {"judgment": shown.undo_id})
    assert Judgment.objects.filter(annotator=cast.ana, round=cast.main, pair__in=hidden).exists()


def test_taking_a_recheck_label_back_brings_the_pair_again(
    cast: Cast, second: RubricVersion
) -> None:
    recheck = start(cast, second)
    ana = log_in(cast.ana)
    judge_all(ana, "1")
    latest = Judgment.objects.filter(round=recheck).latest("pk")
    ana.post(JUDGE + "undo/", {"judgment": latest.public_id})
    assert len(judge_all(ana, "0")) == 1
    assert Judgment.objects.filter(round=recheck, annotator=cast.ana).count() == 3


def test_a_query_that_grows_gives_no_new_pair_to_a_recheck(
    cast: Cast, second: RubricVersion
) -> None:
    start(cast, second)
    judge_all(log_in(cast.ana), "1")
    query = cast.pairs[0].query
    make.make_pair(query)
    assert reopen_grown_claims(cast.study, [query.pk]) == 0
    assert judge_all(log_in(cast.ana), "1") == []


def test_the_account_compares_all_pairs_once_the_recheck_is_done(
    cast: Cast, second: RubricVersion
) -> None:
    start(cast, second)
    for member in (cast.ana, cast.ben):
        judge_all(log_in(member), "1")
    account = account_for_revision(cast.study, Comparison.of_versions(1, 2))
    assert (account["pairs_compared"], account["after"]["carried"]) == (9, 12)
    assert (account["before"]["splits"], account["after"]["splits"]) == (2, 0)


def test_a_second_post_opens_nothing(cast: Cast, second: RubricVersion) -> None:
    admin = log_in(cast.max)
    data = {"to": "2"}
    assert admin.post(RECHECK + "open/", data).status_code == 302
    again = admin.post(RECHECK + "open/", data)
    assert again.status_code == 409
    assert "no round was opened" in again.content.decode()
    assert "6 labels are in a recheck already" in admin.get(RECHECK).content.decode()
    assert cast.study.rounds.filter(kind=Round.Kind.RECHECK).count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_admins_at_once_open_one_recheck(cast: Cast, second: RubricVersion) -> None:
    clients = [log_in(member) for member in (cast.max, cast.uma)]
    answers = run_together(
        [lambda one=one: one.post(RECHECK + "open/", {"to": "2"}).status_code for one in clients]
    )
    assert sorted(answers) == [302, 409]
    assert RoundAssignment.objects.count() == 6
    assert CarriedLabel.objects.count() == 12


def test_changes_that_are_not_chosen_keep_their_labels_and_say_so(
    cast: Cast, second: RubricVersion
) -> None:
    publish_with(cast, ClauseSpec("dated", ["factual"], "In force?"), dimension=1)
    admin = log_in(cast.max)
    data = {"to": "3", "chosen": "1", "change": "clause:recency:dated"}
    page = admin.get(RECHECK, data).context["page"]
    assert (page.labels, page.kept, page.untouched) == (6, 6, 6)
    admin.post(RECHECK + "open/", data)
    assert set(RoundAssignment.objects.values_list("pair", flat=True)) == {
        pair.pk for pair in cast.pairs[3:6]
    }
    assert CarriedLabel.objects.filter(why="kept").count() == 6


def test_one_label_and_a_quick_pace_are_told_in_the_singular(
    cast: Cast, second: RubricVersion
) -> None:
    Judgment.objects.exclude(annotator=cast.ana, pair=cast.pairs[0]).delete()
    Judgment.objects.update(active_seconds=1)
    page = " ".join(log_in(cast.max).get(RECHECK, {"to": "2"}).content.decode().split())
    assert "1 label would go back to who gave it: about 1 s of judging, at 1 s a pair." in page
    assert "That is 1 pair. 0 labels are touched by no change." in page


def test_labels_whose_annotator_cannot_judge_are_counted_not_carried(
    cast: Cast, second: RubricVersion
) -> None:
    imported = make.make_member(cast.study, "wanda", with_account=False)
    machine = make.make_member(cast.study, "model", with_account=False, is_machine=True)
    for pair in cast.pairs[:4]:
        for member in (imported, machine):
            make.make_judgment(cast.main, pair, member, 0, source="import")
    Member.objects.filter(pk=cast.ben.pk).update(is_active=False)
    found = find_touched(cast.study, second)
    assert (len(found.back), len(found.not_asked), len(found.untouched)) == (3, 6, 13)


def test_a_pair_that_is_an_example_of_the_rubric_is_not_given_back(
    cast: Cast, second: RubricVersion
) -> None:
    rubric = describe_rubric(second)
    pair = Pair.objects.select_related("query", "document").get(pk=cast.pairs[0].pk)
    example = ExampleSpec("positive", pair.query.text, pair.document.external_id)
    (rubric.grades or [])[2].examples.append(example)
    third = publish_rubric(
        study=cast.study,
        rubric=RubricFile(rubric.grades, rubric.dimensions, rubric.edge_cases, "An example."),
    )
    found = find_touched(cast.study, third)
    assert pair.pk not in {label.pair for label in found.back}
    assert found.examples == 2
    log_in(cast.max).post(RECHECK + "carry/", {"to": "3"})
    assert CarriedLabel.objects.filter(judgment__pair=pair, why="kept").count() == 2


def test_untouched_labels_can_be_carried_without_a_round(cast: Cast) -> None:
    label_cast(cast)
    publish_with(cast, ClauseSpec("dated", ["policy"], "In force?"))
    admin = log_in(cast.max)
    assert admin.post(RECHECK + "open/", {"to": "2"}).status_code == 409
    assert admin.post(RECHECK + "carry/", {"to": "2"}).status_code == 302
    assert CarriedLabel.objects.count() == 18
    assert admin.post(RECHECK + "carry/", {"to": "2"}).status_code == 409
    assert find_touched(cast.study, cast.study.rubric_versions.get(number=2)).valid == 18


def count_outside(cast: Cast) -> int:
    """Labels that the gate finds neither given under the newest version nor carried to it."""
    return read_rubric_facts(cast.study).labels_outside


def test_labels_that_an_admin_keeps_are_carried_without_a_round(
    cast: Cast, second: RubricVersion
) -> None:
    admin = log_in(cast.max)
    page = admin.get(RECHECK, {"to": "2", "chosen": "1"})
    form = read_forms(page)["recheck-form"]
    assert (page.context["page"].can_open, page.context["page"].can_carry) == (False, True)
    assert admin.post(RECHECK + "open/", form.fields).status_code == 409
    assert admin.post(RECHECK + "carry/", form.fields).status_code == 302
    assert CarriedLabel.objects.filter(why="kept", by=cast.max).count() == 6
    told = Action.objects.get(name="labels.carried").data
    assert (told["untouched"], told["kept"], count_outside(cast)) == (12, 6, 0)
    assert not admin.get(RECHECK).context["page"].can_carry


def test_labels_of_those_who_cannot_judge_are_kept_only_where_the_admin_says_so(
    cast: Cast, second: RubricVersion
) -> None:
    Member.objects.filter(pk__in=[cast.ana.pk, cast.ben.pk]).update(user=None)
    admin = log_in(cast.max)
    form = read_forms(admin.get(RECHECK))["recheck-form"]
    admin.post(RECHECK + "carry/", form.fields)
    assert count_outside(cast) == 6
    chosen = {"keep_not_asked": "1"}
    assert "keep_not_asked" in form.choices
    assert admin.post(RECHECK + "carry/", form.fields | chosen).status_code == 302
    assert CarriedLabel.objects.filter(why="kept").count() == 6
    assert count_outside(cast) == 0
    assert admin.post(RECHECK + "carry/", form.fields | chosen).status_code == 409


def test_a_round_may_keep_the_labels_of_those_who_cannot_judge(
    cast: Cast, second: RubricVersion
) -> None:
    Member.objects.filter(pk=cast.ben.pk).update(is_active=False)
    data = {"to": "2", "keep_not_asked": "1"}
    assert log_in(cast.max).post(RECHECK + "open/", data).status_code == 302
    assert RoundAssignment.objects.filter(annotator=cast.ana).count() == 3
    kept = CarriedLabel.objects.filter(why="kept").values_list("judgment__annotator", flat=True)
    assert list(kept) == [cast.ben.pk] * 3


def test_an_open_relabel_round_hides_no_label_from_the_recheck(
    cast: Cast, second: RubricVersion
) -> None:
    round = make.make_round(cast.study, "relabel", kind=Round.Kind.RELABEL)
    for pair in cast.pairs[:3]:
        RoundAssignment.objects.create(round=round, pair=pair, annotator=cast.ana)
    found = find_touched(cast.study, second)
    assert (len(found.back), found.given_back) == (6, 0)


def test_carried_labels_are_compared_with_the_version_they_were_carried_to(
    cast: Cast, second: RubricVersion
) -> None:
    """Carried over version 2, they are not touched again by what version 2 changed."""
    start(cast, second)
    third = publish_with(cast, ClauseSpec("dated", ["factual"], "In force?"), dimension=1)
    found = find_touched(cast.study, third)
    assert {label.pair for label in found.back} == {pair.pk for pair in cast.pairs[3:6]}
    assert found.given_back == 6


def test_without_a_later_version_there_is_nothing_to_show(cast: Cast) -> None:
    admin = log_in(cast.max)
    assert "one version of the rubric" in admin.get(RECHECK).content.decode()
    assert admin.post(RECHECK + "open/").status_code == 409
    assert admin.get(RECHECK, {"to": "9"}).status_code == 404


def test_only_admins_recheck(cast: Cast, second: RubricVersion) -> None:
    for member in (cast.lia, cast.ana, cast.ada, cast.sid):
        client = log_in(member)
        assert client.get(RECHECK).status_code == 404
        assert client.post(RECHECK + "open/", {"to": "2"}).status_code == 404
        assert client.post(RECHECK + "carry/", {"to": "2"}).status_code == 404


def test_queries_do_not_grow_with_labels(cast: Cast, second: RubricVersion) -> None:
    admin = log_in(cast.max)
    admin.get(RECHECK)
    with CaptureQueriesContext(connection) as few:
        admin.get(RECHECK)
    query = make.make_query(cast.study, query_class="procedural")
    for _ in range(5):
        make.make_judgment(cast.main, make.make_pair(query), cast.ana, 1)
    with CaptureQueriesContext(connection) as many:
        admin.get(RECHECK)
    assert len(many) == len(few)

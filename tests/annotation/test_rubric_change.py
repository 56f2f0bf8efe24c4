"""When the rubric of a round changes: annotators are told first, and labels say what was shown."""

import re
from collections.abc import Callable

import pytest
from django.db import connection, transaction
from django.test import Client

from annotation.models import Judgment
from annotation.tokens import read_token
from studies.models import Action, Member, Role, Round, RubricVersion, Study
from studies.services.rubric_drafts import publish_draft, start_draft, switch_round
from studies.services.rubrics import describe_rubric
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

JUDGE = "/studies/alpha/judge/"
CONFIRM = JUDGE + "rubric/"
HTMX = {"HX-Request": "true"}
LABEL = {"grade": "1", "decided_by": "recency"}


def judge_one(client: Client, **headers: str) -> None:
    form = read_forms(client.get(JUDGE))["judgment-form"]
    assert post_form(client, form, JUDGE, **LABEL).status_code == 302


@pytest.fixture
def second(cast: Cast) -> RubricVersion:
    return make.make_rubric(
        cast.study, clauses={"answerability": {"procedural": ("procedural", "factual")}}
    )


def switch(cast: Cast, version: RubricVersion) -> None:
    switch_round(round=cast.main, version=version, by=cast.max)


def test_who_begins_is_told_of_no_change(cast: Cast, second: RubricVersion) -> None:
    switch(cast, second)
    assert "judgment-form" in read_forms(log_in(cast.ana).get(JUDGE))


def test_publishing_alone_changes_nothing_for_annotators(cast: Cast) -> None:
    ana = log_in(cast.ana)
    judge_one(ana)
    make.make_rubric(cast.study)
    assert "judgment-form" in read_forms(ana.get(JUDGE))


def test_publishing_asks_which_rounds_are_judged_under_it_and_who_judges_there_is_told(
    cast: Cast,
) -> None:
    """Untouched, the form takes main rounds along and leaves those that compare as they are."""
    relabel = make.make_round(cast.study, "relabel", kind=Round.Kind.RELABEL, position=9)
    ana, admin, editor = log_in(cast.ana), log_in(cast.max), "/studies/alpha/rubric/draft/"
    judge_one(ana)
    admin.post("/studies/alpha/rubric/start/")
    form = read_forms(admin.get(editor))["rubric-form"]
    post_form(admin, form, editor, do="save", **{"dimensions-0-test": "Does it answer it all?"})
    publish = read_forms(admin.get(editor))["/studies/alpha/rubric/publish/"]
    assert publish.choices["rounds"] == ["main", "relabel"]
    assert post_form(admin, publish, "", note="").status_code == 422
    assert post_form(admin, publish, "", note="Wholly.").status_code == 302
    page = ana.get(JUDGE)
    assert "judgment-form" not in read_forms(page)
    assert "rubric-changed-form" in read_forms(page)
    relabel.refresh_from_db()
    assert relabel.rubric_version == cast.rubric
    assert Action.objects.get(name="round.switched").data == {"round": "main", "from": 1, "to": 2}


def test_the_change_is_told_before_the_next_pair_with_the_diff(
    cast: Cast, second: RubricVersion
) -> None:
    ana = log_in(cast.ana)
    judge_one(ana)
    switch(cast, second)
    page = ana.get(JUDGE)
    assert "judgment-form" not in read_forms(page)
    assert "<ins>factual, </ins>" in page.content.decode()
    assert "judgment-form" not in read_forms(ana.get(JUDGE))
    form = read_forms(page)["rubric-changed-form"]
    assert post_form(ana, form, CONFIRM).url == JUDGE
    assert "judgment-form" in read_forms(ana.get(JUDGE))
    assert Action.objects.get(name="rubric.read").data == {"number": 2}


def test_with_htmx_the_change_comes_as_the_answer_to_a_label(
    cast: Cast, second: RubricVersion
) -> None:
    ana = log_in(cast.ana)
    form = read_forms(ana.get(JUDGE))["judgment-form"]
    switch(cast, second)
    answer = post_form(ana, form, JUDGE, **LABEL, headers=HTMX)
    assert "rubric-changed-form" in read_forms(answer)
    assert "<html" not in answer.content.decode()
    following = post_form(ana, read_forms(answer)["rubric-changed-form"], CONFIRM, headers=HTMX)
    assert "judgment-form" in read_forms(following)


def test_a_label_keeps_the_version_shown_with_its_pair(cast: Cast, second: RubricVersion) -> None:
    ana = log_in(cast.ana)
    form = read_forms(ana.get(JUDGE))["judgment-form"]
    switch(cast, second)
    post_form(ana, form, JUDGE, **LABEL)
    assert Judgment.objects.get().rubric_version == cast.rubric


def test_confirming_what_is_no_longer_so_tells_what_is_new(
    cast: Cast, second: RubricVersion
) -> None:
    ana = log_in(cast.ana)
    judge_one(ana)
    switch(cast, second)
    form = read_forms(ana.get(JUDGE))["rubric-changed-form"]
    switch(cast, make.make_rubric(cast.study))
    refused = post_form(ana, form, CONFIRM)
    assert refused.status_code == 409
    assert read_forms(refused)["rubric-changed-form"].fields["number"] == "3"
    assert ana.post(CONFIRM, {"number": "x"}).status_code == 409
    assert log_in(cast.max).post(CONFIRM, {"number": "3"}).status_code == 404


def test_a_recheck_under_another_version_tells_of_it_too(cast: Cast, second: RubricVersion) -> None:
    ana = log_in(cast.ana)
    judge_one(ana)
    cast.main.closed_at = cast.main.opens_at
    cast.main.save()
    recheck = make.make_round(cast.study, "later", kind="recheck", rubric_version=second)
    make.RoundQuery.objects.create(round=recheck, query=cast.pairs[0].query, annotators=2)
    assert "rubric-changed-form" in read_forms(ana.get(JUDGE))


CLIENTS = 16


def make_crowd() -> tuple[Study, Member, Round]:
    study = make.make_study("alpha", annotators_per_query=CLIENTS)
    make.make_round(study)
    for number in range(2):
        query = make.make_query(study, f"q{number}")
        for place in range(3):
            make.make_pair(query, make.make_document(study, f"q{number}-d{place}"))
    for number in range(CLIENTS):
        make.make_member(study, f"client{number}", Role.ANNOTATOR)
    return study, make.make_member(study, "max", Role.ADMIN), study.rounds.get()


def judge_everything(annotator: Member) -> dict[tuple[int, str], int]:
    """Judge to the end through the pages; returns the version shown with each pair labelled."""
    client = log_in(annotator)
    shown: dict[tuple[int, str], int] = {}
    while True:
        page = client.get(JUDGE)
        forms = read_forms(page)
        if "rubric-changed-form" in forms:
            post_form(client, forms["rubric-changed-form"], CONFIRM)
        elif "judgment-form" in forms:
            token = read_token(forms["judgment-form"].fields["token"])
            number = re.search(r"Grades of rubric (\d+)", page.content.decode())
            assert number
            version = RubricVersion.objects.get(pk=token.rubric_version_id)
            assert version.number == int(number[1])
            shown[annotator.pk, str(token.pair_id)] = version.pk
            post_form(client, forms["judgment-form"], JUDGE, **LABEL)
        else:
            return shown


def publish_and_switch(study: Study, admin: Member, round: Round) -> dict[tuple[int, str], int]:
    for turn in range(6):
        newest = describe_rubric(study.rubric_versions.order_by("-number").first())
        draft = start_draft(study=study, rubric=newest, by=admin)
        rounds = [round.name] if turn % 2 else []
        version = publish_draft(
            study=study, note=f"Turn {turn}.", edition=draft.edition, by=admin, rounds=rounds
        )
        assert switch_round(round=round, version=version, by=admin) is not bool(rounds)
    return {}


@pytest.mark.django_db(transaction=True)
def test_every_label_names_the_version_shown_while_an_admin_publishes_and_switches() -> None:
    study, admin, round = make_crowd()
    annotators = list(study.members.filter(roles__contains=["annotator"]).select_related("user"))
    works: list[Callable[[], dict[tuple[int, str], int]]] = [
        lambda one=one: judge_everything(one)  # type: ignore[misc]  # one for each thread
        for one in annotators
    ]
    works.append(lambda: publish_and_switch(study, admin, round))
    shown = {key: version for found in run_together(works) for key, version in found.items()}
    labels = Judgment.objects.values_list("annotator", "pair__public_id", "rubric_version")
    assert {(who, str(pair)): version for who, pair, version in labels} == shown
    assert len(shown) == CLIENTS * 6
    assert study.rubric_versions.count() == 7
    assert len(set(shown.values())) > 1


@pytest.mark.django_db(transaction=True)
def test_publishing_for_two_rounds_waits_for_no_label_that_waits_for_it() -> None:
    """Who switches one round holds nothing that a label of another round needs."""
    study, admin, main = make_crowd()
    later = make.make_round(study, "later", position=1, rubric_version=main.rubric_version)
    version, annotator = make.make_rubric(study), study.members.get(name="client0")
    pair = study.pairs.first()

    def label() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            make.make_judgment(later, pair, annotator, 1)

    with transaction.atomic():
        assert switch_round(round=main, version=version, by=admin)
        run_together([label])
    assert Judgment.objects.get().round == later

"""Quotas: never exceeded when set by hand; a fair share gives way at the end of a round."""

import pytest
from django.db import DatabaseError

from annotation.models import Claim
from annotation.progress.page import Queue, explain_queue, read_counts
from annotation.services.claims import claim_next_query
from annotation.services.queue import next_pair
from studies.models import Member, Quota, Role, Round, Study
from tests import factories as make
from tests.annotation.clients import run_together
from tests.annotation.test_claims_race import judge_until_nothing_is_left
from tests.pages import log_in


def make_round_for(
    *names: str, queries: int, annotators: int = 1, shared: int = 0
) -> tuple[Round, list[Member]]:
    study = make.make_study("quota", annotators_per_query=annotators)
    round = make.make_round(study)
    for number in range(queries):
        slots = None if number < shared else annotators
        make.make_pair(make.make_query(study, f"q{number}", annotators=slots))
    return round, [make.make_member(study, name, Role.ANNOTATOR) for name in names]


def set_quota(round: Round, member: Member, queries: int, *, is_fixed: bool = True) -> Quota:
    return Quota.objects.create(round=round, member=member, queries=queries, is_fixed=is_fixed)


def explain(round: Round, member: Member) -> Queue:
    """What the progress page says of the member's queue."""
    found = read_counts(round.study)
    return explain_queue(member.pk, round, found, found.held)


def count_finished(member: Member) -> int:
    return Claim.objects.filter(annotator=member, state="finished").count()


def test_quota_by_hand_is_never_exceeded(db: None) -> None:
    round, (ana,) = make_round_for("ana", queries=5)
    set_quota(round, ana, 2)
    judge_until_nothing_is_left(ana)
    assert count_finished(ana) == 2


def test_quota_leaves_room_for_every_shared_query(db: None) -> None:
    round, (ana,) = make_round_for("ana", queries=9, shared=4)
    set_quota(round, ana, 5)
    judge_until_nothing_is_left(ana)
    own = Claim.objects.filter(annotator=ana)
    assert own.filter(round_query__annotators__isnull=True).count() == 4
    assert own.count() == 5


def test_what_is_left_to_judge_is_told_within_the_quota(db: None) -> None:
    round, (ana,) = make_round_for("ana", queries=9)
    set_quota(round, ana, 3)
    assert next_pair(ana).left == 3


def test_fair_share_stops_while_somebody_below_theirs_could_go_on(db: None) -> None:
    round, (ana, ben) = make_round_for("ana", "ben", queries=6)
    for member in (ana, ben):
        set_quota(round, member, 3, is_fixed=False)
    judge_until_nothing_is_left(ana)
    assert count_finished(ana) == 3
    page = log_in(ana).get("/studies/quota/judge/")
    assert page.context["nothing"].reason == "share_done"


def test_fair_share_gives_way_when_the_others_have_left(db: None) -> None:
    round, (ana, ben) = make_round_for("ana", "ben", queries=6)
    for member in (ana, ben):
        set_quota(round, member, 3, is_fixed=False)
    judge_until_nothing_is_left(ana)
    assert explain(round, ana) == Queue("share_done")
    Member.objects.filter(pk=ben.pk).update(is_active=False)
    assert explain(round, ana) == Queue("open", queries=3)
    judge_until_nothing_is_left(ana)
    assert count_finished(ana) == 6


def test_fair_share_gives_way_for_queries_that_those_below_have_had(db: None) -> None:
    """Two places each: what is left at the end may be what the last one has judged already."""
    round, (ana, ben, eva) = make_round_for("ana", "ben", "eva", queries=3, annotators=2)
    for member, queries in ((ana, 2), (ben, 2), (eva, 2)):
        set_quota(round, member, queries, is_fixed=False)
    first, second, third = round.round_queries.order_by("pk")
    for row, member, slot in ((first, ana, 1), (second, ana, 1), (first, ben, 2)):
        make.make_claim(row, member, slot=slot, state="finished")
    make.make_claim(third, ben, slot=1, state="finished")
    make.make_claim(second, eva, slot=2, state="finished")
    make.make_claim(third, eva, slot=None, state="released")
    assert explain(round, ana) == Queue("open", queries=1)
    claim = claim_next_query(round=round, annotator=ana)
    assert claim is not None
    assert claim.round_query == third


@pytest.mark.django_db(transaction=True)
def test_tabs_of_one_person_never_take_more_than_the_quota() -> None:
    round, (ana,) = make_round_for("ana", queries=12)
    set_quota(round, ana, 3)
    ana = Member.objects.select_related("study", "user").get(pk=ana.pk)
    round = Round.objects.select_related("study").get(pk=round.pk)
    run_together([lambda: claim_next_query(round=round, annotator=ana)] * 10)
    assert Claim.objects.filter(annotator=ana).count() == 3


@pytest.mark.django_db(transaction=True)
def test_fair_split_of_a_round_judged_at_once_is_within_one_query() -> None:
    study = Study.objects.create(slug="fair", title="Fair", annotators_per_query=1)
    round = make.make_round(study)
    for number in range(20):
        make.make_pair(make.make_query(study, f"q{number}"))
    for number in range(4):
        member = make.make_member(study, f"m{number}", Role.ANNOTATOR)
        set_quota(round, member, 5, is_fixed=False)
    members = list(study.members.select_related("study", "user"))
    run_together([lambda member=member: judge_until_nothing_is_left(member) for member in members])
    assert [count_finished(member) for member in members] == [5, 5, 5, 5]


def test_database_refuses_to_take_away_a_place_in_force(db: None) -> None:
    round, (ana, ben) = make_round_for("ana", "ben", queries=1, annotators=2)
    row = round.round_queries.get()
    make.make_claim(row, ana, slot=1)
    make.make_claim(row, ben, slot=2)
    row.annotators = 1
    with pytest.raises(DatabaseError, match="places in force"):
        row.save()

"""Holds that an admin ends, and queries given to others: labels stay, places are free."""

import uuid
from typing import NamedTuple

import pytest
from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.services.assignments import add_round, assign_pairs
from annotation.services.claims import claim_next_query, lock_round_query, take_place
from annotation.services.judgments import Label, record_judgment
from annotation.services.queue import next_pair
from annotation.services.releases import RoundClosed, release_claims, requeue_queries
from annotation.tokens import ShownPair
from results.selectors.blindness import list_unfinished_rounds
from studies.models import Action, Member, Pair, Round
from tests.annotation.clients import pair_of
from tests.annotation.test_claims_race import judge_until_nothing_is_left
from tests.cast import Cast

LABEL = Label(grade=1, decided_by="recency")


def judge_one(cast: Cast, annotator: Member) -> Judgment:
    return send(cast, annotator, pair_of(next_pair(annotator)).public_id).judgment


def send(cast: Cast, annotator: Member, pair_id: uuid.UUID):
    shown = ShownPair(annotator.pk, cast.main.pk, cast.rubric.pk, pair_id, timezone.now())
    return record_judgment(shown=shown, annotator=annotator, label=LABEL, key=uuid.uuid4())


def test_released_hold_frees_the_place_and_keeps_the_labels(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    claim = Claim.objects.get()
    assert release_claims(study=cast.study, claim_ids=[claim.pk], user=cast.max.user) == 1
    claim.refresh_from_db()
    assert (claim.state, claim.slot) == ("lapsed", None)
    assert Judgment.objects.count() == 1
    action = Action.objects.get(name="claim.released")
    assert (action.user, action.data["annotator"]) == (cast.max.user, "ana")


def test_released_annotator_may_come_back_while_the_place_is_free(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    pair = pair_of(next_pair(cast.ana))
    release_claims(
        study=cast.study, claim_ids=Claim.objects.values_list("pk", flat=True), user=cast.max.user
    )
    assert send(cast, cast.ana, pair.public_id).kind == "recorded"


def test_finished_claims_and_those_of_other_studies_are_not_released(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    keys = list(Claim.objects.values_list("pk", flat=True))
    assert release_claims(study=cast.study, claim_ids=keys, user=cast.max.user) == 0
    assert release_claims(study=cast.other_study, claim_ids=keys, user=cast.max.user) == 0


def requeue_everything(cast: Cast, **fields) -> int:
    keys = list(cast.main.round_queries.values_list("pk", flat=True))
    return requeue_queries(round=cast.main, round_query_ids=keys, user=cast.max.user, **fields)


def test_requeued_queries_go_to_others_and_the_log_says_whose_they_were(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    assert requeue_everything(cast) == 3
    assert next_pair(cast.ana) is None
    assert claim_next_query(round=cast.main, annotator=cast.ben) is not None
    data = Action.objects.get(name="queries.requeued").data
    assert data == {"round": "main", "queries": {"q1": ["ana"], "q2": ["ana"], "q3": ["ana"]}}


def test_requeue_can_be_of_one_annotator_only(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    judge_until_nothing_is_left(cast.ben)
    assert requeue_everything(cast, annotator=cast.ana) == 3
    states = Claim.objects.filter(annotator=cast.ben).values_list("state", flat=True)
    assert set(states) == {"finished"}


def test_labels_of_requeued_queries_are_surplus_once_others_have_finished(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    judge_until_nothing_is_left(cast.ben)
    requeue_everything(cast, annotator=cast.ana)
    assert not Judgment.objects.filter(is_surplus=True).exists()
    judge_until_nothing_is_left(cast.uma)
    late = Judgment.objects.filter(is_surplus=True)
    assert {judgment.annotator for judgment in late} == {cast.ana}
    assert late.count() == 9


def test_label_that_arrives_after_a_requeue_is_kept_as_surplus(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    pair = pair_of(next_pair(cast.ana))
    requeue_everything(cast)
    outcome = send(cast, cast.ana, pair.public_id)
    assert outcome.kind == "surplus"
    assert outcome.judgment.is_surplus


def test_queries_of_a_closed_round_are_not_requeued(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    cast.main.closed_at = timezone.now()
    cast.main.save()
    with pytest.raises(RoundClosed):
        requeue_everything(cast)
    assert not Action.objects.filter(name="queries.requeued").exists()


class Given(NamedTuple):
    pair: int
    query: int
    annotator: int


def give_again(cast: Cast, annotator: Member, *pairs: Pair) -> Round:
    """A relabel round that asks for these pairs of the annotator."""
    round = add_round(
        cast.study, "again", kind=Round.Kind.RELABEL, rubric_version=cast.main.rubric_version
    )
    assign_pairs(round, [Given(pair.pk, pair.query_id, annotator.pk) for pair in pairs])
    return round


def close_main(cast: Cast) -> None:
    cast.main.closed_at = timezone.now()
    cast.main.save()


def test_a_released_hold_of_single_pairs_comes_back_to_its_own_person_alone(cast: Cast) -> None:
    close_main(cast)
    round = give_again(cast, cast.ana, *cast.pairs[:2])
    claim = Claim.objects.get()
    assert release_claims(study=cast.study, claim_ids=[claim.pk], user=cast.max.user) == 1
    assert next_pair(cast.ben) is None
    assert list_unfinished_rounds(cast.ben) == []
    assert list_unfinished_rounds(cast.ana) == ["again"]
    judge_until_nothing_is_left(cast.ana)
    assert Judgment.objects.filter(round=round, annotator=cast.ana).count() == 2
    assert Claim.objects.get().state == "finished"


def test_a_place_of_single_pairs_is_refused_under_the_lock_to_who_was_given_none(
    cast: Cast,
) -> None:
    round = give_again(cast, cast.ana, cast.pairs[0])
    Claim.objects.all().delete()
    row = lock_round_query(round.round_queries.get().pk, cast.study)
    assert take_place(row, annotator=cast.ben) is None
    assert take_place(row, annotator=cast.ana) is not None


def test_a_claim_of_who_was_given_nothing_is_never_finished(cast: Cast) -> None:
    close_main(cast)
    round = give_again(cast, cast.ana, cast.pairs[0])
    Claim.objects.update(annotator=cast.ben)
    assert next_pair(cast.ben) is None
    assert Claim.objects.get().state == "lapsed"
    judge_until_nothing_is_left(cast.ana)
    assert Judgment.objects.get(round=round).annotator == cast.ana


def test_queries_without_others_are_not_requeued(cast: Cast) -> None:
    round = give_again(cast, cast.ana, cast.pairs[0])
    cast.main.round_queries.update(annotators=None)
    judge_until_nothing_is_left(cast.ben)
    assert requeue_everything(cast) == 0
    keys = [round.round_queries.get().pk]
    assert requeue_queries(round=round, round_query_ids=keys, user=cast.max.user) == 0
    assert not Claim.objects.filter(state="released").exists()

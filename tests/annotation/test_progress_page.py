"""The progress page: who holds what, what is left, why a queue is empty; release and requeue."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Claim
from annotation.progress.page import RoundProgress
from annotation.services.queue import next_pair
from results.services.agreement import compute_agreement
from results.services.scopes import Scope
from studies.models import Action, Member, Quota, Role
from studies.services.rounds import close_round
from tests import factories as make
from tests.annotation.test_claims_race import judge_until_nothing_is_left
from tests.annotation.test_releases import give_again, judge_one
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

PROGRESS = "/studies/alpha/progress/"
REQUEUE = PROGRESS + "requeue/"


def read_round(cast: Cast) -> RoundProgress:
    return log_in(cast.lia).get(PROGRESS).context["page"].rounds[0]


def queues(round: RoundProgress) -> dict[str, str]:
    return {row.name: row.queue.state for row in round.annotators}


def test_fresh_round_is_all_free_and_its_hours_are_assumed(cast: Cast) -> None:
    round = read_round(cast)
    assert (round.places.queries, round.places.places, round.free) == (3, 6, 6)
    assert round.pairs_left == 18
    assert round.hours_left == pytest.approx(18 * 17.5 / 3600)
    assert queues(round) == {"ana": "open", "ben": "open", "uma": "open"}


def test_who_joins_after_a_round_was_closed_had_no_part_in_it(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=None)
    for member in (cast.ana, cast.ben, cast.uma):
        judge_until_nothing_is_left(member)
    close_round(round=cast.main, user=None)
    make.make_member(cast.study, "eve", Role.ANNOTATOR)
    Member.objects.filter(pk=cast.lia.pk).update(roles=["lead", "annotator"])
    Member.objects.filter(pk=cast.uma.pk).update(is_active=False)
    places = read_round(cast).places
    assert (places.finished, places.places, places.queries_done) == (9, 9, 3)
    told = compute_agreement(cast.study, scope=Scope(round="main"))
    assert (told["queries_fully_judged"], told["missing"]) == (3, 0)
    cast.main.closed_at = None
    cast.main.save()
    assert read_round(cast).places.places == 12  # eve and lia came, uma went


def test_pairs_left_fall_with_each_label_and_hours_follow_the_measured_pace(cast: Cast) -> None:
    judgment = judge_one(cast, cast.ana)
    judgment.active_seconds = 36
    judgment.save()
    round = read_round(cast)
    assert round.pairs_left == 17
    assert round.hours_left == pytest.approx(17 * 36 / 3600)
    (held,) = round.held
    assert (held.name, held.labelled, held.pairs) == ("ana", 1, 3)
    assert queues(round)["ana"] == "judging"


def test_labels_without_a_known_time_slow_no_pace(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, active_seconds=30)
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, 1)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 1, source="import")
    round = read_round(cast)
    assert {row.name: row.pace for row in round.annotators} == {"ana": 30, "ben": None, "uma": None}
    assert round.hours_left == pytest.approx(round.pairs_left * 30 / 3600)


def test_labels_on_lapsed_places_are_still_to_be_given_by_others(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    Claim.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    round = read_round(cast)
    assert (round.held_count, round.free, round.pairs_left) == (0, 6, 18)


def test_each_empty_queue_has_its_reason(cast: Cast) -> None:
    Quota.objects.create(round=cast.main, member=cast.uma, queries=0, is_fixed=True)
    judge_until_nothing_is_left(cast.ana)
    for _ in range(8):
        judge_one(cast, cast.ben)
    assert queues(read_round(cast)) == {"ana": "all_done", "ben": "judging", "uma": "share_done"}
    Claim.objects.filter(annotator=cast.ben).first().delete()
    Quota.objects.all().delete()
    next_pair(cast.uma)
    max_ = cast.max
    max_.roles = ["admin", "annotator"]
    max_.save()
    round = read_round(cast)
    assert queues(round)["max"] == "held_by_others"
    assert round.annotators[2].queue.until == min(one.expires_at for one in round.held)


def test_closed_round_has_nobody_waiting(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    cast.main.closed_at = timezone.now()
    cast.main.save()
    assert queues(read_round(cast)) == {"ana": "gone"}


def test_page_of_a_lead_who_still_judges_tells_counts_but_no_agreement(cast: Cast) -> None:
    judge_until_nothing_is_left(cast.ana)
    page = log_in(cast.uma).get(PROGRESS)
    assert page.status_code == 200
    rows = {row.name: row.labels for row in page.context["page"].rounds[0].annotators}
    assert rows["ana"].labels == 9
    words = page.content.decode().lower()
    assert not any(word in words for word in ("κ", "kappa", "krippendorff", "split rate", "unsure"))
    assert "Unsure" in log_in(cast.lia).get(PROGRESS).content.decode()


def test_only_admins_are_offered_changes(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    assert "Release what is ticked" not in log_in(cast.lia).get(PROGRESS).content.decode()
    assert "Release what is ticked" in log_in(cast.max).get(PROGRESS).content.decode()


def test_ticked_holds_are_released(cast: Cast) -> None:
    judge_one(cast, cast.ana)
    claim = Claim.objects.get()
    client = log_in(cast.max)
    assert client.post(PROGRESS + "release/", {"claim": [claim.pk]}).status_code == 302
    assert Claim.objects.get().state == "lapsed"
    assert client.post(PROGRESS + "release/", {"claim": [claim.pk]}).status_code == 409
    assert client.post(PROGRESS + "release/", {"claim": ["x"]}).status_code == 409


def test_requeue_shows_what_it_would_do_before_it_does_it(cast: Cast) -> None:
    for member in (cast.ana, cast.ben):
        judge_until_nothing_is_left(member)
    client = log_in(cast.max)
    page = client.get(REQUEUE, {"round": "main", "query_class": "procedural"})
    preview = page.context["preview"]
    assert (preview.queries, preview.places, preview.labels, preview.stuck) == (1, 2, 6, 1)
    assert not Claim.objects.filter(state="released").exists()
    form = next(one for one in read_forms(page).values() if "query_class" in one.fields)
    assert post_form(client, form, REQUEUE).status_code == 302
    assert Claim.objects.filter(state="released").count() == 2
    assert Action.objects.get(name="queries.requeued").data["queries"] == {"q1": ["ana", "ben"]}


def test_named_queries_of_one_person_are_requeued(cast: Cast) -> None:
    for member in (cast.ana, cast.ben):
        judge_until_nothing_is_left(member)
    data = {"round": "main", "queries": "q2\r\nq3", "annotator": cast.ana.pk}
    assert log_in(cast.max).post(REQUEUE, data).status_code == 302
    released = Claim.objects.filter(state="released")
    assert {claim.annotator for claim in released} == {cast.ana}
    assert released.count() == 2


@pytest.mark.parametrize(
    "data",
    [{"round": "main"}, {"round": "nowhere", "queries": "q1"}, {"round": "main", "queries": "q9"}],
)
def test_requeue_of_nothing_or_of_what_is_not_there_is_refused(
    cast: Cast, data: dict[str, str]
) -> None:
    assert log_in(cast.max).post(REQUEUE, data).status_code == 422


def test_requeue_of_untouched_queries_changes_nothing(cast: Cast) -> None:
    response = log_in(cast.max).post(REQUEUE, {"round": "main", "query_class": "factual"})
    assert response.status_code == 200
    assert not Action.objects.filter(name="queries.requeued").exists()


def test_surplus_labels_are_shown(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1, is_surplus=True)
    round = read_round(cast)
    assert round.surplus == 1
    assert round.annotators[0].labels.surplus == 1


def test_progress_takes_as_many_queries_for_many_as_for_few(cast: Cast) -> None:
    client = log_in(cast.max)
    judge_one(cast, cast.ana)
    with CaptureQueriesContext(connection) as few:
        client.get(PROGRESS)
    for number in range(12):
        member = make.make_member(cast.study, f"more{number}", Role.ANNOTATOR)
        query = make.make_query(cast.study, f"more{number}")
        make.make_judgment(cast.main, make.make_pair(query), member, 1)
        make.make_claim(cast.main.round_queries.get(query=query), member)
    make.make_round(cast.study, "second", rubric_version=cast.rubric)
    with CaptureQueriesContext(connection) as many:
        client.get(PROGRESS)
    assert len(many) == len(few)


def test_of_single_pairs_given_to_somebody_only_those_are_left(cast: Cast) -> None:
    give_again(cast, cast.ana, cast.pairs[0])
    round = log_in(cast.lia).get(PROGRESS).context["page"].rounds[1]
    (held,) = round.held
    assert (held.name, held.pairs, held.left) == ("ana", 1, 1)
    assert queues(round) == {"ana": "judging", "ben": "all_done", "uma": "all_done"}


def test_a_released_hold_of_single_pairs_is_open_to_its_own_person_alone(cast: Cast) -> None:
    give_again(cast, cast.ana, cast.pairs[0])
    log_in(cast.max).post(PROGRESS + "release/", {"claim": Claim.objects.get().pk})
    round = log_in(cast.lia).get(PROGRESS).context["page"].rounds[1]
    assert (round.free, round.pairs_left) == (1, 1)
    assert queues(round) == {"ana": "open", "ben": "all_done", "uma": "all_done"}


def test_single_pairs_are_not_given_to_others(cast: Cast) -> None:
    give_again(cast, cast.ana, cast.pairs[0])
    page = log_in(cast.max).post(REQUEUE, {"round": "again", "queries": "q1"})
    assert "1 query stays as it is" in page.content.decode()
    assert "Do it" not in page.content.decode()
    assert Claim.objects.get().state == "held"


def test_of_named_queries_those_that_everybody_judges_stay_as_they_are(cast: Cast) -> None:
    cast.main.round_queries.filter(query__external_id="q1").update(annotators=None)
    judge_until_nothing_is_left(cast.ana)
    data = {"round": "main", "annotator": cast.ana.pk}
    page = log_in(cast.max).get(REQUEUE, data)
    preview = page.context["preview"]
    assert (preview.queries, preview.places, preview.labels, preview.kept) == (2, 2, 6, 1)
    assert "1 query stays as it is" in page.content.decode()
    log_in(cast.max).post(REQUEUE, data)
    finished = Claim.objects.filter(state="finished")
    assert [claim.round_query.query.external_id for claim in finished] == ["q1"]

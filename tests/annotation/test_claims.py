"""Holding queries: order, expiry, surplus, growth."""

import itertools
import uuid
from datetime import timedelta

import pytest
from django.core.cache import cache
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.screens import explain_nothing
from annotation.services.claims import claim_next_query, reopen_grown_claims
from annotation.services.judgments import Label, Outcome, record_judgment, undo_judgment
from annotation.services.queue import next_pair
from annotation.tokens import ShownPair
from studies.models import Action, Member, Pair, Role, Study
from studies.selectors import get_rubric_with_parts
from tests import factories as make
from tests.annotation.clients import pair_of
from tests.cast import Cast

LABEL = Label(grade=1, decided_by="answerability")


def label_next(annotator: Member, label: Label = LABEL) -> Outcome:
    found = next_pair(annotator)
    return send(annotator, pair_of(found), label)


def send(annotator: Member, pair: Pair, label: Label = LABEL) -> Outcome:
    main = annotator.study.rounds.get()
    shown = ShownPair(annotator.pk, main.pk, main.rubric_version_id, pair.public_id, timezone.now())
    return record_judgment(shown=shown, annotator=annotator, label=label, key=uuid.uuid4())


def let_claims_run_out(annotator: Member) -> None:
    Claim.objects.filter(annotator=annotator, state="held").update(
        expires_at=timezone.now() - timedelta(seconds=1)
    )


def test_documents_of_a_query_come_together_by_default(cast: Cast) -> None:
    queries = [label_next(cast.ana).judgment.pair.query_id for _ in range(9)]
    assert len(set(queries[:3])) == len(set(queries[3:6])) == len(set(queries[6:])) == 1


def test_fully_mixed_order_draws_from_many_queries(db: None) -> None:
    study = make.make_study(ordering=Study.Ordering.MIXED, seed="b" * 32)
    make.make_round(study)
    for _ in range(6):
        query = make.make_query(study)
        for _ in range(4):
            make.make_pair(query)
    ana = make.make_member(study, "ana", Role.ANNOTATOR)
    queries = [label_next(ana).judgment.pair.query_id for _ in range(24)]
    changes = sum(before != after for before, after in itertools.pairwise(queries))
    assert changes > 12
    assert next_pair(ana) is None


def test_abandoned_claim_frees_its_place_and_keeps_its_labels(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    first = label_next(cast.ana).judgment
    let_claims_run_out(cast.ana)

    taken = {claim_next_query(round=cast.main, annotator=cast.ben).round_query.query_id}
    while claim := claim_next_query(round=cast.main, annotator=cast.ben):
        taken.add(claim.round_query.query_id)
    assert first.pair.query_id in taken
    assert Claim.objects.get(annotator=cast.ana).state == "lapsed"
    assert Judgment.objects.get().is_surplus is False


def test_labels_of_a_lapsed_claim_are_surplus_once_others_finished(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    late = label_next(cast.ana).judgment
    let_claims_run_out(cast.ana)
    before = cast.ana.label_changes.get().count
    while next_pair(cast.ben):
        label_next(cast.ben)
    late.refresh_from_db()
    assert late.is_surplus is True
    assert cast.ana.label_changes.get().count == before + 1
    assert not Judgment.objects.filter(annotator=cast.ben, is_surplus=True).exists()


def test_coming_back_too_late_keeps_the_label_as_surplus(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    shown = pair_of(next_pair(cast.ana))
    let_claims_run_out(cast.ana)
    while next_pair(cast.ben):
        label_next(cast.ben)
    outcome = send(cast.ana, shown)
    assert outcome.kind == "surplus"
    assert outcome.judgment.is_surplus is True


def test_coming_back_late_to_a_free_place_takes_it_again(cast: Cast) -> None:
    shown = pair_of(next_pair(cast.ana))
    let_claims_run_out(cast.ana)
    assert send(cast.ana, shown).kind == "recorded"
    assert Claim.objects.get(annotator=cast.ana).state == "held"


def test_a_hold_that_ran_out_is_offered_again_while_its_place_is_free(cast: Cast) -> None:
    seen = [label_next(cast.ana).judgment.pair for _ in range(8)]
    let_claims_run_out(cast.ana)
    found = next_pair(cast.ana)
    assert found
    assert pair_of(found) not in seen
    assert label_next(cast.ana).kind == "recorded"
    assert next_pair(cast.ana) is None


def test_pair_of_a_query_never_held_is_refused(cast: Cast) -> None:
    assert send(cast.ana, cast.pairs[0]).kind == "not_held"
    assert not Judgment.objects.exists()


def test_grown_query_is_open_again_for_the_same_annotator(cast: Cast) -> None:
    while next_pair(cast.ana):
        label_next(cast.ana)
    query = cast.pairs[0].query
    new = make.make_pair(query, make.make_document(cast.study))
    assert next_pair(cast.ana) is None
    assert reopen_grown_claims(cast.study, [query.pk]) == 1
    assert pair_of(next_pair(cast.ana)) == new
    label_next(cast.ana)
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


def test_grown_query_waits_for_who_had_finished_it_as_long_as_it_takes(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    while next_pair(cast.ana):
        label_next(cast.ana)
    query = cast.pairs[0].query
    for _ in range(2):
        make.make_pair(query, make.make_document(cast.study))
    reopen_grown_claims(cast.study, [query.pk])
    label_next(cast.ana)
    Claim.objects.update(expires_at=F("expires_at") - timedelta(days=30))
    assert next_pair(cast.ben) is None
    assert explain_nothing(cast.ben).reason == "all_done"
    label_next(cast.ana)
    assert Judgment.objects.filter(annotator=cast.ana, is_surplus=False).count() == 11
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


@pytest.mark.parametrize("fields", [{"user": None}, {"is_active": False}, {"roles": ["lead"]}])
def test_grown_query_is_not_opened_for_who_does_not_annotate(
    cast: Cast, fields: dict[str, object]
) -> None:
    while next_pair(cast.ana):
        label_next(cast.ana)
    make.make_pair(cast.pairs[0].query)
    Member.objects.filter(pk=cast.ana.pk).update(**fields)
    assert reopen_grown_claims(cast.study, [cast.pairs[0].query_id]) == 0


def test_only_pooled_pairs_of_the_queries_that_grew_open_a_query_again(cast: Cast) -> None:
    while next_pair(cast.ana):
        label_next(cast.ana)
    make.make_pair(cast.pairs[0].query, pool_rank=None)
    make.make_pair(cast.pairs[3].query)
    assert reopen_grown_claims(cast.study, [cast.pairs[0].query_id]) == 0


def test_calibration_round_comes_first_and_takes_everybody(cast: Cast) -> None:
    calibration = make.make_round(cast.study, "calibration-1", kind="calibration")
    cast.main.position = 5
    cast.main.save()
    query = make.make_query(cast.study, annotators=None, rounds=[calibration])
    pair = make.make_pair(query)
    for member in (cast.ana, cast.ben, cast.uma):
        assert pair_of(next_pair(member)) == pair


@pytest.mark.parametrize("count", [1, 2, 5])
def test_overlap_is_met_first_and_spread_over_the_claims(db: None, count: int) -> None:
    study = make.make_study(seed="c" * 32)
    main = make.make_round(study)
    for number in range(10):
        query = make.make_query(study, f"q{number}", annotators=4 if number < count else 1)
        make.make_pair(query)
    ana = make.make_member(study, "ana", Role.ANNOTATOR)
    shared = []
    while claim := claim_next_query(round=main, annotator=ana):
        shared.append(claim.round_query.annotators == 4)
    places = [place for place, is_shared in enumerate(shared) if is_shared]
    assert places[0] == 0
    assert len(places) == count
    assert max(places) >= 10 - 10 // count - 1


# A hundred documents, each pooled for every one of the new queries.
GROW = """
WITH query AS (
    INSERT INTO studies_query (study_id, external_id, public_id, text, context, metadata)
    SELECT %(study)s, 'more' || n, gen_random_uuid(), 'question ' || n, '', '{}'
    FROM generate_series(1, %(queries)s) n RETURNING id
), asked AS (
    INSERT INTO studies_roundquery (round_id, query_id, annotators)
    SELECT %(round)s, id, 2 FROM query
)
INSERT INTO studies_pair (study_id, query_id, document_id, public_id, pool_rank, added_at)
SELECT %(study)s, query.id, d.id, gen_random_uuid(), 1, now()
FROM query CROSS JOIN unnest(%(documents)s::bigint[]) AS d (id)
"""


def grow_pool(cast: Cast, *, queries: int) -> None:
    documents = [make.make_document(cast.study).pk for _ in range(100)]
    values = {"study": cast.study.pk, "round": cast.main.pk, "queries": queries}
    with connection.cursor() as cursor:
        cursor.execute(GROW, values | {"documents": documents})
        cursor.execute("ANALYZE studies_query, studies_roundquery, studies_pair")


def test_queries_per_label_do_not_grow_to_a_pool_of_100_000_pairs(cast: Cast) -> None:
    get_rubric_with_parts(cast.rubric.pk)  # kept from the first label on
    cache.clear()
    with CaptureQueriesContext(connection) as few:
        next_pair(cast.ana)
        label_next(cast.ana)
    grow_pool(cast, queries=1000)
    cache.clear()
    with CaptureQueriesContext(connection) as many:
        next_pair(cast.ben)
        label_next(cast.ben)
    assert Pair.objects.count() > 100_000
    assert len(many) == len(few)


def test_query_labelled_in_another_way_is_passed_over(cast: Cast) -> None:
    """Imported labels of a linked account leave nothing to judge in a query."""
    for pair in cast.pairs[:3]:
        make.make_judgment(cast.main, pair, cast.ana, 1, source="import", decided_by=None)
    seen = set()
    while next_pair(cast.ana):
        seen.add(label_next(cast.ana).judgment.pair)
    assert seen == set(cast.pairs[3:])
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}


def test_order_is_the_same_in_another_installation(db: None) -> None:
    """Keys of rows and random ids differ between two installations; the orders do not."""
    orders = []
    for slug in ("here", "there"):
        study = make.make_study(slug, seed="e" * 32)
        make.make_round(study)
        for number in range(4):
            query = make.make_query(study, f"q{number}")
            for place in range(3):
                make.make_pair(query, make.make_document(study, f"q{number}-d{place}"))
        ana = make.make_member(study, "ana", Role.ANNOTATOR, with_account=False)
        judged = [label_next(ana).judgment.pair for _ in range(12)]
        orders.append([pair.document.external_id for pair in judged])
    assert orders[0] == orders[1]


def test_calibration_comes_first_wherever_it_is_listed(cast: Cast) -> None:
    calibration = make.make_round(cast.study, "calibration-1", kind="calibration", position=9)
    query = make.make_query(cast.study, annotators=None, rounds=[calibration])
    pair = make.make_pair(query)
    assert pair_of(next_pair(cast.ana)) == pair


def test_who_takes_a_place_again_has_all_their_labels_counted(cast: Cast) -> None:
    """Set aside, then back because the plan grew: nobody's label is left out of a full query."""
    cast.main.round_queries.update(annotators=1)
    early = label_next(cast.ana).judgment
    let_claims_run_out(cast.ana)
    while next_pair(cast.ben):
        label_next(cast.ben)
    early.refresh_from_db()
    assert early.is_surplus
    cast.main.round_queries.update(annotators=None)
    while next_pair(cast.ana):
        label_next(cast.ana)
    assert not Judgment.objects.filter(is_surplus=True).exists()
    assert not Claim.objects.exclude(state="finished").exists()


def test_label_that_could_not_be_given_again_is_not_taken_back(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=1)
    own = label_next(cast.ana).judgment
    let_claims_run_out(cast.ana)
    while next_pair(cast.ben):
        label_next(cast.ben)
    outcome = undo_judgment(judgment_id=own.public_id, annotator=cast.ana)
    assert outcome.kind == "not_held"
    assert Judgment.objects.filter(pk=own.pk).exists()
    assert not Action.objects.filter(name="judgment.undone").exists()

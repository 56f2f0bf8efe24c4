"""The queue of contested pairs: what is in it, in which order, and whose counts it shares."""

import uuid
from collections import Counter
from functools import partial

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.models import Judgment
from results.models import FinalLabel
from results.selectors.contested import (
    Wanted,
    count_pairs,
    find_candidates,
    list_final_keys,
    list_pairs,
)
from results.services.agreement import compute_agreement
from results.services.leases import take_first_free, take_lease
from results.services.outcomes import update_outcomes
from results.services.scopes import Scope
from studies.models import ControlPair, Member, QueryClass, Round, Study
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast, make_cast
from tests.results.exported import UNSURE, judge, judge_all


def kinds(study: Study, **wanted) -> dict[str, str]:
    found = list_pairs(study, Wanted(**wanted), limit=100)
    ids = {pair.public_id: pair.document.external_id for pair in study.pairs.all()}
    return {ids[pair.public_id]: pair.kind for pair in found}


def test_splits_ties_and_pairs_nobody_is_sure_of_are_contested(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=3)
    judge(cast.main, cast.pairs[:5], cast.ana, [0, 0, UNSURE, 1, 2])
    judge(cast.main, cast.pairs[:5], cast.ben, [2, 0, UNSURE, 1, 1])
    judge(cast.main, cast.pairs[:5], cast.uma, [UNSURE, 2, UNSURE, 1, 1])
    assert kinds(cast.study) == {
        "q1-d1": "tie",
        "q1-d2": "split",
        "q1-d3": "unsure",
        "q2-d2": "split",
    }


def test_too_few_votes_are_contested_where_the_study_asks_for_more(cast: Cast) -> None:
    judge_all(cast, ana=[1, 1], ben=[UNSURE, 1])
    assert kinds(cast.study) == {}
    Study.objects.update(minimum_votes=2)
    cast.study.refresh_from_db()
    assert kinds(cast.study) == {"q1-d1": "few"}


def test_what_further_labels_may_settle_waits(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=3)
    judge_all(cast, ana=[0], ben=[2])
    assert [pair.state for pair in list_pairs(cast.study, Wanted(), limit=9)] == ["waiting"]
    assert find_candidates(cast.study, cast.ada, Wanted()).keys == []
    judge(cast.main, cast.pairs[:1], cast.uma, [2])
    assert find_candidates(cast.study, cast.ada, Wanted()).keys == [cast.pairs[0].pk]


def test_labels_of_machines_surplus_and_calibration_contest_nothing(cast: Cast) -> None:
    machine = make.make_member(cast.study, "llm", with_account=False, is_machine=True)
    calibration = make.make_round(cast.study, "cal", kind=Round.Kind.CALIBRATION)
    judge_all(cast, ana=[1], ben=[1])
    judge(cast.main, cast.pairs[:1], machine, [0])
    judge(cast.main, cast.pairs[:1], cast.uma, [2], is_surplus=True)
    judge(calibration, cast.pairs[:1], cast.ana, [0])
    assert kinds(cast.study) == {}


def test_a_recheck_that_agrees_ends_the_contest(cast: Cast) -> None:
    recheck = make.make_round(cast.study, "recheck", kind=Round.Kind.RECHECK, position=5)
    judge_all(cast, ana=[0, 0], ben=[2, 2])
    judge(recheck, cast.pairs[:1], cast.ana, [2])
    assert kinds(cast.study) == {"q1-d2": "tie"}


def test_high_risk_comes_first_then_open_holes_then_the_labels_farthest_apart(cast: Cast) -> None:
    QueryClass.objects.filter(name="factual").update(is_high_risk=True)
    judge_all(cast, ana=[0, 1, 0, 1, 0, 0, 0, 0, 0], ben=[1, 2, 2, 2, 0, 1, 2, 0, 0])

    def order(**options) -> list[str]:
        keys = {pair.pk: pair.document.external_id for pair in cast.pairs}
        return [keys[pair.id] for pair in list_pairs(cast.study, Wanted(), limit=9, **options)]

    found = order()
    assert set(found[:2]) == {"q2-d1", "q2-d3"}
    assert set(found[2:4]) == {"q1-d3", "q3-d1"}
    assert set(found[4:]) == {"q1-d1", "q1-d2"}
    with_hole = order(holes=["procedural"])
    assert with_hole[2] == "q1-d3"
    assert with_hole[5] == "q3-d1"


def test_filters_narrow_by_class_kind_cause_and_state(cast: Cast) -> None:
    judge_all(cast, ana=[0, UNSURE, 0, 0], ben=[2, UNSURE, 2, 2])
    make.make_final_label(cast.pairs[2], 1, cause="chunking")
    make.make_final_label(cast.pairs[3], None, cause="operator_slip")
    assert set(kinds(cast.study, query_class="procedural")) == {"q1-d1", "q1-d2", "q1-d3"}
    assert set(kinds(cast.study, kind="unsure")) == {"q1-d2"}
    assert set(kinds(cast.study, cause="chunking")) == {"q1-d3"}
    assert set(kinds(cast.study, state="open")) == {"q1-d1", "q1-d2"}
    assert set(kinds(cast.study, is_dropped=True)) == {"q2-d1"}
    make.make_rubric(cast.study)
    final = FinalLabel.objects.get(cause="chunking")
    assert set(kinds(cast.study, finals=[final.pk])) == {"q1-d3"}
    assert len(list_final_keys(cast.study, Wanted(query_class="procedural"))) == 1


def test_agreed_pairs_are_there_when_asked_for_or_settled(cast: Cast) -> None:
    judge_all(cast, ana=[1, 1], ben=[1, 1])
    assert kinds(cast.study) == {}
    assert kinds(cast.study, with_agreed=True) == {"q1-d1": "agreed", "q1-d2": "agreed"}
    make.make_final_label(cast.pairs[0], 2)
    make.make_final_label(cast.pairs[5], 2)
    assert kinds(cast.study) == {"q1-d1": "agreed", "q2-d3": "none"}


@pytest.mark.parametrize("seed", range(3))
def test_counts_add_up_with_results(cast: Cast, seed: int) -> None:
    grades = [(seed + 3 * n) % 3 if n % 4 else UNSURE for n in range(9)]
    others = [(seed * n) % 3 if n % 5 else UNSURE for n in range(9)]
    judge_all(cast, ana=grades, ben=others)
    make.make_final_label(cast.pairs[1], 1)
    ControlPair.objects.create(pair=cast.pairs[2], grade=1, decided_by="recency")
    counts = count_pairs(cast.study, Wanted())
    splits = sum(
        count.pairs for count in counts if count.kind in {"split", "tie"} and not count.is_control
    )
    report = compute_agreement(cast.study, scope=Scope(), resamples=10)
    assert splits == report["splits"]
    by_kind = Counter()
    for count in counts:
        by_kind[count.kind] += count.pairs
    assert by_kind == Counter(kinds(cast.study).values())


def test_a_member_is_not_led_to_what_they_labelled_unless_the_study_allows(cast: Cast) -> None:
    judge_all(cast, ana=[0, 0], ben=[2, 2])
    calibration = make.make_round(cast.study, "cal", kind=Round.Kind.CALIBRATION)
    judge(calibration, cast.pairs[:1], cast.uma, [0])
    assert find_candidates(cast.study, cast.uma, Wanted()).keys == [cast.pairs[1].pk]
    cast.study.settle_own_pairs = True
    assert len(find_candidates(cast.study, cast.uma, Wanted()).keys) == 2


def test_what_somebody_else_holds_is_passed_over_and_ones_own_comes_first(cast: Cast) -> None:
    judge_all(cast, ana=[0, 0, 0], ben=[2, 2, 2])
    first, second, third = find_candidates(cast.study, cast.ada, Wanted()).keys
    assert take_lease(third, cast.ada)
    assert take_lease(first, cast.max)
    assert find_candidates(cast.study, cast.ada, Wanted()).keys == [third, second]
    assert take_first_free([first, second], cast.ada) == second


def test_what_is_put_off_comes_last(cast: Cast) -> None:
    judge_all(cast, ana=[0, 0], ben=[2, 2])
    first, second = find_candidates(cast.study, cast.ada, Wanted()).keys
    take_lease(first, cast.ada)
    put_off = cast.study.pairs.get(pk=first).public_id
    found = find_candidates(cast.study, cast.ada, Wanted(), later=[put_off])
    assert (found.keys, found.left) == ([second, first], 2)
    assert find_candidates(cast.study, cast.ada, Wanted(), later=[uuid.uuid4()]).keys == [
        first,
        second,
    ]


def test_whatever_changes_a_label_moves_the_queue(cast: Cast) -> None:
    judge_all(cast, ana=[0], ben=[2])
    assert kinds(cast.study) == {"q1-d1": "tie"}
    label = Judgment.objects.get(annotator=cast.ben)
    label.grade = 0
    label.save()
    assert kinds(cast.study) == {}
    label.grade = 1
    label.save()
    assert kinds(cast.study) == {"q1-d1": "tie"}
    Judgment.objects.filter(annotator=cast.ben).update(is_surplus=True)
    assert kinds(cast.study) == {}
    Judgment.objects.filter(annotator=cast.ben).update(is_surplus=False)
    assert kinds(cast.study) == {"q1-d1": "tie"}
    label.delete()
    assert kinds(cast.study) == {}


def test_a_member_found_to_be_a_machine_leaves_the_queue(cast: Cast) -> None:
    bot = make.make_member(cast.study, "bot", with_account=False)
    judge_all(cast, ana=[0], ben=[0])
    judge(cast.main, cast.pairs[:1], bot, [2])
    assert kinds(cast.study) == {"q1-d1": "split"}
    bot.is_machine = True
    bot.save()
    assert kinds(cast.study) == {}


def test_a_round_that_changes_its_kind_changes_what_is_current(cast: Cast) -> None:
    judge_all(cast, ana=[0], ben=[2])
    Round.objects.update(kind=Round.Kind.CALIBRATION)
    assert kinds(cast.study) == {}


def test_counting_again_takes_only_what_has_changed(cast: Cast) -> None:
    judge_all(cast, ana=[0, 0, 0], ben=[2, 0, 0])
    assert update_outcomes(cast.study) == 3
    assert update_outcomes(cast.study) == 0
    judge(cast.main, cast.pairs[2:3], cast.uma, [1])
    assert update_outcomes(cast.study) == 1
    assert update_outcomes(cast.other_study) == 0


@pytest.mark.django_db(transaction=True)
def test_labels_given_while_outcomes_are_counted_are_never_lost() -> None:
    """Judges and readers at once: in the end the queue says what the labels say."""
    cast = make_cast(queries=4)
    annotators = [cast.ana, cast.ben, cast.uma]

    def label(annotator: Member, shift: int) -> None:
        for place, pair in enumerate(cast.pairs):
            make.make_judgment(cast.main, pair, annotator, (place * shift) % 3)

    def read() -> None:
        for _ in range(12):
            update_outcomes(cast.study)

    run_together(
        [partial(label, person, shift) for shift, person in enumerate(annotators)] + [read] * 3
    )
    told = kinds(cast.study, with_agreed=True)
    for place, pair in enumerate(cast.pairs):
        votes = Counter((place * shift) % 3 for shift in range(3))
        expected = {1: "agreed", 2: "split", 3: "tie"}[len(votes)]
        assert told[pair.document.external_id] == expected


def test_the_queue_and_its_counts_are_read_by_indexes(cast: Cast) -> None:
    """However many pairs there are, no table of pairs is read from end to end for one study."""
    judge_all(cast, ana=[0] * 9, ben=[2] * 9)
    reads = (
        partial(list_pairs, cast.study, Wanted(), limit=50),
        partial(find_candidates, cast.study, cast.ada, Wanted()),
        partial(count_pairs, cast.study, Wanted()),
    )
    for read in reads:
        read()
        with CaptureQueriesContext(connection) as captured:
            read()
        statement = next(one["sql"] for one in captured if "results_pairoutcome" in one["sql"])
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL enable_seqscan = off")
            cursor.execute(f"EXPLAIN {statement.replace('%', '%%')}")
            plan = "\n".join(row[0] for row in cursor.fetchall())
        assert "outcome_by_kind" in plan
        for table in ("results_pairoutcome", "studies_pair ", "results_finallabel"):
            assert f"Seq Scan on {table}" not in plan

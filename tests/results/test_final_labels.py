"""Final labels: set, revised, reopened; the rows stay as they were, and the log tells it all."""

import uuid

import pytest
from django.db import IntegrityError, connection, transaction

from results.models import FinalLabel, Lease
from results.selectors.changes import count_label_changes
from results.selectors.final_labels import count_final_changes
from results.services.final_labels import Decision, Settled, reopen_final_labels, settle_pair
from results.services.leases import take_lease
from results.services.reports import count_final_changes_since, is_stale, run_agreement
from results.services.scopes import Scope
from studies.models import Action, Dimension
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in

KEEP = Decision(
    grade=1,
    reason="It names the call, not the sequence.",
    decided_by="answerability",
    clause="procedural",
    cause="rubric_ambiguity",
    citation="different_readings",
)
DROP = Decision(grade=None, reason="No rule decides.", cause="chunking", citation="same_reading")


def settle(cast: Cast, decision: Decision = KEEP, *, shown: str = "", **fields) -> Settled:
    return settle_pair(
        pair=cast.pairs[0],
        member=fields.pop("member", cast.ada),
        rubric_version=cast.rubric,
        decision=decision,
        shown=shown,
        key=fields.pop("key", uuid.uuid4()),
    )


def test_a_final_label_records_what_why_by_whom_and_under_which_rubric(cast: Cast) -> None:
    outcome = settle(cast)
    assert outcome.kind == "recorded"
    final = FinalLabel.objects.get()
    assert (final.grade, final.decided_by.name, final.clause.name) == (
        1,
        "answerability",
        "procedural",
    )
    assert (final.cause, final.citation, final.reason) == (
        KEEP.cause,
        KEEP.citation,
        KEEP.reason,
    )
    assert (final.by, final.rubric_version, final.ended_at) == (cast.ada, cast.rubric, None)
    action = Action.objects.get(name="final_label.set")
    assert action.member == cast.ada
    assert action.data == {
        "grade": 1,
        "dropped": False,
        "reason": KEEP.reason,
        "decided_by": "answerability",
        "clause": "procedural",
        "cause": "rubric_ambiguity",
        "citation": "different_readings",
        "query_id": "q1",
        "doc_id": "q1-d1",
        "rubric_version": 1,
        "final_label": str(final.public_id),
    }


def test_a_final_label_changes_no_label_and_is_told_of_itself(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    report = run_agreement(cast.study)
    before = count_label_changes(cast.study, Scope())
    settle(cast)
    assert count_label_changes(cast.study, Scope()) == before
    assert not is_stale(report)
    assert count_final_changes_since(report) == 1
    page = " ".join(log_in(cast.lia).get("/studies/alpha/results/").content.decode().split())
    assert "1 final label was set or ended since: agreement is as it was" in page
    assert "changed since" not in page


def test_a_revision_ends_the_final_label_and_keeps_it(cast: Cast) -> None:
    first = settle(cast).final
    outcome = settle(cast, DROP, shown=str(first.public_id), member=cast.max)
    assert outcome.kind == "recorded"
    old, new = FinalLabel.objects.order_by("pk")
    assert (old.grade, old.ended_by) == (1, cast.max)
    assert old.ended_at is not None
    assert (new.is_dropped, new.ended_at) == (True, None)
    assert Action.objects.get(name="final_label.revised").data["before"]["grade"] == 1


def test_a_decision_on_what_was_settled_meanwhile_changes_nothing(cast: Cast) -> None:
    settle(cast)
    outcome = settle(cast, DROP, member=cast.uma)
    assert (outcome.kind, outcome.final.grade) == ("outdated", 1)
    assert FinalLabel.objects.count() == 1


def test_the_same_form_again_makes_no_second_final_label(cast: Cast) -> None:
    key = uuid.uuid4()
    assert settle(cast, key=key).kind == "recorded"
    assert settle(cast, key=key).kind == "repeated"
    assert settle(cast, DROP, key=key).kind == "outdated"
    assert FinalLabel.objects.count() == 1


def test_a_decision_frees_the_lease(cast: Cast) -> None:
    assert take_lease(cast.pairs[0].pk, cast.ada)
    assert not take_lease(cast.pairs[0].pk, cast.uma)
    settle(cast)
    assert not Lease.objects.exists()


def test_reopening_in_bulk_ends_each_and_logs_each(cast: Cast) -> None:
    finals = [make.make_final_label(pair, 2, by=cast.ada) for pair in cast.pairs[:3]]
    keys = [final.pk for final in finals]
    before = count_final_changes(cast.study)
    reopened = reopen_final_labels(
        study=cast.study, finals=keys, member=cast.max, reason="The rubric changed."
    )
    assert reopened == 3
    assert not FinalLabel.objects.filter(ended_at=None).exists()
    actions = Action.objects.filter(name="final_label.reopened")
    assert {action.data["doc_id"] for action in actions} == {"q1-d1", "q1-d2", "q1-d3"}
    assert {action.data["reopened_because"] for action in actions} == {"The rubric changed."}
    assert count_final_changes(cast.study) == before + 3
    again = reopen_final_labels(study=cast.study, finals=keys, member=cast.max, reason="Again.")
    assert again == 0


def test_final_labels_of_another_study_are_not_reopened(cast: Cast) -> None:
    foreign = make.make_final_label(cast.pairs[0], 2)
    assert (
        reopen_final_labels(
            study=cast.other_study, finals=[foreign.pk], member=cast.sid, reason="x"
        )
        == 0
    )


@pytest.mark.parametrize("change", ["grade = 2", "reason = 'other'", "ended_at = NULL"])
def test_the_database_refuses_to_change_a_final_label(cast: Cast, change: str) -> None:
    make.make_final_label(cast.pairs[0], 1)
    with (
        pytest.raises(IntegrityError, match="only ever ended"),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(f"UPDATE results_finallabel SET {change}")


def test_the_database_refuses_to_forget_a_final_label(cast: Cast) -> None:
    final = make.make_final_label(cast.pairs[0], 1)
    with pytest.raises(IntegrityError, match="only ever ended"), transaction.atomic():
        final.delete()


def test_the_database_allows_one_final_label_at_a_time(cast: Cast) -> None:
    make.make_final_label(cast.pairs[0], 1)
    with pytest.raises(IntegrityError, match="final_label_once"), transaction.atomic():
        make.make_final_label(cast.pairs[0], 2)


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ({"reason": ""}, "final_label_has_reason"),
        ({"cause": "bad luck"}, "final_label_cause_known"),
        ({"citation": "none"}, "final_label_citation_known"),
        ({"decided_by": None}, "final_label_names_what_decided"),
    ],
)
def test_the_database_refuses_half_a_decision(cast: Cast, fields: dict, rule: str) -> None:
    with pytest.raises(IntegrityError, match=rule), transaction.atomic():
        make.make_final_label(cast.pairs[0], 1, **fields)


def test_the_database_refuses_a_grade_of_another_rubric_version(cast: Cast) -> None:
    newer = make.make_rubric(cast.study, grades={0: "no", 1: "yes"})
    make.make_final_label(cast.pairs[0], 2, rubric_version=newer)
    with pytest.raises(IntegrityError, match="grade_on_scale"):
        connection.check_constraints()


def test_the_database_refuses_a_dimension_of_another_rubric_version(cast: Cast) -> None:
    newer = make.make_rubric(cast.study)
    foreign = Dimension.objects.filter(rubric_version=newer).first()
    FinalLabel.objects.create(
        pair=cast.pairs[0], grade=1, decided_by=foreign, rubric_version=cast.rubric, reason="x"
    )
    with pytest.raises(IntegrityError, match="dimension_of_version"):
        connection.check_constraints()

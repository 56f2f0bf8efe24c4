"""The gate of a real study: each line's facts as they are read, red and green again."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.db import connection
from django.db.models import OuterRef, Subquery
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotation.models import CarriedLabel, Judgment
from results.gate import KEYS
from results.models import AgreementTarget, FinalLabel, ReleaseReport
from results.services.exports import KINDS
from results.services.exports.kinds import ExportRequest, TextKind
from results.services.exports.manifest import Manifest
from results.services.exports.qrels import qrels_lines
from results.services.gate import GateRefused, override_gate, pass_gate, read_gate
from results.services.releases import list_old_scopes
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import Action, Pair, QueryClass, Round, Study
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import describe_json, judge
from tests.results.releasable import (
    REASON,
    calibrate,
    compute,
    list_codes,
    list_states,
    make_releasable,
    open_exports,
    plan,
)
from tests.results.silent import make_silent

# Three queries are too few to tell whether a class is a hole.
GREEN = dict.fromkeys(KEYS, "green") | {"holes": "warning"}
LIKE_BEN = [2, 1, 2, 0, 1, 2, 0, 1, 2]


@pytest.fixture
def study(cast: Cast) -> Study:
    return make_releasable(cast)


def test_a_study_that_is_ready_is_green_in_every_line_that_can_be_told(study: Study) -> None:
    assert list_codes(study, "stable") == {"steady"}
    assert list_states(study) == GREEN
    assert read_gate(study).state == "green"


def test_nothing_is_green_before_anything_was_computed(cast: Cast) -> None:
    green = {key for key, state in list_states(cast.study).items() if state == "green"}
    assert green == {"high_risk", "rubric"}
    assert list_codes(cast.study, "ties") == {"nothing_judged"}
    QueryClass.objects.filter(name="procedural").update(is_high_risk=True)
    assert list_codes(cast.study, "high_risk") == {"nothing_judged"}


def test_too_few_judged_queries_of_a_class(study: Study) -> None:
    QueryClass.objects.filter(name="factual").update(minimum_queries=2)
    assert list_codes(study, "queries") == {"too_few"}
    QueryClass.objects.filter(name="factual").update(minimum_queries=1)
    assert list_states(study) == GREEN


def test_a_new_label_makes_old_what_was_counted_and_computing_anew_sets_it_right(
    cast: Cast, study: Study
) -> None:
    judge(cast.main, cast.pairs, cast.uma, LIKE_BEN)
    assert list_codes(study, "queries") == {"measured_before"}
    assert list_codes(study, "holes") == {"diagnosed_before"}
    compute(study)
    assert list_states(study) == GREEN


def test_a_plan_for_others_makes_old_what_was_counted(cast: Cast, study: Study) -> None:
    first, second, _ = cast.main.round_queries.order_by("pk")
    for query, annotators in ((first, 3), (second, 1)):  # as many in all as before
        query.annotators = annotators
        query.save()
    assert list_codes(study, "queries") == {"measured_before"}
    compute(study)
    assert list_codes(study, "queries") == {"too_few"}


def test_who_joins_or_leaves_a_team_that_all_of_a_round_is_for_makes_old_what_was_counted(
    cast: Cast, study: Study
) -> None:
    cast.main.closed_at = None
    cast.main.save()
    cast.main.round_queries.update(annotators=None)
    cast.uma.roles = ["lead"]
    cast.uma.save()
    compute(study)
    assert list_states(study) == GREEN
    cast.uma.roles = ["lead", "annotator"]
    cast.uma.save()
    told = describe_json(study, "consensus-qrels")
    assert (told["gate_state"], told["counts"]["queries_exported"]) == ("red", 0)
    assert list_codes(study, "queries") == {"measured_before"}


def test_a_split_of_high_risk_without_a_final_label(cast: Cast, study: Study) -> None:
    judge(cast.main, cast.pairs, cast.uma, [2, 2, *LIKE_BEN[2:]])
    compute(study)
    assert {key for key, state in list_states(study).items() if state == "red"} == {"high_risk"}
    make.make_final_label(cast.pairs[1], 1)
    compute(study)
    assert list_states(study) == GREEN


def test_a_tie_without_a_final_label(cast: Cast, study: Study) -> None:
    Judgment.objects.filter(round=cast.main, pair=cast.pairs[4], annotator=cast.ben).update(grade=0)
    compute(study)
    red = {key for key, state in list_states(study).items() if state == "red"}
    assert red == {"ties", "queries"}
    make.make_final_label(cast.pairs[4], 1)
    compute(study)
    assert list_states(study) == GREEN


def test_an_open_hole_is_closed_by_labels_that_agree(db: None) -> None:
    study = make_silent()
    run_agreement(study)
    assert list_codes(study, "holes") == {"hole"}
    assert list_states(study)["holes"] == "red"
    of_ben = Judgment.objects.filter(annotator__name="ben", pair=OuterRef("pair"))
    of_ana = Judgment.objects.filter(annotator__name="ana")
    of_ana.filter(pair__query__query_class__name="procedural").update(
        grade=Subquery(of_ben.values("grade"))
    )
    run_agreement(study)
    assert list_codes(study, "holes") == {"no_hole"}
    assert list_states(study)["holes"] == "green"


def test_labels_that_were_not_carried_to_the_newest_rubric(cast: Cast, study: Study) -> None:
    newer = make.make_rubric(study, clauses={"answerability": {"procedural": ("procedural",)}})
    assert list_codes(study, "rubric") == {"labels_outside"}
    CarriedLabel.objects.bulk_create(
        CarriedLabel(judgment=label, rubric_version=newer)
        for label in Judgment.objects.filter(round=cast.main)
    )
    compute(study)
    assert list_states(study) == GREEN


def test_a_round_that_goes_on_under_an_earlier_rubric(cast: Cast, study: Study) -> None:
    Round.objects.filter(name="main").update(closed_at=None)
    make.make_rubric(study)
    assert "round_under_another" in list_codes(study, "rubric")


def test_a_final_label_that_the_newest_rubric_concerns(cast: Cast, study: Study) -> None:
    newer = make.make_rubric(study)
    assert "finals_concerned" in list_codes(study, "rubric")
    final = FinalLabel.objects.get()
    final.ended_at = timezone.now()
    final.save()
    make.make_final_label(cast.pairs[0], 2, rubric_version=newer)
    assert "finals_concerned" not in list_codes(study, "rubric")


def test_a_draft_of_the_next_rubric(study: Study) -> None:
    draft = make.make_rubric_draft(study)
    assert list_codes(study, "rubric") == {"draft_open"}
    draft.delete()
    assert list_states(study) == GREEN


def test_agreement_that_moved_between_the_last_two_calibrations(cast: Cast, study: Study) -> None:
    third = make.make_round(study, "cal-3", kind=Round.Kind.CALIBRATION, position=3)
    plan(third, cast.pairs[:4])
    judge(third, cast.pairs[:4], cast.ana, [0, 1, 2, 0])
    judge(third, cast.pairs[:4], cast.ben, [1, 1, 0, 0])
    third.closed_at = timezone.now()
    third.save()
    assert list_codes(study, "stable") == {"round_not_measured"}
    assert Scope(round="cal-3") in list_old_scopes(study)
    compute(study)
    assert list_codes(study, "stable") == {"moved"}
    calibrate(cast, "cal-4", [0, 1, 2, 0])
    compute(study)
    assert list_codes(study, "stable") == {"moved"}
    calibrate(cast, "cal-5", [0, 1, 2, 0])
    compute(study)
    assert list_states(study) == GREEN


def test_a_target_counts_at_once_and_without_a_new_report(study: Study) -> None:
    before = study.agreement_reports.get(scope=Scope().key).computed_at
    AgreementTarget.objects.update(at_least="0.90")
    assert list_codes(study, "targets") == {"target_missed"}
    AgreementTarget.objects.all().delete()
    assert list_codes(study, "targets") == {"no_target"}
    AgreementTarget.objects.create(study=study, weights="nominal", at_least="0.80")
    assert list_states(study) == GREEN
    assert study.agreement_reports.get(scope=Scope().key).computed_at == before


def test_labels_that_miss_the_target_turn_the_gate_red(cast: Cast, study: Study) -> None:
    judge(cast.main, cast.pairs, cast.uma, [0, 0, 1, 1, 2, 2, 1, 1, 0])
    compute(study)
    assert list_codes(study, "targets") == {"target_missed"}


def test_dropped_pairs_warn_and_then_turn_the_line_red(cast: Cast, study: Study) -> None:
    make.make_final_label(cast.pairs[4], None)
    compute(study)
    assert list_states(study) == GREEN | {"dropped": "warning"}
    make.make_final_label(cast.pairs[5], None)
    compute(study)
    assert list_states(study) == GREEN | {"dropped": "red"}
    FinalLabel.objects.filter(is_dropped=True).update(ended_at=timezone.now())
    compute(study)
    assert list_states(study) == GREEN


def in_rank_order(request: ExportRequest, manifest: Manifest) -> Iterator[str]:
    """Qrels as somebody would write them who reads the pool from its best rank on."""
    ranks = {
        (pair.query.external_id, pair.document.external_id): pair.pool_rank
        for pair in Pair.objects.select_related("query", "document")
    }
    lines = [line.split() for line in qrels_lines(request, manifest)]
    ordered = sorted(lines, key=lambda line: (line[0], -(ranks[line[0], line[2]] or 0)))
    return (" ".join(line) + "\n" for line in ordered)


def test_an_export_that_gives_a_ranking_away(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    kind = KINDS["consensus-qrels"]
    assert isinstance(kind, TextKind)
    monkeypatch.setitem(KINDS, kind.name, replace(kind, lines=in_rank_order))
    compute(study)
    assert list_codes(study, "exports") == {"ranking_by_order"}
    monkeypatch.setitem(KINDS, kind.name, kind)
    compute(study)
    assert list_states(study) == GREEN


def test_passing_is_logged_and_holds_until_something_changes(cast: Cast, study: Study) -> None:
    pass_gate(study=study, member=cast.lia, reason=REASON)
    action = Action.objects.get(name="gate.passed")
    assert (action.member, action.data["reason"]) == (cast.lia, REASON)
    assert action.data["lines"] == GREEN
    told = describe_json(study, "consensus-qrels")
    assert told["gate_state"] == "passed"
    assert told["gate_passed"]["by"] == "lia"
    assert told["gate_passed"]["reason"] == REASON
    assert {row["line"]: row["state"] for row in told["gate_lines"]} == GREEN
    judge(cast.main, cast.pairs, cast.uma, LIKE_BEN)
    compute(study)
    told = describe_json(study, "judgments")
    assert (told["gate_state"], told["gate_passed"]) == ("green", None)


def test_passing_holds_while_all_that_the_lines_look_at_is_as_it_was(
    cast: Cast, study: Study
) -> None:
    pass_gate(study=study, member=cast.lia, reason=REASON)
    targets, risky = AgreementTarget.objects.all(), QueryClass.objects.filter(name="procedural")
    for rows, change, back in (
        (targets, {"at_least": "0.10"}, {"at_least": "0.60"}),
        (targets, {"weights": "linear"}, {"weights": "nominal"}),
        (risky, {"is_high_risk": False}, {"is_high_risk": True}),
        (risky, {"minimum_queries": 0}, {"minimum_queries": 1}),
    ):
        assert read_gate(study).state == "passed"
        rows.update(**change)
        assert read_gate(study).state != "passed", change
        rows.update(**back)
    calibrate(cast, "cal-3", [0, 1, 2, 0])
    compute(study)
    assert read_gate(study).state == "green"


def test_a_red_gate_is_not_passed_and_a_green_one_not_overridden(cast: Cast, study: Study) -> None:
    with pytest.raises(GateRefused):
        override_gate(study=study, member=cast.lia, reason=REASON)
    make.make_rubric_draft(study)
    with pytest.raises(GateRefused):
        pass_gate(study=study, member=cast.lia, reason=REASON)
    assert not Action.objects.filter(name__startswith="gate.").exists()


def test_a_reason_holds_for_the_lines_that_were_red_and_not_for_another(
    cast: Cast, study: Study
) -> None:
    draft = make.make_rubric_draft(study)
    assert read_gate(study).asks_for_reason
    open_exports(cast.lia)
    gate = read_gate(study)
    assert not gate.asks_for_reason
    told = describe_json(study, "beir")
    assert (told["gate_state"], told["gate_override"]["reason"]) == ("red", REASON)
    QueryClass.objects.update(minimum_queries=5)
    assert read_gate(study).asks_for_reason
    assert describe_json(study, "beir")["gate_override"] is None
    QueryClass.objects.update(minimum_queries=1)
    draft.delete()
    assert read_gate(study).state == "green"


def test_a_reason_ends_once_its_line_was_green_in_between(cast: Cast, study: Study) -> None:
    draft = make.make_rubric_draft(study)
    open_exports(cast.lia)
    assert not read_gate(study).asks_for_reason
    draft.delete()
    for _ in range(2):
        assert read_gate(study).state == "green"
    ended = Action.objects.get(name="gate.override_ended")
    assert ended.data == {"causes": ["rubric draft_open number=1"]}
    make.make_rubric_draft(study)
    assert read_gate(study).asks_for_reason


def test_a_reason_ends_once_the_gate_was_passed(cast: Cast, study: Study) -> None:
    draft = make.make_rubric_draft(study)
    open_exports(cast.lia)
    draft.delete()
    pass_gate(study=study, member=cast.lia, reason=REASON)
    make.make_rubric_draft(study)
    assert read_gate(study).asks_for_reason


def test_a_reason_is_for_what_was_computed_and_found(cast: Cast, study: Study) -> None:
    ReleaseReport.objects.all().delete()
    make.make_rubric_draft(study)
    with pytest.raises(GateRefused):
        open_exports(cast.lia)
    compute(study)
    open_exports(cast.lia)
    for pair in cast.pairs[3:6]:
        make.make_final_label(pair, None)
    gate = read_gate(study)
    assert (list_codes(study, "dropped"), gate.asks_for_reason) == ({"measured_before"}, False)
    compute(study)
    assert read_gate(study).asks_for_reason
    open_exports(cast.lia)
    assert not read_gate(study).asks_for_reason


def test_the_gate_is_read_by_few_queries_however_large_the_study(cast: Cast, study: Study) -> None:
    def count() -> int:
        read_gate(study)
        with CaptureQueriesContext(connection) as queries:
            read_gate(study)
        return len(queries)

    before = count()
    for number in range(6):
        query = make.make_query(study, f"more{number}", query_class=f"class{number}")
        pair = make.make_pair(query)
        judge(cast.main, [pair], cast.ana, [0])
        judge(cast.main, [pair], cast.ben, [2])
        make.make_final_label(pair, 1)
    assert count() <= before

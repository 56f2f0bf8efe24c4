"""The gate: what turns each of its lines red, and what green. Nothing else moves with it."""

from dataclasses import replace
from typing import Any

import pytest

from results.gate import KEYS, is_open, judge_gate, list_red, name_causes
from results.gate_facts import (
    ClassFacts,
    ExportFacts,
    Facts,
    RoundFacts,
    RubricFacts,
    TargetFacts,
    UntoldFacts,
    take_as_computed,
)
from results.gate_wording import TITLES, say

POLICY = ClassFacts("policy", is_high_risk=True, minimum=0, judged=10, splits=4, open_splits=0)
HOW_TO = ClassFacts("how-to", is_high_risk=False, minimum=3, judged=3, splits=2, open_splits=1)
OTHER = ClassFacts("other", is_high_risk=False, minimum=0, judged=0, splits=9, open_splits=9)
FIRST = RoundFacts("calibration-1", "current", kappa=0.60, alpha=0.70, split_rate=0.20)
SECOND = RoundFacts("calibration-2", "current", kappa=0.70, alpha=0.61, split_rate=0.15)
LITTLE = UntoldFacts("other", pairs=9, splits=2, more_pairs=30, more_rest_pairs=4)

GREEN = Facts(
    measured="current",
    diagnosed="current",
    is_judged=True,
    queries_judged=13,
    classes=[POLICY, HOW_TO, OTHER],
    rounds=[FIRST, SECOND],
    rubric=RubricFacts(2, labels_carried=7),
    holes=(),
    untold=(),
    open_ties=0,
    ties=3,
    targets=[TargetFacts("ana", "ben", 0.71, 0.7, "pass")],
    dropped=1,
    dropped_share=0.049,
    exports=[ExportFacts("consensus-qrels", 40)],
)

# What differs from the green facts -> the one line that turns red, and the code it gives.
RED = [
    ({"classes": [replace(POLICY, judged=9), HOW_TO]}, "queries", "too_few"),
    ({"classes": [POLICY, replace(HOW_TO, judged=2)]}, "queries", "too_few"),
    ({"classes": [OTHER], "queries_judged": 9}, "queries", "too_few_in_all"),
    ({"classes": [replace(POLICY, open_splits=1), HOW_TO]}, "high_risk", "splits_open"),
    ({"open_ties": 1}, "ties", "ties_open"),
    ({"holes": ("how-to",)}, "holes", "hole"),
    ({"holes": ("how-to",), "untold": [LITTLE]}, "holes", "too_little_labelled"),
    ({"rubric": RubricFacts(None)}, "rubric", "no_rubric"),
    ({"rubric": RubricFacts(2, has_draft=True)}, "rubric", "draft_open"),
    ({"rubric": RubricFacts(2, proposals={"how-to": 1})}, "rubric", "clauses_asked_for"),
    ({"rubric": RubricFacts(2, other_rounds={"main": 1})}, "rubric", "round_under_another"),
    ({"rubric": RubricFacts(2, labels_outside=1)}, "rubric", "labels_outside"),
    ({"rubric": RubricFacts(2, finals_concerned=2)}, "rubric", "finals_concerned"),
    ({"rounds": [SECOND]}, "stable", "too_few_rounds"),
    ({"rounds": [FIRST, replace(SECOND, numbers="missing")]}, "stable", "round_not_measured"),
    ({"rounds": [replace(FIRST, numbers="old"), SECOND]}, "stable", "round_measured_before"),
    ({"rounds": [FIRST, replace(SECOND, kappa=0.71)]}, "stable", "moved"),
    ({"rounds": [FIRST, replace(SECOND, alpha=0.59)]}, "stable", "moved"),
    ({"rounds": [FIRST, replace(SECOND, split_rate=0.26)]}, "stable", "moved"),
    ({"rounds": [FIRST, replace(SECOND, kappa=None)]}, "stable", "undefined"),
    ({"targets": None}, "targets", "no_target"),
    ({"targets": []}, "targets", "nobody_compared"),
    (
        {"targets": [TargetFacts("ana", "ben", 0.69, 0.7, "fail")]},
        "targets",
        "target_missed",
    ),
    (
        {"targets": [TargetFacts("ana", "ben", None, 0.7, "undefined")]},
        "targets",
        "target_undefined",
    ),
    (
        {
            "targets": [
                TargetFacts("ana", "ben", 0.71, 0.7, "pass"),
                TargetFacts("ana", "cas", None, 0.7, "undefined"),
            ]
        },
        "targets",
        "target_undefined",
    ),
    ({"dropped": 3, "dropped_share": 0.15}, "dropped", "dropped_many"),
    ({"dropped": 0, "dropped_share": None}, "dropped", "nothing_decided"),
    ({"exports": [ExportFacts("beir", 3, [("order", 2)])]}, "exports", "ranking_by_order"),
    ({"exports": [ExportFacts("beir", 3, [("columns", 1)])]}, "exports", "ranking_by_columns"),
    ({"exports": [ExportFacts("beir", 3, [("grade", 1)])]}, "exports", "ranking_by_grade"),
    ({"exports": [ExportFacts("beir", 3, [("iteration", 1)])]}, "exports", "ranking_by_iteration"),
    ({"exports": [ExportFacts("consensus-qrels", 0)]}, "exports", "nothing_exported"),
]
STILL_GREEN = [
    {"classes": [OTHER], "queries_judged": 10},
    {"classes": [POLICY, replace(HOW_TO, open_splits=2)]},
    {"ties": 0},
    {"rounds": [replace(FIRST, kappa=None), FIRST, SECOND]},
    {"rounds": [FIRST, replace(SECOND, split_rate=0.25)]},
    {"dropped": 0, "dropped_share": 0.0},
]


def states(facts: Facts) -> dict[str, str]:
    return {line.key: line.state for line in judge_gate(facts)}


def test_every_line_is_green_where_nothing_is_wrong() -> None:
    assert states(GREEN) == dict.fromkeys(KEYS, "green")
    assert is_open(judge_gate(GREEN))


@pytest.mark.parametrize(("changes", "key", "code"), RED)
def test_one_thing_that_is_wrong_turns_its_line_red_and_no_other(
    changes: dict[str, Any], key: str, code: str
) -> None:
    lines = judge_gate(replace(GREEN, **changes))
    assert list_red(lines) == [key]
    assert not is_open(lines)
    assert code in {one.code for line in lines if line.key == key for one in line.findings}


@pytest.mark.parametrize("changes", STILL_GREEN)
def test_what_is_within_the_rule_leaves_every_line_green(changes: dict[str, Any]) -> None:
    assert set(states(replace(GREEN, **changes)).values()) == {"green"}


@pytest.mark.parametrize("freshness", ["missing", "old"])
def test_numbers_that_are_missing_or_old_turn_red_what_rests_on_them(freshness: Any) -> None:
    assert list_red(judge_gate(replace(GREEN, measured=freshness))) == [
        "queries",
        "dropped",
        "exports",
    ]
    assert list_red(judge_gate(replace(GREEN, diagnosed=freshness))) == ["holes", "targets"]


def test_causes_keep_their_names_while_numbers_move_and_are_of_what_was_computed() -> None:
    def name(**changes: Any) -> list[str]:
        return name_causes(judge_gate(take_as_computed(replace(GREEN, **changes))))

    few = name(classes=[replace(POLICY, judged=3), HOW_TO], measured="old")
    assert few == name(classes=[replace(POLICY, judged=4), HOW_TO])
    assert few == ["queries too_few class=policy"]
    assert name(classes=[replace(POLICY, judged=3), HOW_TO], measured="missing") == []
    moved = name(rounds=[FIRST, replace(SECOND, kappa=0.71)])
    assert moved == ["stable moved measure=kappa from=calibration-1 to=calibration-2"]
    assert name(holes=("how-to",), untold=[LITTLE]) == ["holes hole class=how-to"]


@pytest.mark.parametrize(("share", "state"), [(0.05, "warning"), (0.149, "warning"), (0.15, "red")])
def test_dropped_pairs_warn_before_they_turn_the_line_red(share: float, state: str) -> None:
    lines = judge_gate(replace(GREEN, dropped_share=share))
    assert {line.key: line.state for line in lines}["dropped"] == state
    assert is_open(lines) == (state == "warning")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("untold", "sentence"),
    [
        (
            [LITTLE],
            "other: 2 of 9 pairs split, which is too little to tell. Have 30 more pairs labelled "
            "by two people.",
        ),
        (
            [replace(LITTLE, more_pairs=0)],
            "other: 2 of 9 pairs split, and there is too little to compare them with. Have 4 more "
            "pairs of other classes labelled by as many people.",
        ),
        (
            [replace(LITTLE, more_pairs=0, more_rest_pairs=0)],
            "other: 2 of 9 pairs split, more than elsewhere, and too few of the splits are known "
            "to rest on one reading. Adjudicate them: their causes tell what this line cannot.",
        ),
        (None, "The queries have no classes, so no hole can be looked for."),
    ],
)
def test_a_hole_that_cannot_be_told_of_is_no_green_line(
    untold: list[UntoldFacts] | None, sentence: str
) -> None:
    facts = replace(GREEN, untold=untold)
    line = next(line for line in judge_gate(facts) if line.key == "holes")
    assert (line.state, [say(found) for found in line.findings]) == ("warning", [sentence])
    assert is_open(judge_gate(facts))


@pytest.mark.parametrize("facts", [GREEN, *(replace(GREEN, **changes) for changes, _, _ in RED)])
def test_every_line_has_a_title_and_every_finding_a_sentence(facts: Facts) -> None:
    for line in judge_gate(facts):
        assert TITLES[line.key]
        assert line.findings
        for finding in line.findings:
            sentence = say(finding)
            assert "%(" not in sentence
            assert "None" not in sentence

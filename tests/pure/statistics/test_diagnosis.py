"""The diagnosis as a whole: which verdict, with which evidence, in which words."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from benchmarks.diagnosis_models import seed_figures
from results.statistics.diagnosis import ClassDiagnosis, Diagnosis, diagnose
from results.statistics.diagnosis.thresholds import APART_LEVEL, LEVEL
from results.statistics.diagnosis.verdict import VERDICTS, Need, decide, decide_study
from results.statistics.table import LabelTable
from tests.pure.statistics.diagnosis_tables import (
    AGREED,
    APART_FIRST_HIGHER,
    APART_SECOND_HIGHER,
    DIMENSIONS,
    FIRST_HIGHER,
    SECOND_HIGHER,
    UNCITED_FIRST_HIGHER,
    Label,
    Part,
    build_study,
    demo_table,
)
from tests.pure.statistics.tables import grid_table, kozynear_table
from tests.pure.statistics.test_purity import loaded_by

QUIET = Part("quiet", [FIRST_HIGHER] * 2 + [SECOND_HIGHER] * 2 + [AGREED] * 116, 24)


def judge(*parts: Part) -> Diagnosis:
    return diagnose(build_study(*parts), dimension_names=DIMENSIONS)


def class_named(found: Diagnosis, name: str) -> ClassDiagnosis:
    return next(row for row in found.classes if row.name == name)


def verdicts(found: Diagnosis) -> dict[str, str]:
    return {row.name: row.verdict for row in found.classes}


@pytest.mark.parametrize("per_query", range(1, 7))
def test_the_seeds_figures_are_a_hole_and_the_sentence_says_both_rates(per_query: int) -> None:
    """27 of 76 procedural pairs split one way, 4 of the other 124."""
    found = diagnose(seed_figures(per_query, np.random.default_rng(per_query)))
    assert found.holes == ("class 0",)
    assert found.verdict == "hole"
    advice = class_named(found, "class 0").advice
    assert "27 of 76 pairs of class class 0 split (36%), against 4 of 124 elsewhere (3%)" in advice
    assert "in 27 of 27 splits between them here" in advice
    assert "leniency cannot be excluded" in advice
    assert "write a clause" in advice


def test_the_demos_hole_and_its_merely_harder_class_are_both_named_rightly() -> None:
    found = diagnose(demo_table(), dimension_names=DIMENSIONS)
    assert found.holes == ("procedural",)
    assert verdicts(found) == {"factual": "noise", "policy": "slips", "procedural": "hole"}
    policy = class_named(found, "policy")
    assert (policy.citation.same_reading, policy.inside.splits) == (15, 16)
    assert "in no direction of their own" in policy.advice
    assert "adjudicate the 16 splits" in policy.advice
    assert not [row for row in found.leniency if row.lenient is not None]


def test_kozynears_lenient_annotator_is_leniency_and_no_hole(shared_data: Path) -> None:
    found = diagnose(kozynear_table(shared_data / "kozynear"))
    assert found.holes == ()
    assert class_named(found, "any").verdict == "noise"
    lenient = {(row.a, row.b): row.lenient for row in found.leniency}
    assert lenient[0, 1] == lenient[1, 2] == 1
    assert "B is higher than A in 156 of 156" in found.advice
    headline = found.sentences[0].text
    assert headline.startswith(
        "People differ in leniency, whatever the class (B > C, B > A, A > C)"
    )
    assert "agree on where each grade begins" in headline
    assert "the leniency that the whole study shows" in class_named(found, "any").advice
    assert "In campur, putra too little is labelled twice to tell." in found.advice


def test_a_class_that_is_merely_harder_is_slips() -> None:
    found = judge(
        Part("harder", [FIRST_HIGHER] * 14 + [SECOND_HIGHER] * 14 + [AGREED] * 52, 16), QUIET
    )
    assert verdicts(found) == {"harder": "slips", "quiet": "noise"}
    assert "adjudicate the 28 splits" in class_named(found, "harder").advice


def test_a_harder_class_with_a_lenient_annotator_is_no_hole() -> None:
    rest = Part("quiet", [FIRST_HIGHER] * 12 + [SECOND_HIGHER] + [AGREED] * 160, 24)
    found = judge(Part("harder", [FIRST_HIGHER] * 28 + [AGREED] * 52, 16), rest)
    harder = class_named(found, "harder")
    assert harder.verdict == "slips"
    assert harder.directions[0].compared_with_rest
    assert [row.lenient for row in found.leniency] == [0]


def test_a_class_that_runs_against_the_habit_of_its_annotators_is_a_hole() -> None:
    quiet, calm = (Part(name, [FIRST_HIGHER] * 7 + [AGREED] * 80, 16) for name in ("quiet", "calm"))
    found = judge(Part("hole", [SECOND_HIGHER] * 28 + [AGREED] * 52, 16), quiet, calm)
    assert found.holes == ("hole",)
    advice = class_named(found, "hole").advice
    assert "annotator 1 is higher than annotator 0 in 28 of 28 splits between them here" in advice
    assert "and in 0 of 14 elsewhere" in advice
    assert [row.lenient for row in found.leniency] == [0]


def of_duo(duo: int, pairs: list[tuple[Label, Label]]) -> list[tuple[Label | None, ...]]:
    """The same labels, of the first or of the second two of four annotators."""
    nobody = (None, None)
    return [(*pair, *nobody) if duo == 0 else (*nobody, *pair) for pair in pairs]


def duos(hole: int) -> Diagnosis:
    """Two duos who never judge together; the class "hole" divides the first in `hole` pairs, and
    only the second has enough splits elsewhere to be compared with."""
    both_ways = [FIRST_HIGHER, SECOND_HIGHER]
    first = of_duo(0, [FIRST_HIGHER] * hole + [AGREED] * (40 - hole))
    second = of_duo(1, both_ways * 4 + [AGREED] * 32)
    rest = of_duo(0, both_ways * 2 + [AGREED] * 56) + of_duo(1, both_ways * 6 + [AGREED] * 60)
    calm = of_duo(0, [AGREED] * 56) + of_duo(1, both_ways * 2 + [AGREED] * 60)
    return judge(Part("hole", first + second, 16), Part("rest", rest, 24), Part("calm", calm, 24))


def test_a_hole_that_divides_one_of_two_duos_is_neither_leniency_nor_lost() -> None:
    found = duos(14)
    assert found.holes == ("hole",)
    assert "in 14 of 14 splits between them here" in class_named(found, "hole").advice
    assert not any(row.lenient for row in found.leniency)


def test_a_direction_that_is_not_sure_is_told_and_is_no_slip() -> None:
    found = duos(8)
    row = class_named(found, "hole")
    assert row.apart_p is not None
    assert row.apart_p > APART_LEVEL
    assert min(each.p_value for each in row.directions) <= LEVEL
    assert row.verdict == found.verdict == "too_little_data"
    assert "in 8 of 8 splits between them here" in row.advice
    assert "not sure enough" in row.advice
    assert f"have {row.need.pairs} more pair" in row.advice
    assert 0 < row.need.pairs <= row.inside.pairs
    assert "hole split more than the rest, and whether the rubric is silent" in found.advice


def test_leniency_is_the_headline_where_no_class_asks_for_anything() -> None:
    parts = [Part(name, [FIRST_HIGHER] * 12 + [AGREED] * 160, 24) for name in ("quiet", "calm")]
    found = judge(*parts)
    assert found.verdict == "noise"
    assert found.sentences[0].code == "study_lenient"
    assert "(annotator 0 > annotator 1): compare how they use the grades" in found.advice
    for row in found.classes:
        assert "the leniency that the whole study shows is to be mended" in row.advice


def test_what_only_one_class_shows_is_no_leniency() -> None:
    """Without the class nothing is left of it, so it may as well be the class's own."""
    one_way = Part("one way", [FIRST_HIGHER] * 12 + [AGREED] * 160, 24)
    even = Part("even", [FIRST_HIGHER] * 2 + [SECOND_HIGHER] * 2 + [AGREED] * 100, 24)
    found = judge(one_way, even)
    assert found.leniency[0].p_value <= LEVEL
    assert found.leniency[0].lenient is None
    assert judge(one_way).leniency[0].lenient == 0


def test_who_is_higher_in_one_class_only_is_not_lenient() -> None:
    up = Part("up", [FIRST_HIGHER] * 40 + [AGREED] * 60, 20)
    down = Part("down", [SECOND_HIGHER] * 15 + [FIRST_HIGHER] * 5 + [AGREED] * 30, 20)
    even = judge(up, down, Part("even", [FIRST_HIGHER] * 20 + [AGREED] * 60, 20))
    assert even.holes == ()
    assert even.leniency[0].p_value < 0.05
    assert even.leniency[0].lenient is None


def test_a_trifle_is_no_hole_however_sure() -> None:
    """In 20,000 pairs everything differs: here splits by a third, then direction by 8 points."""
    rest = Part("rest", [FIRST_HIGHER] * 500 + [SECOND_HIGHER] * 500 + [AGREED] * 9000, 2000)
    more = Part("more", [FIRST_HIGHER] * 1330 + [AGREED] * 8670, 2000)
    found = class_named(judge(more, rest), "more")
    assert found.p_adjusted is not None
    assert found.p_adjusted < 0.01
    assert found.verdict == "noise"
    assert "less than one and a half times as often" in found.advice
    leaning = Part("more", [FIRST_HIGHER] * 1160 + [SECOND_HIGHER] * 840 + [AGREED] * 8000, 2000)
    found = class_named(judge(leaning, rest), "more")
    assert found.directions[0].p_value < 0.01
    assert found.verdict == "slips"


def test_citing_apart_makes_a_hole_where_no_direction_does() -> None:
    splits = [APART_FIRST_HIGHER] * 14 + [APART_SECOND_HIGHER] * 14
    found = judge(Part("hole", splits + [AGREED] * 52, 16), QUIET)
    hole = class_named(found, "hole")
    assert hole.verdict == "hole"
    assert (hole.citation.different_dimension, hole.citation.same_reading) == (28, 0)
    assert "28 of 28 differing labels whose citations are known cite different" in hole.advice


def test_one_dimension_with_two_clauses_is_citing_apart_too() -> None:
    splits = [((1, 0, 3), (0, 0, 4))] * 14 + [((0, 0, 3), (1, 0, -1))] * 14
    found = judge(Part("hole", splits + [AGREED] * 52, 16), QUIET)
    assert class_named(found, "hole").citation.different_reading == 28
    assert found.holes == ("hole",)


def test_missing_citations_are_no_evidence() -> None:
    splits = [((1, 0, -1), (0, -1, -1))] * 14 + [((0, -1, -1), (1, 1, -1))] * 14
    found = judge(Part("harder", splits + [AGREED] * 52, 16), QUIET)
    harder = class_named(found, "harder")
    assert harder.verdict == "too_little_data"
    assert (harder.citation.unknown, harder.citation.known) == (28, 0)
    assert "only 0 of its 28 splits are known to rest on one reading" in harder.advice
    assert "slips on harder queries" not in harder.advice
    assert "harder split more than the rest" in found.sentences[0].text


@pytest.mark.parametrize(("alike", "verdict"), [(14, "too_little_data"), (15, "slips")])
def test_slips_are_mostly_known_to_rest_on_one_reading(alike: int, verdict: str) -> None:
    """Citing apart as much as the rest does makes no hole, and no slips either."""
    same = [FIRST_HIGHER, SECOND_HIGHER] * 8
    apart = [APART_FIRST_HIGHER, APART_SECOND_HIGHER] * 7
    splits = same[:alike] + apart[: 28 - alike]
    rest = Part("rest", (same[:10] + apart[:10]) + [AGREED] * 300, 40)
    found = judge(Part("harder", splits + [AGREED] * 52, 16), rest)
    harder = class_named(found, "harder")
    assert harder.citation.same_reading == alike
    assert harder.verdict == verdict
    assert ("look like slips" in harder.advice) is (verdict == "slips")
    assert found.verdict == verdict


def test_a_direction_is_found_without_any_citation() -> None:
    found = judge(Part("hole", [UNCITED_FIRST_HIGHER] * 28 + [AGREED] * 52, 16), QUIET)
    assert found.holes == ("hole",)


def test_two_holes_do_not_excuse_each_other() -> None:
    def hole(name: str) -> Part:
        return Part(name, [FIRST_HIGHER] * 28 + [AGREED] * 52, 16)

    rest = Part("calm", [FIRST_HIGHER] * 6 + [SECOND_HIGHER] * 6 + [AGREED] * 300, 60)
    assert judge(hole("one"), hole("two"), rest).holes == ("one", "two")


def test_many_splits_in_two_queries_are_not_a_hole() -> None:
    found = judge(Part("lumpy", [FIRST_HIGHER] * 24 + [AGREED] * 2, 2), QUIET)
    assert found.holes == ()
    assert "queries" in class_named(found, "lumpy").advice


def test_a_hole_is_found_among_three_annotators_of_whom_one_reads_apart() -> None:
    apart = [((1, 0, -1), (1, 0, -1), (0, 0, -1))] * 20 + [((1, 0, -1),) * 3] * 40
    rest = Part("rest", [((1, 0, -1),) * 3] * 116 + [((1, 0, -1), (0, 0, -1), (0, 0, -1))] * 4, 24)
    hole = class_named(judge(Part("hole", apart, 16), rest), "hole")
    assert hole.verdict == "hole"
    (against_all,) = [row for row in hole.directions if row.b is None and row.a == 2]
    assert (against_all.a_higher, against_all.b_higher) == (0, 20)
    assert (
        "all annotators together have p < 0.001 against even odds, over 16 queries." in hole.advice
    )


def test_a_class_with_other_numbers_of_labels_has_nothing_to_be_compared_with() -> None:
    six = Part("six", [((1, 0, -1), (0, 0, -1), *[(1, 0, -1)] * 4)] * 40, 10)
    found = class_named(judge(six, QUIET), "six")
    assert (found.concentration.p_value, found.verdict) == (None, "too_little_data")
    assert found.need.rest_pairs > 0
    assert "no pair elsewhere has as many labels" in found.advice


def test_a_direction_without_more_splits_is_no_hole() -> None:
    rest = Part("rest", [FIRST_HIGHER] * 15 + [SECOND_HIGHER] * 15 + [AGREED] * 70, 24)
    found = class_named(
        judge(Part("level", [FIRST_HIGHER] * 20 + [AGREED] * 46, 12), rest), "level"
    )
    assert found.verdict == "noise"
    assert "That alone is no hole" in found.advice


def test_without_classes_or_labels_there_is_too_little_data() -> None:
    for found in (diagnose(grid_table([], scale=(0, 1))), judge(Part(None, [AGREED] * 9, 3))):
        assert (found.verdict, found.classes) == ("too_little_data", ())
    alone = judge(Part("alone", [FIRST_HIGHER] * 20 + [AGREED] * 40, 12))
    assert verdicts(alone) == {"alone": "too_little_data"}
    unlabelled = build_study(Part("a", [(AGREED[0], None)] * 9, 3), QUIET)
    found = class_named(diagnose(unlabelled, dimension_names=DIMENSIONS), "a")
    assert found.advice.startswith("No pair of class a has the labels of two people.")


def test_following_the_advice_to_label_more_is_enough() -> None:
    def small(times: int) -> Diagnosis:
        pairs = ([FIRST_HIGHER] + [AGREED] * 9) * times
        return judge(Part("small", pairs, 2 * times), QUIET)

    need = class_named(small(2), "small").need
    assert need.pairs > 0
    assert f"have {need.pairs} more pairs" in class_named(small(2), "small").advice
    assert not class_named(small(2 + -(-need.pairs // 10)), "small").need


def test_machines_stay_outside() -> None:
    people = demo_table()
    with_machine = LabelTable.from_columns(
        query=np.append(people.query, people.query[::2]),
        pair=np.append(people.pair, people.pair[::2]),
        annotator=np.append(people.annotator, np.full(len(people) // 2, 2)),
        grade=np.append(people.grade, np.zeros(len(people) // 2, dtype=int)),
        dimension=np.append(people.dimension, np.zeros(len(people) // 2, dtype=int)),
        scale=people.scale,
        annotators=(*people.annotators, "judge"),
        query_class=people.query_class,
        classes=people.classes,
    )
    found = diagnose(with_machine, dimension_names=DIMENSIONS, machine=frozenset({2}))
    assert found.to_json() == diagnose(people, dimension_names=DIMENSIONS).to_json()


def test_a_table_gives_one_diagnosis_in_any_order_of_rows() -> None:
    table = demo_table()
    order = np.random.default_rng(4).permutation(len(table))
    mixed = replace(
        table,
        **{
            name: getattr(table, name)[order]
            for name in ("query", "pair", "annotator", "grade", "dimension", "clause")
        },
    )
    first, second = (diagnose(each, dimension_names=DIMENSIONS) for each in (table, mixed))
    assert first.to_json() == second.to_json()


def test_exchanging_two_annotators_mirrors_the_directions_and_nothing_else() -> None:
    table = demo_table()
    mirrored = replace(table, annotator=1 - table.annotator, annotators=table.annotators[::-1])
    first, second = (
        class_named(diagnose(each, dimension_names=DIMENSIONS), "procedural")
        for each in (table, mirrored)
    )
    assert first.verdict == second.verdict
    assert first.advice == second.advice
    ours, theirs = first.directions[0], second.directions[0]
    assert (ours.a_higher, ours.b_higher) == (theirs.b_higher, theirs.a_higher)


def test_one_changed_label_moves_every_figure_that_it_must_move() -> None:
    table = demo_table()
    procedural = table.classes.index("procedural")
    of_class = table.query_class[table.query] == procedural
    agreed = np.flatnonzero(
        of_class[::2] & (table.grade[::2] == table.grade[1::2]) & (table.grade[::2] > 0)
    )
    row = 2 * int(agreed[0])
    assert table.annotators[table.annotator[row]] == "emil"
    grade, dimension = table.grade.copy(), table.dimension.copy()
    low, high = 0, int(grade[row])
    grade[row], dimension[row] = low, 2
    changed = replace(table, grade=grade, dimension=dimension)
    before, after = (diagnose(each, dimension_names=DIMENSIONS) for each in (table, changed))
    old, new = class_named(before, "procedural"), class_named(after, "procedural")
    assert new.inside.splits == old.inside.splits + 1
    assert new.concentration.ratio != old.concentration.ratio
    assert new.fisher_p != old.fisher_p
    assert new.directions[0].b_higher == old.directions[0].b_higher + 1
    assert new.citation.different_dimension == old.citation.different_dimension + 1
    between_old, between_new = (
        {(a, b): splits for a, b, splits in row.grades} for row in (old, new)
    )
    assert between_new[low, high] == between_old.get((low, high), 0) + 1
    assert new.advice != old.advice
    for name in ("factual", "policy"):
        assert class_named(after, name).rest.splits == class_named(before, name).rest.splits + 1
    assert after.decided_by["authority"] == before.decided_by["authority"] + 1
    assert after.decided_by_on_splits != before.decided_by_on_splits


def test_turning_a_third_of_the_splits_round_ends_the_hole() -> None:
    table = demo_table()
    low = np.minimum(table.grade[::2], table.grade[1::2])
    high = np.maximum(table.grade[::2], table.grade[1::2])
    turned = np.flatnonzero(low != high)[::2]
    grade = table.grade.copy()
    grade[2 * turned], grade[2 * turned + 1] = grade[2 * turned + 1], grade[2 * turned].copy()
    found = diagnose(replace(table, grade=grade), dimension_names=DIMENSIONS)
    assert found.holes == ()


def test_every_case_has_exactly_one_verdict() -> None:
    needs, both = (Need(0, 0, 0), Need(5, 1, 0)), (True, False)
    cases = {
        (concentrated, apart, alike, bool(need)): decide(
            concentrated=concentrated, apart=apart, alike=alike, need=need
        )
        for concentrated, apart, alike, need in product(both, both, both, needs)
    }
    holes = {case for case, verdict in cases.items() if verdict == "hole"}
    assert holes == {(True, True, *rest) for rest in product(both, both)}
    assert {case for case, verdict in cases.items() if verdict == "slips"} == {
        (True, False, True, False)
    }
    assert {case for case, verdict in cases.items() if verdict == "noise"} == {
        (False, apart, alike, False) for apart, alike in product(both, both)
    }
    assert set(cases.values()) == set(VERDICTS)


def test_a_study_has_the_gravest_verdict_of_its_classes() -> None:
    assert decide_study(VERDICTS, undecided=True) == "hole"
    assert decide_study(("noise", "slips", "too_little_data"), undecided=True) == "slips"
    assert decide_study(("too_little_data", "noise"), undecided=False) == "noise"
    assert decide_study(("too_little_data", "noise"), undecided=True) == "too_little_data"
    assert decide_study((), undecided=False) == "too_little_data"


def test_the_json_is_finite_and_holds_the_keys_of_the_report() -> None:
    found = diagnose(demo_table(), dimension_names=DIMENSIONS).to_json()
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    wanted = {"classes", "leniency", "study_verdict", "decided_by", "decided_by_on_splits"}
    assert wanted <= set(found)
    of_class = {
        *("class", "pairs", "splits", "rate", "rest_pairs", "rest_splits", "rest_rate", "ratio"),
        *("p_value", "p_adjusted", "fisher_p", "direction", "citation", "verdict", "advice"),
    }
    assert of_class <= set(found["classes"][0])
    assert found["decided_by"] == {"answerability": 261, "recency": 32, "authority": 15}
    assert found["decided_by_on_splits"][0] == ["answerability", "answerability", 28]
    assert found["classes"][2]["direction"][0]["b_higher"] == 18
    for row in found["classes"]:
        assert row["advice"] == " ".join(sentence["text"] for sentence in row["sentences"])


def test_a_dimension_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match="cites dimension 2, but only 1 are named"):
        diagnose(demo_table(), dimension_names=("answerability",))


def test_the_diagnosis_loads_no_django() -> None:
    assert loaded_by(["results.statistics.diagnosis"], ["numpy", "django"]) == ["numpy"]

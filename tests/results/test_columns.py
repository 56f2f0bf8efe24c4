"""What is read of a scope: which labels, under which codes."""

from typing import Any

import pytest

from results.services.columns import (
    UNSURE,
    ScopeLabels,
    build_table,
    leave_controls_out,
    read_labels,
)
from results.services.scopes import Scope, UnknownScope, find_rounds
from studies.models import ControlPair, Round
from tests import factories as make
from tests.cast import Cast
from tests.results.labelled import label, label_cast


def read(cast: Cast, scope: Scope | None = None, **options: Any) -> ScopeLabels:
    scope = scope or Scope()
    return read_labels(cast.study, find_rounds(cast.study, scope), rubric=scope.rubric, **options)


def grades_of(read: ScopeLabels, name: str) -> list[int]:
    """The annotator's grades in the order of the pairs; -1 is unsure."""
    code = read.vocabulary.annotator_names.index(name)
    rows = read.labels.annotator == code
    ordered = read.labels.pair[rows].argsort()
    places = read.labels.grade[rows][ordered].tolist()
    return [UNSURE if place == UNSURE else read.vocabulary.scale[place] for place in places]


def make_recheck(cast: Cast, **fields: Any) -> Round:
    return make.make_round(cast.study, "recheck-1", kind=Round.Kind.RECHECK, **fields)


def test_columns_hold_every_label_with_its_codes(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 2, clause="procedural")
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 0, decided_by="recency")
    found = read(cast)
    table = build_table(found)
    assert table.annotators == ("ana", "ben")
    assert table.scale == (0, 1, 2)
    assert table.grade.tolist() == [2, 0]
    assert found.vocabulary.dimension_names == ("answerability", "recency", "authority")
    assert table.dimension.tolist() == [0, 1]
    assert table.clause.tolist() == [0, -1]
    assert [table.classes[code] for code in table.query_class[table.query]] == ["procedural"] * 2


def test_unsure_is_an_outcome_but_no_row_of_the_table(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [1, None])
    found = read(cast)
    assert grades_of(found, "ana") == [1, UNSURE]
    assert len(build_table(found)) == 1


def test_unused_grades_stay_on_the_scale(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [1, 1])
    assert build_table(read(cast)).scale == (0, 1, 2)


def test_calibration_and_relabel_labels_are_not_current(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    for kind in (Round.Kind.CALIBRATION, Round.Kind.RELABEL):
        other = make.make_round(cast.study, kind, kind=kind)
        label(other, cast.ana, cast.pairs[:2], [2, 2])
    assert grades_of(read(cast), "ana") == [0]


def test_recheck_label_takes_the_place_of_the_one_it_renews(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:3], [0, 1, 2])
    label(make_recheck(cast), cast.ana, cast.pairs[1:2], [2])
    assert grades_of(read(cast), "ana") == [0, 2, 2]


def test_unsure_recheck_label_takes_the_place_of_a_grade(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    label(make_recheck(cast), cast.ana, cast.pairs[:1], [None])
    assert grades_of(read(cast), "ana") == [UNSURE]


def test_of_two_rechecks_the_later_counts(cast: Cast) -> None:
    second = make_recheck(cast, position=2)
    first = make.make_round(cast.study, "recheck-0", kind=Round.Kind.RECHECK, position=1)
    label(second, cast.ana, cast.pairs[:1], [2])
    label(first, cast.ana, cast.pairs[:1], [1])
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    assert grades_of(read(cast), "ana") == [2]


def test_named_round_holds_its_own_labels_only(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    calibration = make.make_round(cast.study, "calibration", kind=Round.Kind.CALIBRATION)
    make.RoundQuery.objects.create(round=calibration, query=cast.pairs[0].query, annotators=2)
    label(calibration, cast.ana, cast.pairs[:2], [2, 1])
    found = read(cast, Scope(round="calibration"))
    assert grades_of(found, "ana") == [2, 1]
    assert len(found.pool.planned) == 1


def test_rubric_version_narrows_the_labels(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    newer = make.make_rubric(cast.study)
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, 2, rubric_version=newer)
    assert grades_of(read(cast, Scope(rubric=2)), "ana") == [2]
    assert grades_of(read(cast), "ana") == [0, 2]


def test_a_dimension_keeps_its_code_over_rubric_versions(cast: Cast) -> None:
    newer = make.make_rubric(cast.study, dimensions=("authority", "answerability"))
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 0)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 0, rubric_version=newer)
    found = read(cast)
    assert found.vocabulary.dimension_names == ("authority", "answerability", "recency")
    assert build_table(found).dimension.tolist() == [1, 1]


def test_surplus_labels_stay_outside_unless_asked_for(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 2, is_surplus=True)
    found = read(cast)
    assert len(found.labels) == 1
    assert found.surplus == 1
    assert len(read(cast, with_surplus=True).labels) == 2


def test_control_pairs_stay_outside_unless_asked_for(cast: Cast) -> None:
    ControlPair.objects.create(pair=cast.pairs[0], grade=2, decided_by="answerability")
    hidden = make.make_pair(cast.pairs[0].query, pool_rank=None)
    ControlPair.objects.create(pair=hidden, grade=0, decided_by="recency")
    label(cast.main, cast.ana, [cast.pairs[0], cast.pairs[1], hidden], [2, 1, 0])
    found = read(cast)
    assert grades_of(leave_controls_out(found), "ana") == [1]
    # The one that a run returned is still part of the pool and of how far judging has come.
    assert grades_of(found, "ana") == [2, 1]
    assert grades_of(read(cast, with_controls=True), "ana") == [2, 1, 0]


def test_machines_are_told_apart(cast: Cast) -> None:
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    label(cast.main, machine, cast.pairs[:1], [0])
    label(cast.main, cast.ana, cast.pairs[:1], [0])
    found = read(cast)
    assert found.vocabulary.annotator_names == ("ana", "judge-llm")
    assert found.vocabulary.machine == {1}


def test_labels_of_another_study_never_enter(cast: Cast) -> None:
    label_cast(cast)
    make.make_rubric(cast.other_study)
    other = make.make_round(cast.other_study)
    pair = make.make_pair(make.make_query(cast.other_study))
    label(other, cast.sid, [pair], [0])
    assert len(read(cast).labels) == 18


def test_null_means_all_who_annotate_now(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=None)
    # ana, ben and uma hold the role.
    assert read(cast).pool.planned.tolist() == [3, 3, 3]


def test_all_counts_who_labelled_in_the_round_by_an_import(cast: Cast) -> None:
    cast.main.round_queries.update(annotators=None)
    for name, fields in (
        ("eva", {}),
        ("llm", {"is_machine": True}),
        ("left", {"is_active": False}),
    ):
        who = make.make_member(cast.study, name, with_account=False, **fields)
        label(cast.main, who, cast.pairs[:1], [1])
    late = make.make_member(cast.study, "late", with_account=False)
    make.make_judgment(cast.main, cast.pairs[0], late, 1, is_surplus=True)
    elsewhere = make.make_member(cast.study, "elsewhere", with_account=False)
    label(make_recheck(cast), elsewhere, cast.pairs[:1], [1])
    # eva joins ana, ben and uma, who hold the role.
    assert read(cast).pool.planned.tolist() == [4, 4, 4]


def test_a_study_without_labels_reads_as_empty(cast: Cast) -> None:
    assert len(build_table(read(cast))) == 0


@pytest.mark.parametrize(
    ("scope", "words"), [(Scope(round="nope"), "main"), (Scope(rubric=7), "versions: 1")]
)
def test_unknown_scope_names_what_there_is(cast: Cast, scope: Scope, words: str) -> None:
    with pytest.raises(UnknownScope, match=words):
        find_rounds(cast.study, scope)


@pytest.mark.parametrize(
    "scope", [Scope(), Scope(round="a b"), Scope(rubric=2), Scope(round="rubric:1", rubric=3)]
)
def test_scope_survives_its_key(scope: Scope) -> None:
    assert Scope.parse(scope.key) == scope


@pytest.mark.parametrize("key", ["", "everything", "rubric:x", "rubric:1round:a"])
def test_what_is_no_scope_is_refused(key: str) -> None:
    with pytest.raises(ValueError, match=r"not a scope|invalid literal"):
        Scope.parse(key)

"""The diff of two rubric versions, and that it concerns exactly the labels that it can."""

from dataclasses import replace
from math import inf
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studies.formats.records import (
    ClauseSpec,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    GradeSpec,
    RubricFile,
)
from studies.rubric_diff import LabelFacts, NamedGap, compare_rubrics, compare_words

CLASSES = ("procedural", "factual", "policy")
WORDING = st.sampled_from(["as it was", "as it is now"])

grade_scales = st.dictionaries(
    st.integers(0, 4),
    st.tuples(WORDING, st.booleans(), st.lists(st.just(ExampleSpec("positive")), max_size=1)),
    min_size=2,
    max_size=4,
).map(
    lambda found: [
        GradeSpec(value, f"grade {value}", definition, relevant, examples)
        for value, (definition, relevant, examples) in sorted(found.items())
    ]
)
clauses = st.dictionaries(
    st.sampled_from(["steps", "dated"]),
    st.tuples(st.sets(st.sampled_from(CLASSES)), WORDING, st.sampled_from([None, 0])),
    max_size=2,
).map(lambda found: [ClauseSpec(name, list(of), *rest) for name, (of, *rest) in found.items()])
dimensions = st.dictionaries(
    st.sampled_from(["answerability", "recency", "authority"]),
    st.tuples(WORDING, clauses),
    min_size=1,
).map(lambda found: [DimensionSpec(name, *parts) for name, parts in found.items()])
edge_cases = st.lists(st.builds(EdgeCaseSpec, st.just("stale"), WORDING), max_size=1) | st.just([])
rubrics = st.builds(RubricFile, grade_scales, dimensions, edge_cases, WORDING)
DIMENSIONS = st.sampled_from(["answerability", "recency", "authority"])
asked_for = st.frozensets(st.tuples(DIMENSIONS, st.sampled_from(["steps", "dated"])), max_size=1)
gaps = st.builds(NamedGap) | st.builds(
    NamedGap, st.frozensets(st.none() | DIMENSIONS, max_size=1), asked_for
)


@st.composite
def labelled_changes(draw: st.DrawFn) -> tuple[RubricFile, RubricFile, LabelFacts]:
    """Two versions, and a label that could be given under the first."""
    before = draw(rubrics)
    after = draw(rubrics | st.builds(replace, st.just(before), edge_cases=edge_cases))
    dimension = draw(st.none() | st.sampled_from(before.dimensions))
    cited = (
        draw(st.none() | st.sampled_from(dimension.clauses))
        if dimension and (dimension.clauses)
        else None
    )
    label = LabelFacts(
        grade=draw(st.none() | st.sampled_from([grade.value for grade in before.grades or []])),
        dimension=dimension.name if dimension else None,
        clause=cited.name if cited else None,
        query_class=draw(st.none() | st.sampled_from(CLASSES)),
        gap=draw(gaps),
    )
    return before, after, label


def what_bears_on(rubric: RubricFile, before: RubricFile, label: LabelFacts) -> dict[str, Any]:
    """All that a version says which the label could depend on."""
    grades = {grade.value: grade for grade in rubric.grades or []}
    scale = sorted(grade.value for grade in before.grades or [])
    low, high = -inf, inf
    if label.grade is not None:
        low = max((value for value in scale if value < label.grade), default=-inf)
        high = min((value for value in scale if value > label.grade), default=inf)
    return {
        # A grade beside the label's that is retired leaves the label where it is.
        "grades": {
            value: (grade.name, grade.definition, grade.examples)
            for value, grade in grades.items()
            if low <= value <= high
        },
        "tests": {
            one.name: one.test
            for one in rubric.dimensions
            if {label.dimension, *label.gap.dimensions} & {None, one.name}
        },
        "clauses": {
            (one.name, clause.name): (clause.text, clause.grade_when_failed)
            for one in rubric.dimensions
            for clause in one.clauses
            if not clause.classes or label.query_class in clause.classes
        },
        "cited": [
            (clause.text, clause.grade_when_failed)
            for one in rubric.dimensions
            for clause in one.clauses
            if (one.name, clause.name) == (label.dimension, label.clause)
        ],
        "gap": {
            (one.name, clause.name): (clause.text, clause.grade_when_failed, set(clause.classes))
            for one in rubric.dimensions
            for clause in one.clauses
            if one.name in label.gap.dimensions or (one.name, clause.name) in label.gap.clauses
        },
        "edge cases": rubric.edge_cases,
    }


def bears_otherwise(before: RubricFile, after: RubricFile, label: LabelFacts) -> bool:
    then, now = what_bears_on(before, before, label), what_bears_on(after, before, label)
    retired_beside = {
        value
        for value in then["grades"].keys() - now["grades"].keys()
        if label.grade is not None and value != label.grade
    }
    for value in retired_beside:
        del then["grades"][value]
    gained = {one.name for one in after.dimensions} - {one.name for one in before.dimensions}
    return then != now or bool(gained)


@given(labelled_changes())
def test_a_label_is_touched_if_and_only_if_the_diff_can_concern_it(
    change: tuple[RubricFile, RubricFile, LabelFacts],
) -> None:
    before, after, label = change
    assert compare_rubrics(before, after).concerns(label) == bears_otherwise(before, after, label)


@given(rubrics)
def test_equal_versions_have_no_diff_and_touch_nothing(rubric: RubricFile) -> None:
    diff = compare_rubrics(rubric, replace(rubric, note="another note"))
    assert diff.changes == ()
    assert not diff.concerns(LabelFacts(None, None, gap=NamedGap(frozenset({None}))))


@given(rubrics, rubrics)
def test_the_diff_backwards_swaps_before_and_after(one: RubricFile, other: RubricFile) -> None:
    there, back = compare_rubrics(one, other), compare_rubrics(other, one)
    swapped = {(str(c.after), str(c.before)) for c in back.changes}
    assert {(str(c.before), str(c.after)) for c in there.changes} == swapped


@given(st.text(alphabet="ab c,.分页\n") | st.text(), st.text(alphabet="ab c,.分页\n") | st.text())
def test_pieces_make_both_texts(before: str, after: str) -> None:
    pieces = compare_words(before, after)
    assert "".join(piece.text for piece in pieces if piece.edit != "added") == before
    assert "".join(piece.text for piece in pieces if piece.edit != "removed") == after


def test_words_are_compared_whole_and_unspaced_scripts_sign_by_sign() -> None:
    pieces = compare_words("every step, in order", "every step, in sequence")
    assert [(piece.edit, piece.text) for piece in pieces] == [
        ("kept", "every step, in "),
        ("removed", "order"),
        ("added", "sequence"),
    ]
    assert [piece.text for piece in compare_words("過時的文件", "過期的文件")] == [
        "過",
        "時",
        "期",
        "的文件",
    ]


def test_what_was_written_anew_is_read_one_after_the_other() -> None:
    pieces = compare_words("The test, as it was.", "Could anybody act on it.")
    assert [(piece.edit, piece.text) for piece in pieces] == [
        ("removed", "The test, as"),
        ("added", "Could anybody act on"),
        ("kept", " it"),
        ("removed", " was"),
        ("kept", "."),
    ]


BASE = RubricFile(
    grades=[
        GradeSpec(0, "irrelevant", "", relevant=False),
        GradeSpec(2, "relevant", "", relevant=True),
    ],
    dimensions=[
        DimensionSpec("answerability", "Can it be answered?"),
        DimensionSpec("recency", "?"),
    ],
    edge_cases=[],
)


def with_clause(*classes: str) -> RubricFile:
    clause = ClauseSpec("steps", list(classes), "Every step, in order.", 0)
    first, *others = BASE.dimensions
    return replace(BASE, dimensions=[replace(first, clauses=[clause]), *others])


STEPS = ("answerability", "steps")


def silent_in(dimension: str | None) -> NamedGap:
    return NamedGap(frozenset({dimension}))


def test_a_gap_is_concerned_by_the_test_of_its_dimension_and_by_no_grade() -> None:
    answerability, recency = BASE.dimensions
    retested = replace(BASE, dimensions=[replace(answerability, test="At once?"), recency])
    diff = compare_rubrics(BASE, retested)
    label = LabelFacts(0, "recency")
    silent = [silent_in("answerability"), silent_in(None), silent_in("recency"), NamedGap()]
    assert [diff.concerns(replace(label, gap=gap)) for gap in silent] == [True, True, False, False]
    wider = replace(BASE, grades=[*(BASE.grades or []), GradeSpec(5, "full", "", relevant=True)])
    assert not compare_rubrics(BASE, wider).concerns(replace(label, gap=silent[0]))


@pytest.mark.parametrize(
    ("label", "is_touched"),
    [
        (LabelFacts(2, "answerability", query_class="procedural"), True),
        (LabelFacts(2, "recency", query_class="procedural"), True),
        (LabelFacts(None, "recency", query_class="procedural"), True),
        (LabelFacts(2, "answerability", query_class="factual"), False),
        (LabelFacts(2, "answerability"), False),
        (LabelFacts(2, "recency", query_class="factual", gap=silent_in("answerability")), True),
        (LabelFacts(2, "answerability", query_class="factual", gap=silent_in("recency")), False),
        (LabelFacts(2, "answerability", query_class="factual", gap=silent_in(None)), False),
        (LabelFacts(2, "recency", gap=NamedGap(clauses=frozenset({STEPS}))), True),
        (LabelFacts(2, "recency", gap=NamedGap(clauses=frozenset({("recency", "steps")}))), False),
    ],
)
def test_a_new_clause_touches_the_pairs_of_its_class_and_the_gaps_it_answers(
    label: LabelFacts, is_touched: bool
) -> None:
    assert compare_rubrics(BASE, with_clause("procedural")).concerns(label) == is_touched


def test_a_clause_given_to_another_class_touches_only_that_class() -> None:
    diff = compare_rubrics(with_clause("procedural"), with_clause("procedural", "policy"))
    cites = LabelFacts(2, "answerability", "steps", "procedural")
    assert not diff.concerns(cites)
    assert diff.concerns(replace(cites, query_class="policy"))


def test_a_new_grade_touches_the_grades_beside_it() -> None:
    wide = replace(BASE, grades=[*(BASE.grades or []), GradeSpec(5, "full", "", relevant=True)])
    between = replace(wide, grades=[*(wide.grades or []), GradeSpec(1, "partial", "", True)])
    diff = compare_rubrics(wide, between)
    touched = [grade for grade in (0, 2, 5) if diff.concerns(LabelFacts(grade, "recency"))]
    assert touched == [0, 2]
    assert diff.concerns(LabelFacts(None, "recency"))


def test_what_counts_as_relevant_touches_no_label() -> None:
    irrelevant, relevant = BASE.grades or []
    diff = compare_rubrics(
        BASE, replace(BASE, grades=[replace(irrelevant, relevant=True), relevant])
    )
    assert [change.value for change in diff.grades] == [0]
    assert not diff.concerns(LabelFacts(0, "recency", gap=silent_in("recency")))

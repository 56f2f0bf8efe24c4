"""The rubric as laid out for judging: keys, and this class's clauses first."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotation.rubric_sheet import RESERVED_KEYS, choose_digits, choose_letters, get_rubric_sheet
from studies.formats.records import ClauseSpec
from studies.models import EdgeCase
from studies.services.rubrics import describe_rubric, publish_rubric
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in


@pytest.mark.parametrize(
    ("values", "keys"),
    [
        ([0, 1, 2, 3], ["0", "1", "2", "3"]),
        ([-1, 0, 1, 2], ["3", "0", "1", "2"]),
        ([0, 5, 10], ["0", "5", "1"]),
        (list(range(12)), [*"0123456789", "", ""]),
    ],
)
def test_a_grade_is_its_own_key_where_it_can_be(values: list[int], keys: list[str]) -> None:
    assert choose_digits(values) == keys


@given(st.lists(st.integers(-20, 40), unique=True, max_size=15))
def test_no_two_grades_share_a_key(values: list[int]) -> None:
    keys = [key for key in choose_digits(values) if key]
    assert len(keys) == len(set(keys))


@given(st.lists(st.text(max_size=12), unique=True, max_size=30))
def test_no_two_dimensions_share_a_key_or_take_a_reserved_one(names: list[str]) -> None:
    keys = [key for key in choose_letters(names) if key]
    assert len(keys) == len(set(keys))
    assert RESERVED_KEYS.isdisjoint(keys)


def test_clauses_of_the_querys_class_come_first(db: None) -> None:
    study = make.make_study()
    for name in ("policy", "procedural"):
        make.make_query_class(study, name)
    version = make.make_rubric(
        study,
        clauses={"answerability": {"dated": ("policy",), "steps": ("procedural",)}},
    )
    clauses = get_rubric_sheet(version.pk, "procedural").dimensions[0].clauses
    assert [(clause.name, clause.is_for_this_class) for clause in clauses] == [
        ("steps", True),
        ("dated", False),
    ]


def test_a_draft_is_laid_out_anew_each_time(cast: Cast) -> None:
    draft = make.make_rubric(cast.study, publish=False)
    assert get_rubric_sheet(draft.pk, "").edge_cases == ()
    EdgeCase.objects.create(rubric_version=draft, case="Stale", ruling="Zero.", position=0)
    assert len(get_rubric_sheet(draft.pk, "").edge_cases) == 1


def test_the_grade_that_a_clause_prescribes_shows_while_judging(cast: Cast) -> None:
    """In the rubric, and as the hint of the reading to choose."""
    rubric = describe_rubric(cast.rubric)
    clause = ClauseSpec("steps", ["procedural"], "Every step, in order.", 1)
    rubric.dimensions[1].clauses.append(clause)
    version = publish_rubric(study=cast.study, rubric=replace(rubric, note="Steps."))
    cast.study.rounds.update(rubric_version=version)
    page = log_in(cast.ana).get("/studies/alpha/judge/").content.decode()
    assert page.count("Grade when the test fails: 1 partial.") == 2

"""Final labels after a change of the rubric: listed are those it can concern, and no others."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from results.services.final_rechecks import EarlierFinal, select_concerned
from studies.formats.records import RubricFile
from studies.rubric_diff import LabelFacts, NamedGap, compare_rubrics
from tests.pure.test_rubric_diff import bears_otherwise, gaps, labelled_changes, rubrics


@given(st.lists(labelled_changes(), max_size=4))
def test_a_final_label_is_listed_if_and_only_if_its_change_can_concern_it(
    changes: list[tuple[RubricFile, RubricFile, LabelFacts]],
) -> None:
    """Each final label stands under a version of its own, and is compared from there."""
    finals = [EarlierFinal(key, key, facts) for key, (_, _, facts) in enumerate(changes)]
    diffs = {key: compare_rubrics(before, after) for key, (before, after, _) in enumerate(changes)}
    assert select_concerned(finals, diffs) == [
        key for key, change in enumerate(changes) if bears_otherwise(*change)
    ]


@given(rubrics, gaps)
def test_a_version_that_says_the_same_lists_nothing(rubric: RubricFile, gap: NamedGap) -> None:
    diffs = {1: compare_rubrics(rubric, replace(rubric, note="another note"))}
    dropped = EarlierFinal(7, 1, LabelFacts(None, None, gap=gap))
    assert select_concerned([dropped], diffs) == []

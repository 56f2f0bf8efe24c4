"""Rubrics and settings are read back as they were written, whatever they are called."""

import string
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from studies.formats.records import (
    EXAMPLE_KINDS,
    ROLES,
    ROUND_KINDS,
    ClassSpec,
    ClauseSpec,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    GradeSpec,
    PersonSpec,
    RoundSpec,
    RubricFile,
    StudyFile,
    TargetSpec,
)
from studies.formats.rubrics import read_rubric, write_rubric
from studies.formats.study import read_study_file, write_study_file

from .reading import good
from .values import distinct, ids, names, quick, solid_texts, texts

examples = st.builds(ExampleSpec, st.sampled_from(EXAMPLE_KINDS), texts, texts, texts)
classes = st.lists(names, max_size=3, unique=True)
clauses = st.builds(ClauseSpec, names, classes, solid_texts) | names.map(
    lambda name: ClauseSpec(name, [name], "Does it answer?")
)
dimensions = st.builds(
    DimensionSpec, names, solid_texts, distinct(clauses, lambda clause: clause.name)
)
GRADE_LISTS = st.none() | st.builds(
    lambda grade_names, definitions, listed: [
        GradeSpec(i - 1, name, definitions[i], i >= 2, listed if i == 1 else [])
        for i, name in enumerate(grade_names)
    ],
    st.lists(
        st.text(string.ascii_letters, min_size=1).filter(
            lambda name: name.lower() not in ("unsure", "dropped")
        ),
        min_size=2,
        max_size=4,
        unique=True,
    ),
    st.lists(texts, min_size=4, max_size=4),
    st.lists(examples, max_size=2),
)
rubrics = st.builds(
    RubricFile,
    GRADE_LISTS,
    distinct(dimensions, lambda dimension: dimension.name).filter(bool),
    st.lists(st.builds(EdgeCaseSpec, solid_texts, solid_texts), max_size=2),
    texts,
)


@quick
@given(rubrics)
def test_rubrics_read_back_equal(rubric: RubricFile) -> None:
    assert good(lambda s, **k: [read_rubric(s, **k)], write_rubric(rubric)) == [rubric]


def test_a_clause_that_prescribes_a_grade_reads_back_equal() -> None:
    clause = ClauseSpec("dated", ["policy"], "Is it in force?", grade_when_failed=0)
    rubric = RubricFile(None, [DimensionSpec("recency", "Still true?", [clause])], [], "")
    assert good(lambda s, **k: [read_rubric(s, **k)], write_rubric(rubric)) == [rubric]


small = st.integers(1, 1000)
rounds = st.builds(
    RoundSpec,
    names,
    st.sampled_from(ROUND_KINDS),
    st.none() | st.lists(ids, min_size=1, max_size=3, unique=True),
    st.none() | st.just("all") | small,
    st.none() | small,
    st.none() | st.datetimes(datetime(2000, 1, 1), timezones=st.just(UTC)),
)
people = st.builds(
    PersonSpec, names, st.lists(st.sampled_from(ROLES), min_size=1, max_size=4, unique=True)
)
studies = st.builds(
    StudyFile,
    study=st.from_regex(r"\A[a-z0-9]{1,9}([-_][a-z0-9]{1,9}){0,2}\Z"),
    title=solid_texts,
    description=texts,
    annotators_per_query=small,
    minimum_votes=small,
    ordering=st.sampled_from(["by_query", "mixed"]),
    depth=small,
    documents=st.sampled_from(["required", "optional"]),
    consensus=st.sampled_from(["plurality", "unanimous"]),
    settle_own_pairs=st.booleans(),
    judges_read_results=st.booleans(),
    target=st.none()
    | st.builds(
        TargetSpec,
        st.sampled_from(["nominal", "linear", "quadratic"]),
        st.decimals(0, 1, places=2),
    ),
    classes=distinct(
        st.builds(ClassSpec, names, texts, st.booleans(), st.none() | small), lambda c: c.name
    ),
    people=distinct(people, lambda person: person.name),
    rounds=distinct(rounds, lambda each: each.name).filter(bool),
)


@quick
@given(studies)
def test_study_files_read_back_equal(study: StudyFile) -> None:
    assert good(lambda s, **k: [read_study_file(s, **k)], write_study_file(study)) == [study]

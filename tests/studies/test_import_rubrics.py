"""Rubrics come in as published versions and read back as the files they came from."""

from io import BytesIO
from pathlib import Path

import pytest

from studies.formats.problems import Problems
from studies.formats.records import RubricFile
from studies.formats.rubrics import read_rubric
from studies.models import Action, RubricVersion, Study
from studies.services.imports import import_study, read_study
from studies.services.imports.report import ImportRefused
from studies.services.rubrics import (
    RubricRefused,
    complete_rubric,
    describe_rubric,
    publish_rubric,
    starter_rubric,
)
from tests import factories as make
from tests.factories import make_study
from tests.studies.study_folders import STUDY, help_study

RUBRIC = """
grades:
  - {value: 2, name: full}
  - value: 0
    name: none
    definition: Nothing of it.
    examples:
      - {kind: confusable, query: reset, document: A page on restarts., why: Close by.}
  - {value: 1, name: some}
dimensions:
  answerability:
    test: Can it be acted on?
    procedural_clause: Are the steps in order?
  recency:
    test: Is it current?
    clauses:
      dated: {classes: [policy, factual], text: Look for the date., grade_when_failed: 0}
edge_cases:
  - {case: It is cut off., ruling: Grade what is there.}
"""

# Queries name the other classes of its clauses.
DECLARED = f"{STUDY}classes:\n  - {{name: policy}}\n"


def as_rubric(text: str, version: int = 1) -> RubricFile:
    problems = Problems()
    rubric = read_rubric(
        BytesIO(text.encode()), file="rubric.yaml", problems=problems, version=version
    )
    problems.raise_if_any()
    assert rubric is not None
    return rubric


def test_the_starter_has_four_grades_and_a_test_for_each_of_three_dimensions() -> None:
    starter = starter_rubric()
    assert [grade.value for grade in starter.grades or []] == [0, 1, 2, 3]
    assert [dimension.name for dimension in starter.dimensions] == [
        "answerability",
        "recency",
        "authority",
    ]
    assert all(dimension.test.strip() for dimension in starter.dimensions)
    assert [grade.relevant for grade in starter.grades or []] == [False, True, True, True]


def test_dimensions_alone_take_the_grades_of_the_starter() -> None:
    rubric = complete_rubric(as_rubric("dimensions:\n  topic: {test: On topic?}\n"))
    assert rubric.grades == starter_rubric().grades
    assert [dimension.name for dimension in rubric.dimensions] == ["topic"]


@pytest.mark.django_db
def test_a_published_rubric_reads_back_as_it_was_written() -> None:
    study = make_study()
    version = publish_rubric(study=study, rubric=as_rubric(RUBRIC))
    told = describe_rubric(version)
    assert [grade.value for grade in told.grades or []] == [0, 1, 2]
    assert told.grades is not None
    assert told.grades[0].examples[0].kind == "confusable"
    dated = told.dimensions[1].clauses[0]
    assert (dated.classes, dated.grade_when_failed) == (["factual", "policy"], 0)
    assert study.query_classes.filter(name="procedural").exists()
    again = publish_rubric(study=study, rubric=told)
    assert (again.number, describe_rubric(again)) == (2, told)
    assert Action.objects.filter(name="rubric.published").count() == 2


@pytest.mark.django_db
def test_a_clause_cannot_prescribe_a_grade_that_the_starter_lacks() -> None:
    text = (
        "dimensions:\n  topic:\n    test: On topic?\n    clauses:\n"
        "      odd: {classes: [x], text: t, grade_when_failed: 9}\n"
    )
    with pytest.raises(RubricRefused, match="prescribes the grade 9"):
        publish_rubric(study=make_study(), rubric=as_rubric(text))


@pytest.mark.django_db
def test_versions_are_published_in_order_and_rounds_take_the_newest(tmp_path: Path) -> None:
    second = "note: Sharper.\ndimensions:\n  topic: {test: Truly on topic?}\n"
    rounds = (
        "rounds:\n  - {name: first, kind: main, rubric_version: 1}\n  - {name: main, kind: main}\n"
    )
    folder = help_study(tmp_path, study_yaml=DECLARED + rounds, rubric_yaml=RUBRIC)
    (folder / "rubric-2.yaml").write_text(second)
    import_study(read_study(folder))
    versions = RubricVersion.objects.order_by("number")
    assert [(v.number, v.note, v.published_at is not None) for v in versions] == [
        (1, "", True),
        (2, "Sharper.", True),
    ]
    used = versions[0].study.rounds.values_list("name", "rubric_version__number")
    assert set(used) == {("first", 1), ("main", 2)}


@pytest.mark.django_db
def test_a_later_version_leaves_rounds_under_the_one_they_have(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    import_study(read_study(folder))
    (folder / "rubric-2.yaml").write_text("note: n\ndimensions:\n  topic: {test: t}\n")
    report = import_study(read_study(folder))
    assert report.tally("rubrics").new == 1
    assert RubricVersion.objects.get(number=1).rounds.count() == 1


@pytest.mark.django_db
def test_a_later_version_without_grades_takes_those_of_the_version_before(tmp_path: Path) -> None:
    folder = help_study(tmp_path, study_yaml=DECLARED, rubric_yaml=RUBRIC)
    import_study(read_study(folder))
    (folder / "rubric-2.yaml").write_text("note: n\ndimensions:\n  topic: {test: t}\n")
    report = import_study(read_study(folder))
    first, second = RubricVersion.objects.order_by("number")
    assert describe_rubric(second).grades == describe_rubric(first).grades
    assert "rubric-2.yaml: without grades: it takes those of the version before" in [
        str(note) for note in report.notes
    ]
    assert import_study(read_study(folder)).new == 0


@pytest.mark.django_db
def test_the_report_tells_what_a_first_version_takes_from_the_starter(tmp_path: Path) -> None:
    folder = help_study(tmp_path, rubric_yaml="dimensions:\n  topic: {test: t}\n")
    report = import_study(read_study(folder))
    assert "rubric.yaml: without grades: it takes those of the graded 0–3 starter" in [
        str(note) for note in report.notes
    ]


@pytest.mark.django_db
def test_a_later_version_without_dimensions_takes_those_of_the_version_before(
    tmp_path: Path,
) -> None:
    folder = help_study(tmp_path, study_yaml=DECLARED, rubric_yaml=RUBRIC)
    import_study(read_study(folder))
    grades = "grades:\n  - {value: 0, name: none}\n  - {value: 1, name: some}\n"
    more = "  - {value: 2, name: full}\n  - {value: 3, name: perfect}\n"
    (folder / "rubric-2.yaml").write_text("note: n\n" + grades + more)
    report = import_study(read_study(folder))
    first, second = RubricVersion.objects.order_by("number")
    assert describe_rubric(second).dimensions == describe_rubric(first).dimensions
    assert len(describe_rubric(second).grades or []) == 4
    assert "rubric-2.yaml: without dimensions: it takes those of the version before" in [
        str(note) for note in report.notes
    ]
    assert import_study(read_study(folder)).new == 0


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("later", "reason"),
    [
        (
            "grades:\n  - {value: 0, name: some}\n  - {value: 2, name: full}\n",
            "The value 0 means “none” in rubric 1",
        ),
        (
            "grades:\n  - {value: 0, name: none}\n  - {value: 1, name: some}\n",
            "1 label, final ones counted, has the grade 2 “full”, which this version lacks.",
        ),
        (
            "dimensions:\n  recency: {test: Is it current?}\n",
            "1 label, final ones counted, was decided by “answerability”, which this version",
        ),
        (
            "dimensions:\n  answerability: {test: t, typo_clause: Steps?}\n",
            "the clause typo is for the class typo, which the study does not have",
        ),
        ("dimensions:\n  answerability: {test: ''}\n", "answerability: test is missing"),
        (
            "grades:\n  - {value: 1, name: a}\n  - {value: 1, name: b}\n",
            "the grade 1 stands twice",
        ),
        ("- 1\n", "the rubric must be a mapping"),
        (
            "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ngrades: *c\n",
            "aliases (*name) are refused",
        ),
    ],
)
def test_a_bad_later_version_is_refused_by_file_and_changes_nothing(
    tmp_path: Path, later: str, reason: str
) -> None:
    folder = help_study(tmp_path, study_yaml=DECLARED, rubric_yaml=RUBRIC)
    import_study(read_study(folder))
    study = RubricVersion.objects.get().study
    annotator = make.make_member(study, "ana", with_account=False)
    make.make_judgment(study.rounds.get(), study.pairs.first(), annotator, 2)
    text = later if later.startswith("-") else f"note: n\n{later}"
    (folder / "rubric-2.yaml").write_text(text)
    with pytest.raises(ImportRefused) as refused:
        import_study(read_study(folder))
    said = [str(problem) for problem in refused.value.report.problems.items]
    assert any("rubric-2.yaml" in one and reason in one for one in said), said
    assert RubricVersion.objects.count() == 1


@pytest.mark.django_db
def test_a_clause_for_a_class_that_nothing_names_is_refused_by_line(tmp_path: Path) -> None:
    """Of a new study too: there it is as likely to be misspelt."""
    clauses = (
        "dimensions:\n  topic:\n    test: On topic?\n    procedural_clause: Step by step?\n"
        "    polcy_clause: In force?\n    clauses:\n"
        "      dated:\n        text: The newest date.\n        classes: [factual, law]\n"
    )
    folder = help_study(tmp_path, rubric_yaml=clauses)
    with pytest.raises(ImportRefused) as refused:
        import_study(read_study(folder))
    said = [str(problem) for problem in refused.value.report.refusals]
    assert [one.partition(", which")[0] for one in said] == [
        "rubric.yaml:5: the dimension topic: the clause polcy is for the class polcy",
        "rubric.yaml:9: the dimension topic: the clause dated is for the class law",
    ]
    assert all("name it under classes in study.yaml" in one for one in said)
    assert not Study.objects.exists()
    (folder / "study.yaml").write_text(f"{STUDY}classes:\n  - {{name: polcy}}\n  - {{name: law}}\n")
    import_study(read_study(folder))
    assert Study.objects.get().query_classes.count() == 4

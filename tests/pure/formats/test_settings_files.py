"""`study.yaml`, rubrics, and which files a folder holds."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from studies.formats.folder import find_study_files
from studies.formats.problems import FormatError, Problems
from studies.formats.records import (
    ClassSpec,
    ClauseSpec,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    PersonSpec,
    RoundSpec,
    RubricFile,
    StudyFile,
)
from studies.formats.rubrics import read_rubric, write_rubric
from studies.formats.study import read_study_file

from .reading import notes, read, reasons

STUDY = """
study: search-2026
title: Help-centre search
annotators_per_query: 3
ordering: mixed
depth: 10
documents: optional
classes:
  - {name: procedural, high_risk: true, minimum_queries: 10, title: "How do I …"}
  - {name: no}
people:
  - {name: ana, roles: [annotator]}
  - {name: lia, roles: [lead, admin, adjudicator]}
rounds:
  - {name: main, kind: main}
  - {name: calibration-1, kind: calibration, queries: [q01, 01, 1e3], annotators_per_query: all}
  - name: again
    kind: recheck
    rubric_version: 2
    annotators_per_query: 2
    opens_at: 2026-05-04 09:00
"""

RUBRIC = """
grades:
  - {value: 0, name: irrelevant, definition: Nothing of use., relevant: false}
  - value: 1
    name: partial
    definition: Some of it.
    examples:
      - {kind: confusable, query: q, document: d, why: w}
  - {value: -1, name: harmful, definition: "Wrong."}
dimensions:
  answerability:
    test: >
      Could a reader answer
      from this alone?
    procedural_clause: Are the steps there?
  recency:
    test: Is it in force?
    clauses:
      dated_policies: {classes: [policy, law], text: By its date., grade_when_failed: 0}
edge_cases:
  - {case: Scattered over chunks, ruling: Grade each alone.}
"""


def test_a_study_file_reads_with_everything_it_says() -> None:
    study, problems = read(read_study_file, STUDY)
    assert not problems
    assert study == StudyFile(
        study="search-2026",
        title="Help-centre search",
        annotators_per_query=3,
        ordering="mixed",
        depth=10,
        documents="optional",
        classes=[ClassSpec("procedural", "How do I …", True, 10), ClassSpec("no")],
        people=[
            PersonSpec("ana", ["annotator"]),
            PersonSpec("lia", ["lead", "admin", "adjudicator"]),
        ],
        rounds=[
            RoundSpec("main", "main"),
            RoundSpec("calibration-1", "calibration", ["q01", "01", "1e3"], "all"),
            RoundSpec("again", "recheck", None, 2, 2, datetime(2026, 5, 4, 9, tzinfo=UTC)),
        ],
    )


def test_only_the_slug_is_required_and_the_rest_has_defaults() -> None:
    study, _ = read(read_study_file, "study: a\nclasses:\ndepth:\n")
    assert study == StudyFile("a", "a", "", 2, 1, "by_query", 5, "required")
    assert study.rounds == [RoundSpec("main", "main")]


@pytest.mark.parametrize("slug", ["A", "a b", "-a", "a--b", "a_", "ä", "x" * 61])
def test_a_slug_must_fit_into_an_address(slug: str) -> None:
    study, problems = read(read_study_file, f"study: '{slug}'\n")
    assert study is None
    assert problems.count == 1


def test_a_rubric_reads_with_its_clauses_short_and_long() -> None:
    rubric, problems = read(read_rubric, RUBRIC)
    assert not problems
    assert [(g.value, g.name, g.relevant) for g in rubric.grades] == [
        (0, "irrelevant", False),
        (1, "partial", True),
        (-1, "harmful", False),
    ]
    assert rubric.grades[1].examples == [ExampleSpec("confusable", "q", "d", "w")]
    assert rubric.dimensions == [
        DimensionSpec(
            "answerability",
            "Could a reader answer from this alone?\n",
            [ClauseSpec("procedural", ["procedural"], "Are the steps there?")],
        ),
        DimensionSpec(
            "recency",
            "Is it in force?",
            [ClauseSpec("dated_policies", ["policy", "law"], "By its date.", 0)],
        ),
    ]
    assert rubric.edge_cases == [EdgeCaseSpec("Scattered over chunks", "Grade each alone.")]
    assert read(read_rubric, write_rubric(rubric))[0] == rubric


def test_dimensions_alone_leave_the_grades_to_the_starter() -> None:
    rubric, problems = read(read_rubric, "dimensions:\n  fit: {test: It fits.}\n")
    assert not problems
    assert rubric == RubricFile(None, [DimensionSpec("fit", "It fits.")], [])


def test_grades_of_one_or_more_are_relevant_unless_the_file_says_otherwise() -> None:
    content = "grades: [{value: 0, name: a}, {value: 1, name: b}, {value: 2, name: c}]"
    (rubric,), _ = read(lambda s, **k: [read_rubric(s, **k)], content)
    assert [grade.relevant for grade in rubric.grades] == [False, True, True]


def test_short_clauses_are_written_in_their_short_form() -> None:
    clause = ClauseSpec("policy", ["policy"], "Is it dated?")
    rubric = RubricFile(None, [DimensionSpec("fit", "Does it fit?", [clause])], [])
    assert "    policy_clause: Is it dated?\n" in write_rubric(rubric)


def test_a_later_version_needs_a_note() -> None:
    content = "dimensions:\n  fit: {test: It fits.}\n"
    rubric, problems = read(lambda s, **k: [read_rubric(s, version=2, **k)], content)
    assert rubric == [None]
    assert reasons(problems) == ["file:1: version 2 needs a note saying what changed and why"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("- 1\n", "the rubric must be a mapping of keys to values"),
        ("grades: 3\n", "the rubric: grades must be a list"),
        ("dimensions: {fit: [a]}\n", "the dimension fit must be a mapping of keys to values"),
        ("dimensions: {fit: {test: [a]}}\n", "the dimension fit: test must be text"),
    ],
)
def test_what_has_the_wrong_shape_is_answered_once(content: str, reason: str) -> None:
    _, problems = read(lambda s, **k: [read_rubric(s, version=1, **k)], content)
    assert reasons(problems) == [f"file:1: {reason}"]


def test_a_later_version_that_is_a_list_is_not_asked_for_a_note() -> None:
    _, problems = read(lambda s, **k: [read_rubric(s, version=2, **k)], "- 1\n")
    assert len(reasons(problems)) == 1


def test_an_alias_bomb_is_refused_where_it_begins() -> None:
    levels = "".join(
        f"{b}: &{b} [{', '.join([f'*{a}'] * 9)}]\n"
        for a, b in zip("abcdefgh", "bcdefghi", strict=True)
    )
    rubric, problems = read(read_rubric, "a: &a [lol]\n" + levels)
    assert rubric is None
    assert reasons(problems) == ["file:2: not YAML that can be read: aliases (*name) are refused"]


def test_a_question_inside_braces_needs_no_quotes() -> None:
    (rubric,), problems = read(
        lambda s, **k: [read_rubric(s, **k)], "dimensions:\n  fit: {test: Does it fit?}\n"
    )
    assert not problems
    assert rubric.dimensions == [DimensionSpec("fit", "Does it fit?")]


@pytest.mark.parametrize("content", ["[" * 20_000, "a: " * 3 + "\n", "a: \x01\n", "a\n---\nb\n"])
def test_yaml_that_cannot_be_read_is_a_problem_not_a_crash(content: str) -> None:
    rubric, problems = read(read_rubric, content)
    assert rubric is None
    assert "not YAML that can be read" in problems.items[0].reason


def fill(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("x")
    return folder


def test_a_folder_tells_its_files_by_name(tmp_path: Path) -> None:
    fill(tmp_path, *(f"rubric-{version}.yaml" for version in range(2, 11)))
    fill(
        tmp_path, "study.yaml", "rubric.yaml", "queries.jsonl.gz", "corpus.jsonl", "corpus.csv",
        "documents/a.md", "images/b.png",
        "runs/b [d].txt", "runs/a.run.gz", "controls.csv", "judgments.csv", "final_labels.csv",
        "log.jsonl", "README.md",
    )  # fmt: skip
    problems = Problems()
    found = find_study_files(tmp_path, problems)
    assert not problems
    assert [version for version, _ in found.rubrics] == list(range(1, 11))
    assert [path.name for path in found.runs] == ["a.run.gz", "b [d].txt"]
    assert [path.name for path in found.corpora] == ["corpus.jsonl", "corpus.csv"]
    assert found.queries == tmp_path / "queries.jsonl.gz"
    assert found.documents_dir == tmp_path / "documents"
    assert found.images_dir == tmp_path / "images"
    assert (found.study, found.pool, found.state) == (tmp_path / "study.yaml", None, None)
    assert found.notes == ["README.md"]
    assert notes(problems) == ["README.md: passed over; it is no file of a study"]


@pytest.mark.parametrize(
    ("names", "reason"),
    [
        (["queries.tsv", "queries.csv"], "queries.tsv and queries.csv are both there; keep one"),
        (["pool.json", "pool.csv"], "pool.json and pool.csv are both there; keep one"),
        (["runs/a.txt", "pool.csv"], "runs and pool.csv are both there; a pool comes from"),
        (["rubric.yaml", "rubric-3.yaml"], "rubric-3.yaml: rubric-2.yaml is missing before it"),
        (["rubric-1.yaml"], "rubric-1.yaml: rename it: rubrics are rubric.yaml, rubric-2.yaml"),
        (["study.yml"], "study.yml: rename it: the settings are study.yaml"),
        (["runs/a.txt", "runs/a.run"], "runs/a.txt: runs/a.run gives the same run name, a"),
        (["runs/a .txt"], "runs/a .txt: the run's name: the name 'a ' begins or ends with"),
        (["study.yaml/x"], "study.yaml: this must be a file"),
        (["runs"], "runs: this must be a folder"),
    ],
)  # fmt: skip
def test_a_folder_that_leaves_a_choice_is_refused(
    tmp_path: Path, names: list[str], reason: str
) -> None:
    with pytest.raises(FormatError) as error:
        find_study_files(fill(tmp_path, *names))
    assert reason in str(error.value)


def test_an_exported_study_may_have_runs_beside_its_pool(tmp_path: Path) -> None:
    found = find_study_files(fill(tmp_path, "runs/a.txt", "pool.csv", "state.json"))
    assert found.pool == tmp_path / "pool.csv"
    assert len(found.runs) == 1

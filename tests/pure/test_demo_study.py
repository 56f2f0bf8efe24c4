"""The demo study: its files fit together, and its labels show what the demo is there to show."""

import csv
import json
import re
from datetime import date
from typing import Any

import pytest
import yaml

from benchmarks import make_demo
from benchmarks.make_demo import ANNOTATORS, STUDY, UNJUDGED, Labels, Pair, Query
from studies.formats.documents import read_corpus
from studies.formats.judgments import read_judgments_csv
from studies.formats.problems import Problems
from studies.formats.queries import read_queries
from studies.formats.records import RunFile
from studies.formats.runs import pool_runs, read_run

Derived = tuple[dict[str, str], dict[str, Labels], list[Query]]


@pytest.fixture(scope="module")
def derived() -> Derived:
    return make_demo.derive_files()


@pytest.fixture(scope="module")
def documents() -> dict[str, dict[str, Any]]:
    lines = (STUDY / "corpus.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    by_id = {row["_id"]: row for row in rows}
    assert len(by_id) == len(rows)
    return by_id


@pytest.fixture(scope="module")
def judgments() -> dict[str, list[dict[str, str]]]:
    def read(name: str) -> list[dict[str, str]]:
        text = (STUDY / "judgments" / f"{name}.csv").read_text(encoding="utf-8")
        return list(csv.DictReader(text.splitlines()))

    return {name: read(name) for name in ANNOTATORS}


@pytest.fixture(scope="module")
def rubric() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((STUDY / "rubric.yaml").read_text(encoding="utf-8"))
    return loaded


@pytest.fixture(scope="module")
def pool() -> set[Pair]:
    hits = [
        line.split(" ")
        for path in (STUDY / "runs").iterdir()
        for line in path.read_text(encoding="utf-8").splitlines()
    ]
    return {(hit[0], hit[2]) for hit in hits if int(hit[3]) <= make_demo.POOL_DEPTH}


def test_making_the_demo_again_gives_the_committed_bytes(derived: Derived) -> None:
    for name, content in derived[0].items():
        assert (STUDY / name).read_bytes() == content.encode(), name


def test_ids_hold_no_white_space_and_no_control_characters(
    derived: Derived, documents: dict[str, Any]
) -> None:
    ids = [*documents, *(query.query_id for query in derived[2])]
    assert all(re.fullmatch(r"[a-z0-9-]+", identifier) for identifier in ids)


def test_thirty_queries_come_in_the_three_classes_of_the_study(derived: Derived) -> None:
    study = yaml.safe_load((STUDY / "study.yaml").read_text(encoding="utf-8"))
    classes = {entry["name"] for entry in study["classes"]}
    assert len({query.query_id for query in derived[2]}) == 30
    assert {query.query_class for query in derived[2]} == classes


def test_every_pooled_pair_has_a_document_with_text(
    pool: set[Pair], documents: dict[str, Any]
) -> None:
    assert all(documents[doc_id]["text"] for _, doc_id in pool)


def test_a_superseded_document_is_older_than_the_one_that_replaces_it(
    documents: dict[str, Any],
) -> None:
    superseded = [row for row in documents.values() if "superseded_by" in row]
    assert len(superseded) >= 5
    for row in superseded:
        newer = documents[row["superseded_by"]]
        assert date.fromisoformat(row["effective_date"]) < date.fromisoformat(
            newer["effective_date"]
        )


def test_one_document_is_written_from_right_to_left(documents: dict[str, Any]) -> None:
    assert any(re.search(r"[\u0600-\u06ff]", row["text"]) for row in documents.values())


def test_the_readers_take_every_file_without_a_problem_or_a_note(pool: set[Pair]) -> None:
    problems = Problems()
    assert len(list(read_queries(STUDY / "queries.tsv", problems))) == 30
    assert len(list(read_corpus(STUDY / "corpus.jsonl", problems))) == 65
    for name in ANNOTATORS:
        with (STUDY / "judgments" / f"{name}.csv").open("rb") as stream:
            assert list(read_judgments_csv(stream, file=name, problems=problems))
    runs = [read_run_file(tag, problems) for tag in ("bm25", "ngram")]
    pooled = pool_runs(runs, make_demo.POOL_DEPTH)
    assert {(pair.query_id, pair.doc_id) for pair in pooled} == pool
    assert (problems.items, problems.notes) == ([], [])


def read_run_file(tag: str, problems: Problems) -> RunFile:
    with (STUDY / "runs" / f"{tag}.run").open("rb") as stream:
        return read_run(stream, file=f"{tag}.run", problems=problems)


def test_the_two_rankers_differ(derived: Derived) -> None:
    runs = [text for name, text in derived[0].items() if name.startswith("runs/")]
    first, second = ({tuple(line.split(" ")[:3:2]) for line in run.splitlines()} for run in runs)
    assert len(first & second) < 0.8 * len(first)


def test_both_annotators_judged_every_pair_of_the_same_queries(
    pool: set[Pair], judgments: dict[str, list[dict[str, str]]]
) -> None:
    expected = {pair for pair in pool if pair[0] not in UNJUDGED}
    for rows in judgments.values():
        assert len(rows) == len(expected)
        assert {(row["query_id"], row["doc_id"]) for row in rows} == expected


def test_every_class_keeps_queries_to_judge(derived: Derived) -> None:
    left = {query.query_class for query in derived[2] if query.query_id in UNJUDGED}
    assert left == {query.query_class for query in derived[2]}


def test_every_judgment_names_a_grade_and_a_dimension_of_the_rubric(
    judgments: dict[str, list[dict[str, str]]], rubric: dict[str, Any]
) -> None:
    grades = {str(grade["value"]) for grade in rubric["grades"]}
    for rows in judgments.values():
        assert {row["relevance"] for row in rows} <= grades
        assert {row["decided_by"] for row in rows} <= set(rubric["dimensions"])


def test_the_first_rubric_says_nothing_about_procedures(rubric: dict[str, Any]) -> None:
    assert all(set(dimension) == {"test"} for dimension in rubric["dimensions"].values())


def test_procedural_pairs_split_as_often_as_policy_but_one_way(derived: Derived) -> None:
    splits = make_demo.count_splits(derived[1], derived[2])
    procedural, policy, factual = (splits[name] for name in ("procedural", "policy", "factual"))
    assert min(procedural.rate, policy.rate) >= 10 * factual.rate
    assert procedural.first_higher == procedural.splits
    assert 2 * policy.first_higher == policy.splits


def test_slips_are_by_one_reading(derived: Derived) -> None:
    _, labels, queries = derived
    policy = {query.query_id for query in queries if query.query_class == "policy"}
    first, second = (labels[annotator] for annotator in ANNOTATORS)
    apart = [
        pair
        for pair, label in first.items()
        if pair[0] in policy
        and label.grade != second[pair].grade
        and label.dimension != second[pair].dimension
    ]
    assert apart == [("q25", "policy-retention-2022")]


def test_the_headline_agreement_looks_respectable(derived: Derived) -> None:
    assert 0.55 <= make_demo.kappa_of(derived[1]) <= 0.75


def test_a_pair_that_the_truth_table_misses_stops_the_generator(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    truth = make_demo.read_truth(make_demo.TRUTH)
    truth.pop(("q13", "concept-pickup-codes"))
    monkeypatch.setattr(make_demo, "read_truth", lambda path: truth)
    with pytest.raises(ValueError, match="concept-pickup-codes"):
        make_demo.derive_files()

"""Published data sets, as their owners wrote them."""

from collections import Counter
from pathlib import Path

import pytest

from studies.formats.documents import read_corpus
from studies.formats.judgments import read_judgments_csv
from studies.formats.pools import read_pool_json
from studies.formats.problems import Problems
from studies.formats.qrels import read_qrels
from studies.formats.queries import read_queries, read_queries_tsv
from studies.formats.records import RunFile
from studies.formats.runs import pool_runs, rank_hits, read_run


def load_run(path: Path, problems: Problems) -> RunFile:
    with path.open("rb") as stream:
        return read_run(stream, file=path.name, problems=problems)


def test_two_acordar_runs_pool_to_3891_pairs_at_depth_5(shared_data: Path) -> None:
    # 3,891 is the figure of the data set's recomputation by rank, ties kept as the file has them.
    problems = Problems()
    folder = shared_data / "acordar" / "runs"
    runs = [load_run(folder / name, problems) for name in ("BM25F.txt", "FSDM.txt")]
    pool = pool_runs(runs, depth=5)
    assert not problems
    assert len(pool) == len({(pair.query_id, pair.doc_id) for pair in pool}) == 3891
    by_query = Counter(pair.query_id for pair in pool)
    assert len(by_query) == 493
    assert {p.pool_rank for p in pool if p.query_id == "3"} == set(range(1, by_query["3"] + 1))


def test_the_run_whose_tag_holds_a_blank_keeps_its_tag(shared_data: Path) -> None:
    problems = Problems()
    run = load_run(shared_data / "acordar" / "runs" / "FSDM [d].txt", problems)
    assert not problems
    assert (run.name, run.tag, len(run.hits)) == ("FSDM [d]", "FSDM [d]", 4930)


def test_acordar_qrels_and_queries_read_whole(shared_data: Path) -> None:
    problems = Problems()
    with (shared_data / "acordar" / "qrels.txt").open("rb") as stream:
        grades = Counter(q.grade for q in read_qrels(stream, file="qrels", problems=problems))
    with (shared_data / "acordar" / "all_queries.txt").open("rb") as stream:
        queries = list(read_queries_tsv(stream, file="queries", problems=problems))
    assert not problems
    assert sum(grades.values()) == 10671
    assert set(grades) == {0, 1, 2}
    assert len(queries) == 493
    assert queries[0].text == "Antitrust Cases Pending"


@pytest.mark.parametrize(
    ("name", "hits", "repeats"),
    [("no-vector.run", 1274, 0), ("vector-2.run", 1350, 0), ("with-vector.run", 1350, 3)],
)
def test_icecat_runs_read_with_their_repeats_noted(
    shared_data: Path, name: str, hits: int, repeats: int
) -> None:
    problems = Problems()
    run = load_run(shared_data / "icecat" / name, problems)
    assert not problems
    assert len(run.hits) == hits
    assert sum("stands for the query" in note.text for note in problems.notes) == repeats
    assert sum(len(ranked) for ranked in rank_hits(run).values()) == hits


def test_icecat_documents_and_queries_read_with_their_metadata(shared_data: Path) -> None:
    problems = Problems()
    documents = list(read_corpus(shared_data / "icecat" / "docs.jsonl", problems))
    queries = list(read_queries(shared_data / "icecat" / "queries.tsv", problems))
    assert not problems
    assert len(documents) == 1558
    assert documents[0].text is None
    assert documents[0].metadata["brand"] == "Projecta"
    assert len(queries) == 137
    assert queries[0].context.startswith("I am looking for a screen")


def test_kozynear_reads_from_its_original_files(shared_data: Path) -> None:
    problems = Problems()
    folder = shared_data / "kozynear" / "original"
    queries = list(read_queries(folder / "queries.json", problems))
    with (folder / "annotation_pool.json").open("rb") as stream:
        pool = read_pool_json(stream, file="annotation_pool.json", problems=problems)
    with (folder / "annotations_annotator_B.csv").open("rb") as stream:
        judgments = list(read_judgments_csv(stream, file="B", problems=problems))
    assert not problems
    assert [str(note) for note in problems.notes] == [
        'queries.json:2: the key "metadata" is passed over'
    ]
    assert len(queries) == 30
    assert {q.query_class for q in queries} == {"putra", "putri", "campur", "any"}
    assert len(pool) == 900
    assert pool[0].doc_id == "mamikos-77209263"
    assert {(j.query_id, j.doc_id) for j in judgments} == {(p.query_id, p.doc_id) for p in pool}
    # The published label counts of annotator B (expected.json).
    assert Counter(j.relevance for j in judgments) == {"0": 351, "1": 314, "2": 235}


def test_kozynear_queries_read_the_same_from_tsv_and_json(shared_data: Path) -> None:
    problems = Problems()
    folder = shared_data / "kozynear"
    read = [
        read_queries(folder / name, problems) for name in ("queries.tsv", "original/queries.json")
    ]
    tsv, json = ([(q.query_id, q.text, q.query_class, q.context) for q in each] for each in read)
    assert tsv == json

"""Exports as the tools downstream read them.

ir_measures and pytrec_eval are called. The rules of the heavier ones are written down here as
they were found by trying: BEIR's loader, ranx, and the column rules of sentence-transformers.
"""

import csv
import io
import json
import zipfile

import ir_measures
import pytest
import pytrec_eval
from ir_measures import AP, nDCG

from results.services.exports import stream_export
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import export_bytes, export_lines, judge, judge_all

EXPECTED = {
    "q1": {"q1-d1": 2, "q1-d2": 1, "q1-d3": 0},
    "q2": {"q2-d1": 0, "q2-d2": 0, "q2-d3": 1},
}


@pytest.fixture
def judged(cast: Cast) -> Cast:
    judge_all(cast, ana=[2, 1, 0, 0, 0, 1, 1], ben=[2, 1, 0, 0, 0, 1, 0])
    return cast


def test_ir_measures_reads_the_qrels_and_scores_a_run(judged: Cast, tmp_path):
    path = tmp_path / "consensus.qrels"
    path.write_bytes(export_bytes(judged.study, "consensus-qrels"))
    qrels = list(ir_measures.read_trec_qrels(str(path)))
    assert {(q.query_id, q.doc_id): q.relevance for q in qrels} == {
        (query, doc): grade for query, docs in EXPECTED.items() for doc, grade in docs.items()
    }
    run = {"q1": {"q1-d1": 3.0, "q1-d2": 2.0}, "q2": {"q2-d1": 2.0, "q2-d3": 1.0}}
    scores = ir_measures.calc_aggregate([AP, nDCG @ 10], qrels, run)
    assert scores[AP] == pytest.approx((1 + 1 / 2) / 2)


def test_pytrec_eval_reads_the_qrels(judged: Cast):
    text = export_bytes(judged.study, "consensus-qrels").decode()
    assert pytrec_eval.parse_qrel(io.StringIO(text)) == EXPECTED


def test_pytrec_eval_reads_one_annotators_qrels(judged: Cast):
    text = export_bytes(judged.study, "annotator-qrels", annotator="ana").decode()
    assert pytrec_eval.parse_qrel(io.StringIO(text)) == EXPECTED


def test_ranx_finds_four_fields_without_blank_lines_in_the_qrels(judged: Cast):
    text = export_bytes(judged.study, "consensus-qrels").decode()
    assert text.endswith("\n")
    for line in text.removesuffix("\n").split("\n"):
        query, iteration, doc, grade = line.split()
        assert iteration == "0"
        assert int(grade) == EXPECTED[query][doc]


def load_beir(archive: zipfile.ZipFile) -> tuple[dict, dict, dict]:
    """What BEIR's GenericDataLoader makes of its folder, line by line as it does."""
    corpus, queries, qrels = {}, {}, {}
    for line in io.TextIOWrapper(archive.open("corpus.jsonl"), encoding="utf8"):
        item = json.loads(line)
        corpus[item.get("_id")] = {"text": item.get("text"), "title": item.get("title")}
    for line in io.TextIOWrapper(archive.open("queries.jsonl"), encoding="utf8"):
        item = json.loads(line)
        queries[item.get("_id")] = item.get("text")
    table = io.TextIOWrapper(archive.open("qrels/test.tsv"), encoding="utf-8")
    reader = csv.reader(table, delimiter="\t", quoting=csv.QUOTE_MINIMAL)
    next(reader)
    for row in reader:
        query_id, corpus_id, score = row[0], row[1], int(row[2])
        qrels.setdefault(query_id, {})[corpus_id] = score
    return corpus, {query_id: queries[query_id] for query_id in qrels}, qrels


def test_beirs_loader_finds_corpus_queries_and_qrels(judged: Cast):
    with zipfile.ZipFile(io.BytesIO(export_bytes(judged.study, "beir"))) as archive:
        assert archive.testzip() is None
        corpus, queries, qrels = load_beir(archive)
    assert qrels == EXPECTED
    assert queries == {"q1": "what about q1?", "q2": "what about q2?"}
    assert corpus["q1-d1"] == {"title": "A title", "text": "Some text."}
    assert len(corpus) == 9


def test_training_pairs_are_grouped_by_query_in_pool_rank_order(cast: Cast):
    query = make.make_query(cast.study, "q0")
    pairs = [
        make.make_pair(query, make.make_document(cast.study, doc), pool_rank=rank)
        for doc, rank in [("a", 4), ("b", 3), ("c", 2), ("d", 1)]
    ]
    for annotator in (cast.ana, cast.ben):
        judge(cast.main, pairs, annotator, [2, 1, 0, 0])
    assert [json.loads(line) for line in export_lines(cast.study, "training-pairs")] == [
        {"query_id": "q0", "positives": ["b", "a"], "hard_negatives": ["d", "c"]}
    ]


def test_training_pairs_hold_the_queries_of_the_consensus_qrels(judged: Cast):
    judge(judged.main, judged.pairs[7:], judged.ana, [0, 0])
    judge(judged.main, judged.pairs[7:], judged.ben, [0, 0])
    judge(judged.main, judged.pairs[6:7], judged.uma, [0])
    pairs = [json.loads(line) for line in export_lines(judged.study, "training-pairs")]
    qrels = {line.split()[0] for line in export_lines(judged.study, "consensus-qrels")}
    assert [pair["query_id"] for pair in pairs] == sorted(qrels) == ["q1", "q2", "q3"]
    # A query without a positive is there all the same.
    assert pairs[2] == {
        "query_id": "q3",
        "positives": [],
        "hard_negatives": ["q3-d1", "q3-d2", "q3-d3"],
    }


def test_triplets_have_the_columns_that_training_goes_by(judged: Cast):
    lines = export_lines(judged.study, "training-pairs", with_texts=True)
    triplets = [json.loads(line) for line in lines]
    assert len(triplets) == 2 * 1 + 1 * 2
    for triplet in triplets:
        assert list(triplet) == ["query", "positive", "negative"]
        assert all(isinstance(text, str) and text for text in triplet.values())
    assert triplets[0] == {
        "query": "what about q1?",
        "positive": "A title Some text.",
        "negative": "A title Some text.",
    }


def test_documents_without_a_text_are_in_no_triplet(cast: Cast):
    query = make.make_query(cast.study, "q0")
    bodies = {"a": "good", "b": None, "c": "bad", "d": ""}
    pairs = [
        make.make_pair(query, make.make_document(cast.study, doc, text=text, title=""))
        for doc, text in bodies.items()
    ]
    for annotator in (cast.ana, cast.ben):
        judge(cast.main, pairs, annotator, [1, 1, 0, 0])
    stream = stream_export(cast.study, "training-pairs", with_texts=True)
    assert [json.loads(line) for line in b"".join(stream).splitlines()] == [
        {"query": "what about q0?", "positive": "good", "negative": "bad"}
    ]
    assert stream.manifest.counts["triplets"] == 1
    assert stream.manifest.counts["pairs_without_text"] == 2

"""Make the derived files of the demo study: two runs and the labels of two simulated annotators.

The product, its documents and the queries are written by hand and lie in
``studies/demo/study``. So is ``demo_truth.tsv`` beside this script: a grade and the deciding
dimension for every pooled pair. From these the script computes

* ``runs/bm25.run``: BM25 over words, the title counted several times;
* ``runs/ngram.run``: cosine similarity of TF-IDF weights over character n-grams;
* ``judgments/wanda.csv`` and ``judgments/emil.csv``: what two people would have labelled who
  read "how do I" differently and otherwise make a slip now and then, on questions of policy often.

Everything is a function of the files and of ``SEED``: a second run writes the same bytes.

Run it with ``python -m benchmarks.make_demo``.
"""

import csv
import io
import json
import math
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS, TfidfVectorizer
from sklearn.metrics import cohen_kappa_score

STUDY = Path(__file__).resolve().parent.parent / "studies" / "demo" / "study"
TRUTH = Path(__file__).resolve().with_name("demo_truth.tsv")

SEED = 20250914
RUN_DEPTH = 10
POOL_DEPTH = 5
TITLE_WEIGHT = 3
BM25_K1 = 1.2
BM25_B = 0.75

ANNOTATORS = ("wanda", "emil")
# Left for whoever opens the demo: some queries of every class have no label yet.
UNJUDGED = frozenset({"q03", "q04", "q11", "q16", "q30"})
# How many pairs of a class carry a slip. Policy questions are merely harder, as it is hard to see
# how much of an answer a rule holds: many slips, in both directions, by one reading. The procedural
# class needs none, its splits come from the two readings.
SLIPS = {"factual": 1, "policy": 15}

Pair = tuple[str, str]
Ranking = list[tuple[str, float]]


@dataclass(frozen=True)
class Document:
    """The parts of a document that the rankers look at."""

    doc_id: str
    title: str
    text: str


@dataclass(frozen=True)
class Query:
    """One line of ``queries.tsv``; ``context`` is for judges, no ranker sees it."""

    query_id: str
    text: str
    query_class: str
    context: str


@dataclass(frozen=True)
class Label:
    """One label: a grade of the rubric (0 to 3), the deciding dimension, a note or nothing."""

    grade: int
    dimension: str
    note: str = ""


@dataclass(frozen=True)
class Truth:
    """What the rubric's authors would say about a pair.

    ``right`` is their label, for which "how do I" asks for the sequence of calls.
    ``as_parameters`` is the label of a reader who takes it to ask which parameters there are; it
    is set only where that changes something.
    """

    right: Label
    as_parameters: Label | None = None


Labels = dict[Pair, Label]

# Two labels that no chance made, for the audit of the recency dimension to find: a superseded
# page taken at its word, and one refused for the wrong reason.
OVERSIGHTS: dict[str, Labels] = {
    "wanda": {("q26", "policy-liability-2022"): Label(0, "authority")},
    "emil": {("q25", "policy-retention-2022"): Label(3, "answerability")},
}


def read_documents(path: Path) -> list[Document]:
    """Read ``corpus.jsonl``."""
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = (json.loads(line) for line in lines)
    return [Document(row["_id"], row["title"], row["text"]) for row in rows]


def read_queries(path: Path) -> list[Query]:
    """Read ``queries.tsv`` with its header."""
    with path.open(encoding="utf-8", newline="") as handle:
        return [
            Query(row["query_id"], row["text"], row["class"], row["context"] or "")
            for row in csv.DictReader(handle, delimiter="\t")
        ]


def read_truth(path: Path) -> dict[Pair, Truth]:
    """Read ``demo_truth.tsv``; an empty ``parameters_grade`` means that both readings agree."""
    with path.open(encoding="utf-8", newline="") as handle:
        rows = csv.DictReader(handle, delimiter="\t", quoting=csv.QUOTE_NONE)
        return {(row["query_id"], row["doc_id"]): read_truth_row(row) for row in rows}


def read_truth_row(row: Mapping[str, str]) -> Truth:
    """The two labels of one line."""
    right = Label(int(row["grade"]), row["decided_by"], row["note"])
    if not row["parameters_grade"]:
        return Truth(right)
    grade, dimension = int(row["parameters_grade"]), row["parameters_decided_by"]
    return Truth(right, Label(grade, dimension, row["parameters_note"]))


def words_of(text: str) -> list[str]:
    """Lower-case words without stop words; endpoint names fall into their parts."""
    words = re.findall(r"[^\W_]+", text.lower())
    return [word for word in words if word not in ENGLISH_STOP_WORDS]


def stems_of(text: str) -> list[str]:
    """The words of a text without the plural s."""
    return [re.sub(r"(?<=[^s]{3})s$", "", word) for word in words_of(text)]


def order_hits(scores: Mapping[str, float]) -> Ranking:
    """The best hits above zero, by rounded score, ties by document id descending as in TREC."""
    rounded = ((doc_id, round(score, 4)) for doc_id, score in scores.items())
    hits = [(doc_id, score) for doc_id, score in rounded if score > 0]
    return sorted(hits, key=lambda hit: (hit[1], hit[0]), reverse=True)[:RUN_DEPTH]


def rank_by_words(documents: Sequence[Document], queries: Sequence[Query]) -> dict[str, Ranking]:
    """Rank by BM25 (Robertson and Zaragoza 2009, equation 3.15, with the idf kept positive).

    A document's words are those of its text and ``TITLE_WEIGHT`` times those of its title.
    """
    counts = {
        document.doc_id: Counter(stems_of(document.title) * TITLE_WEIGHT + stems_of(document.text))
        for document in documents
    }
    lengths = {doc_id: count.total() for doc_id, count in counts.items()}
    mean_length = sum(lengths.values()) / len(lengths)
    containing = Counter(word for count in counts.values() for word in count)

    def weight(word: str, doc_id: str) -> float:
        times = counts[doc_id][word]
        rarity = math.log(1 + (len(counts) - containing[word] + 0.5) / (containing[word] + 0.5))
        length = 1 - BM25_B + BM25_B * lengths[doc_id] / mean_length
        return rarity * times * (BM25_K1 + 1) / (times + BM25_K1 * length)

    return {
        query.query_id: order_hits(
            {
                doc_id: sum(weight(word, doc_id) for word in stems_of(query.text))
                for doc_id in counts
            }
        )
        for query in queries
    }


def rank_by_ngrams(documents: Sequence[Document], queries: Sequence[Query]) -> dict[str, Ranking]:
    """Rank by the cosine of TF-IDF vectors over character n-grams (3 to 5) inside of words."""
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    matrix = vectorizer.fit_transform(
        [" ".join(words_of(f"{document.title} {document.text}")) for document in documents]
    )
    asked = vectorizer.transform([" ".join(words_of(query.text)) for query in queries])
    scores = (asked @ matrix.T).toarray()
    doc_ids = [document.doc_id for document in documents]
    return {
        query.query_id: order_hits(dict(zip(doc_ids, map(float, row), strict=True)))
        for query, row in zip(queries, scores, strict=True)
    }


def run_text(rankings: Mapping[str, Ranking], tag: str) -> str:
    """The rankings as a TREC run."""
    return "".join(
        f"{query_id} Q0 {doc_id} {rank} {score:.4f} {tag}\n"
        for query_id, hits in rankings.items()
        for rank, (doc_id, score) in enumerate(hits, start=1)
    )


def pool_pairs(runs: Iterable[Mapping[str, Ranking]]) -> list[Pair]:
    """The pairs in the first ``POOL_DEPTH`` of any run, sorted by query and document."""
    return sorted(
        {
            (query_id, doc_id)
            for rankings in runs
            for query_id, hits in rankings.items()
            for doc_id, _ in hits[:POOL_DEPTH]
        }
    )


def simulate(truth: Mapping[Pair, Truth], queries: Sequence[Query]) -> dict[str, Labels]:
    """The labels of both annotators on every pair of the judged queries.

    Wanda, a technical writer, labels by the parameters; Emil, a support engineer, by the sequence
    of calls. Slips and oversights come on top.
    """
    judged = {pair: entry for pair, entry in truth.items() if pair[0] not in UNJUDGED}
    labels = {
        "wanda": {pair: entry.as_parameters or entry.right for pair, entry in judged.items()},
        "emil": {pair: entry.right for pair, entry in judged.items()},
    }
    for annotator, oversights in OVERSIGHTS.items():
        labels[annotator].update(oversights)
    add_slips(labels, queries)
    return labels


def add_slips(labels: dict[str, Labels], queries: Sequence[Query]) -> None:
    """Move one of two equal labels by a grade, as often as ``SLIPS`` says, in place.

    One query after the other, and with the two directions in turn, so that nobody ends up the more
    lenient one.
    """
    chance = random.Random(SEED)
    for query_class, count in SLIPS.items():
        query_ids = [query.query_id for query in queries if query.query_class == query_class]
        for number, pair in enumerate(choose_slips(labels, query_ids, count, chance)):
            higher, lower = ANNOTATORS if number % 2 == 0 else ANNOTATORS[::-1]
            grade = labels[higher][pair].grade
            if grade == 0 or (grade < 3 and chance.random() < 0.5):
                labels[higher][pair] = replace(labels[higher][pair], grade=grade + 1)
            else:
                labels[lower][pair] = replace(labels[lower][pair], grade=grade - 1)


def choose_slips(
    labels: Mapping[str, Labels], query_ids: Sequence[str], count: int, chance: random.Random
) -> list[Pair]:
    """``count`` pairs on which both agree that the answer decides, dealt evenly over the queries.

    How much a page answers is harder to see than whether it is in force or may be relied on.
    """
    first, second = (labels[annotator] for annotator in ANNOTATORS)
    candidates: dict[str, list[Pair]] = defaultdict(list)
    for pair, label in sorted(first.items()):
        is_answer = label.dimension == second[pair].dimension == "answerability"
        if pair[0] in query_ids and is_answer and label.grade == second[pair].grade:
            candidates[pair[0]].append(pair)
    shuffled = [chance.sample(found, len(found)) for _, found in sorted(candidates.items())]
    in_turn = [
        pair for level in zip_longest(*chance.sample(shuffled, len(shuffled))) for pair in level
    ]
    return [pair for pair in in_turn if pair is not None][:count]


def judgments_text(labels: Labels) -> str:
    """One annotator's labels as CSV in the layout that ``import_judgments`` reads."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["query_id", "doc_id", "relevance", "decided_by", "clause", "notes"])
    for (query_id, doc_id), label in sorted(labels.items()):
        writer.writerow([query_id, doc_id, label.grade, label.dimension, "", label.note])
    return buffer.getvalue()


@dataclass(frozen=True)
class ClassSplits:
    """Pairs of one query class, those with two grades, and how many times who was higher."""

    pairs: int
    splits: int
    first_higher: int

    @property
    def rate(self) -> float:
        """The share of pairs that split."""
        return self.splits / self.pairs


def count_splits(labels: Mapping[str, Labels], queries: Sequence[Query]) -> dict[str, ClassSplits]:
    """Splits by query class; ``first_higher`` counts those where Wanda gave the higher grade."""
    class_of = {query.query_id: query.query_class for query in queries}
    steps: dict[str, list[int]] = defaultdict(list)
    first, second = (labels[annotator] for annotator in ANNOTATORS)
    for pair, label in first.items():
        steps[class_of[pair[0]]].append(label.grade - second[pair].grade)
    return {
        query_class: ClassSplits(
            len(found), sum(step != 0 for step in found), sum(step > 0 for step in found)
        )
        for query_class, found in steps.items()
    }


def kappa_of(labels: Mapping[str, Labels]) -> float:
    """Cohen's kappa without weights over all pairs that both labelled."""
    first, second = (labels[annotator] for annotator in ANNOTATORS)
    pairs = sorted(first)
    grades = [[side[pair].grade for pair in pairs] for side in (first, second)]
    return float(cohen_kappa_score(*grades))


def derive_files() -> tuple[dict[str, str], dict[str, Labels], list[Query]]:
    """All derived files by their path inside the study, with what the account needs.

    Raises ``ValueError`` when ``demo_truth.tsv`` and the pool do not hold the same pairs.
    """
    documents = read_documents(STUDY / "corpus.jsonl")
    queries = read_queries(STUDY / "queries.tsv")
    runs = {
        "bm25": rank_by_words(documents, queries),
        "ngram": rank_by_ngrams(documents, queries),
    }
    truth = read_truth(TRUTH)
    if unmatched := set(pool_pairs(runs.values())) ^ set(truth):
        raise ValueError(f"{TRUTH.name} and the pool differ in {sorted(unmatched)}")
    labels = simulate(truth, queries)
    files = {f"runs/{tag}.run": run_text(rankings, tag) for tag, rankings in runs.items()}
    files |= {f"judgments/{name}.csv": judgments_text(labels[name]) for name in ANNOTATORS}
    return files, labels, queries


def main() -> None:
    """Write the derived files and print what their labels show."""
    files, labels, queries = derive_files()
    for name, content in files.items():
        path = STUDY / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8", newline="\n")
    print(f"{'class':<12}{'pairs':>6}{'splits':>8}{'rate':>8}{'wanda higher':>14}")
    for query_class, found in count_splits(labels, queries).items():
        counts = f"{found.pairs:>6}{found.splits:>8}{found.rate:>8.3f}{found.first_higher:>14}"
        print(f"{query_class:<12}{counts}")
    print(f"kappa {kappa_of(labels):.3f}")


if __name__ == "__main__":
    main()

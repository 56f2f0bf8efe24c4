"""Studies for the tests of the diagnosis: by hand, from the demo's files, as published."""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from results.statistics.table import LabelTable

DEMO = Path(__file__).resolve().parents[3] / "studies" / "demo" / "study"
DIMENSIONS = ("answerability", "recency", "authority")

Label = tuple[int, int, int]
"""Grade, dimension, clause; -1 for none."""

AGREED: tuple[Label, Label] = ((1, 0, -1), (1, 0, -1))
FIRST_HIGHER: tuple[Label, Label] = ((1, 0, -1), (0, 0, -1))
SECOND_HIGHER: tuple[Label, Label] = ((0, 0, -1), (1, 0, -1))
APART_FIRST_HIGHER: tuple[Label, Label] = ((1, 0, -1), (0, 1, -1))
APART_SECOND_HIGHER: tuple[Label, Label] = ((0, 1, -1), (1, 0, -1))
UNCITED_FIRST_HIGHER: tuple[Label, Label] = ((1, -1, -1), (0, -1, -1))


@dataclass(frozen=True)
class Part:
    """One class: its pairs, as labels of the annotators in their order, laid over queries in turn.

    Laying them in turn spreads equal pairs over the queries.
    """

    name: str | None
    pairs: Sequence[Sequence[Label | None]]
    queries: int


def build_study(*parts: Part) -> LabelTable:
    """A study of these parts; the part without a name holds the unclassified queries."""
    names = [part.name for part in parts if part.name is not None]
    rows: list[tuple[int, int, int, int, int, int]] = []
    query_class: list[int] = []
    pair = 0
    for part in parts:
        start = len(query_class)
        query_class += [-1 if part.name is None else names.index(part.name)] * part.queries
        for number, labels in enumerate(part.pairs):
            query = start + number % part.queries
            rows += [
                (query, pair, annotator, *label)
                for annotator, label in enumerate(labels)
                if label is not None
            ]
            pair += 1
    columns = np.array(rows, dtype=np.int64).reshape(-1, 6).T
    width = max((len(labels) for part in parts for labels in part.pairs), default=2)
    return LabelTable.from_columns(
        query=columns[0],
        pair=columns[1],
        annotator=columns[2],
        grade=columns[3],
        dimension=columns[4],
        clause=columns[5],
        scale=(0, 1, 2),
        annotators=[f"annotator {number}" for number in range(width)],
        query_class=query_class,
        classes=names,
    )


def demo_table() -> LabelTable:
    """The labels that the demo study comes with."""
    with (DEMO / "queries.tsv").open(encoding="utf-8", newline="") as file:
        class_of = {row["query_id"]: row["class"] for row in csv.DictReader(file, delimiter="\t")}
    rows = []
    for annotator, name in enumerate(("emil", "wanda")):
        with (DEMO / "judgments" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
            rows += [(annotator, row) for row in csv.DictReader(file)]
    queries = sorted({row["query_id"] for _, row in rows})
    pairs = sorted({(row["query_id"], row["doc_id"]) for _, row in rows})
    classes = sorted(set(class_of.values()))
    return LabelTable.from_columns(
        query=[queries.index(row["query_id"]) for _, row in rows],
        pair=[pairs.index((row["query_id"], row["doc_id"])) for _, row in rows],
        annotator=[annotator for annotator, _ in rows],
        grade=[int(row["relevance"]) for _, row in rows],
        dimension=[DIMENSIONS.index(row["decided_by"]) for _, row in rows],
        scale=(0, 1, 2, 3),
        annotators=("emil", "wanda"),
        query_class=[classes.index(class_of[query]) for query in queries],
        classes=classes,
    )

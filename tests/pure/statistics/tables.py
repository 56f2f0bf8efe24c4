"""Label tables for the tests: from a grid, from a confusion matrix, from real files, at random."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from results.statistics.table import LabelTable

PUBLISHED: dict[str, Any] = json.loads(
    (Path(__file__).parent / "published.json").read_text(encoding="utf-8")
)

Grid = Sequence[Sequence[int | None]]


def grid_table(
    grid: Grid, *, scale: Sequence[int] | None = None, per_query: int = 1, **columns: Any
) -> LabelTable:
    """One row of the grid for each pair, one column for each annotator, None for no label.

    Grades are values of the scale, by default those that occur. `per_query` pairs make a query.
    """
    cells = [
        (pair, annotator, grade)
        for pair, row in enumerate(grid)
        for annotator, grade in enumerate(row)
        if grade is not None
    ]
    scale = sorted({grade for *_, grade in cells}) if scale is None else list(scale)
    width = max((len(row) for row in grid), default=2)
    return LabelTable.from_columns(
        query=[pair // per_query for pair, *_ in cells],
        pair=[pair for pair, *_ in cells],
        annotator=[annotator for _, annotator, _ in cells],
        grade=[scale.index(grade) for *_, grade in cells],
        scale=scale,
        annotators=[f"annotator {number}" for number in range(width)],
        **columns,
    )


def confusion_grid(confusion: Sequence[Sequence[int]]) -> list[list[int]]:
    """The grid of two annotators, grades 0 to k-1, that has this confusion matrix."""
    return [
        [i, j]
        for i, row in enumerate(confusion)
        for j, count in enumerate(row)
        for _ in range(count)
    ]


def confusion_table(confusion: Sequence[Sequence[int]]) -> LabelTable:
    return grid_table(confusion_grid(confusion), scale=range(len(confusion)))


def kozynear_table(folder: Path) -> LabelTable:
    """The 2,700 labels of kozynear with the expected type as query class."""
    with (folder / "labels.csv").open(encoding="utf-8", newline="") as file:
        labels = list(csv.DictReader(file))
    with (folder / "queries.tsv").open(encoding="utf-8", newline="") as file:
        class_of = {
            row["query_id"]: row["expected_tipe"] for row in csv.DictReader(file, delimiter="\t")
        }
    queries = _codes(row["query_id"] for row in labels)
    pairs = _codes((row["query_id"], row["doc_id"]) for row in labels)
    annotators = _codes(row["annotator"] for row in labels)
    classes = _codes(class_of[query] for query in queries)
    return LabelTable.from_columns(
        query=[queries[row["query_id"]] for row in labels],
        pair=[pairs[row["query_id"], row["doc_id"]] for row in labels],
        annotator=[annotators[row["annotator"]] for row in labels],
        grade=[int(row["label"]) for row in labels],
        scale=(0, 1, 2),
        annotators=list(annotators),
        query_class=[classes[class_of[query]] for query in queries],
        classes=list(classes),
    )


def _codes(values: Any) -> Mapping[Any, int]:
    return {value: code for code, value in enumerate(sorted(set(values)))}


@st.composite
def grids(
    draw: st.DrawFn,
    *,
    annotators: int = 3,
    grades: int = 4,
    missing: bool = True,
    minimum_pairs: int = 0,
) -> list[list[int | None]]:
    """Grids of up to 25 pairs with grades 0 to grades-1."""
    grade = st.integers(0, grades - 1)
    cell = st.none() | grade if missing else grade
    row = st.lists(cell, min_size=annotators, max_size=annotators)
    return draw(st.lists(row, min_size=minimum_pairs, max_size=25))

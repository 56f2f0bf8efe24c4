"""A study of 100,000 pairs with documents of 1 kB, from its files; a bare COPY beside it."""

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

from django.db import connection, transaction

from benchmarks.measuring import Measurement, cost_of
from results.services.imports import import_folder

QUERIES, DEPTH = 2000, 50
WORDS = "a word or two of the text that a document of the usual length has; "
TEXT = (WORDS * 16)[:1000]
SLUGS = ("first", "beside")


def measure() -> Iterator[Measurement]:
    """The second study goes into a database that holds one of that size already."""
    size = f"{QUERIES * DEPTH:,} pairs"
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_study(folder)
        cost, _ = cost_of(lambda: copy_rows(folder))
        yield cost.measured("  beside it: the same rows read and copied, bare", size)
        for slug in SLUGS:
            name_study(folder, slug)
            cost, report = cost_of(lambda: import_folder(folder), repeats=1)
            assert report.tally("pairs").new == QUERIES * DEPTH
            yield cost.measured(f"import: a study from its files, {slug}", size)
        cost, report = cost_of(lambda: import_folder(folder), repeats=1)
        assert report.new == 0
        yield cost.measured("import: the same again, which changes nothing", size)


def write_study(folder: Path) -> None:
    """Queries, a corpus with a document for each pair, and a run that ranks them all."""
    lines: dict[str, list[str]] = {"queries.tsv": [], "corpus.jsonl": [], "runs/bm25.run": []}
    for query in range(QUERIES):
        lines["queries.tsv"].append(f"q{query}\tquestion number {query}\n")
    for query, rank in product(range(QUERIES), range(1, DEPTH + 1)):
        doc_id = f"d{query}-{rank}"
        document = {"_id": doc_id, "title": f"Document {doc_id}", "text": TEXT}
        lines["corpus.jsonl"].append(f"{json.dumps(document)}\n")
        lines["runs/bm25.run"].append(f"q{query} Q0 {doc_id} {rank} {DEPTH - rank} bm25\n")
    (folder / "runs").mkdir()
    for name, content in lines.items():
        (folder / name).write_text("".join(content))


def name_study(folder: Path, slug: str) -> None:
    (folder / "study.yaml").write_text(f"study: {slug}\ndepth: {DEPTH}\n")


def copy_rows(folder: Path) -> None:
    """What any import must do: parse each line, and hand its fields to PostgreSQL once."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("CREATE TEMPORARY TABLE bare_document (id text, title text, text text)")
        cursor.execute("CREATE TEMPORARY TABLE bare_hit (query text, document text, rank int)")
        with (
            (folder / "corpus.jsonl").open("rb") as corpus,
            cursor.copy("COPY bare_document FROM STDIN") as copy,
        ):
            for line in corpus:
                item = json.loads(line)
                copy.write_row((item["_id"], item["title"], item["text"]))
        with (
            (folder / "runs" / "bm25.run").open() as run,
            cursor.copy("COPY bare_hit FROM STDIN") as copy,
        ):
            for line in run:
                query, _, document, rank, _, _ = line.split()
                copy.write_row((query, document, int(rank)))
        transaction.set_rollback(True)

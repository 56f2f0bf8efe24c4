"""TREC runs, the order they mean, and the pool that several of them give."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from pathlib import PurePath
from typing import BinaryIO

from studies.formats.fields import id_cell, integer_cell, score_cell
from studies.formats.problems import Problems, RecordError
from studies.formats.records import PooledPair, RunFile, RunHit
from studies.formats.text import check_text, content_lines, require_id

_FIELDS = 6


def run_name(file: str) -> str:
    """A run's name: its file's name without folder and ending (`.gz` is no ending)."""
    return PurePath(PurePath(file).name.removesuffix(".gz")).stem


@lru_cache(maxsize=4096)
def _rank(cell: str) -> int:
    return integer_cell(cell, "the rank")


class _RunReader:
    """Hits of one run as they come, the better of two for the same document."""

    def __init__(self, file: str, problems: Problems) -> None:
        self.file = file
        self.problems = problems
        self.query_id = ""
        self.tag: str | None = None
        self.hits: dict[tuple[str, str], RunHit] = {}

    def read(self, line: int, text: str) -> None:
        parts = text.split(None, _FIELDS - 1)
        if len(parts) < _FIELDS:
            raise RecordError(
                f"{len(parts)} fields instead of 6 (query Q0 document rank score tag)"
            )
        query_id, _, doc_id, rank, score, tag = parts
        if query_id != self.query_id:
            self.query_id = id_cell(query_id, "query id")
        id_cell(doc_id, "document id")
        hit = RunHit(query_id, doc_id, _rank(rank), score_cell(score), line)
        self._keep_tag(tag, line)
        first = self.hits.setdefault((hit.query_id, hit.doc_id), hit)
        if first is not hit:
            self._keep_better(first, hit)

    def _keep_tag(self, tag: str, line: int) -> None:
        if self.tag is None:
            self.tag = tag
        elif tag != self.tag:
            self.problems.note(self.file, line, f"another tag, {tag!r}; {self.tag!r} is kept")

    def _keep_better(self, first: RunHit, second: RunHit) -> None:
        kept = min(first, second, key=_quality)
        self.hits[first.query_id, first.doc_id] = kept
        self.problems.note(
            self.file,
            second.line,
            f"the document {second.doc_id} stands for the query {second.query_id} already in "
            f"line {first.line}; the better position, line {kept.line}, is kept",
        )


def read_run(
    stream: BinaryIO, *, file: str, problems: Problems, name: str | None = None
) -> RunFile:
    """Read a TREC run of six fields: query, Q0, document, rank, score, tag.

    The first five end at any blanks; the rest of the line is the tag, blanks and all.
    `name` defaults to the file's name without its ending. A document that stands twice for
    a query, a second tag and ranks that contradict the scores are noted.
    """
    reader = _RunReader(file, problems)
    refused_before = problems.count
    for line, text in content_lines(stream, file=file, problems=problems):
        try:
            reader.read(line, text)
        except RecordError as error:
            problems.add(file, line, str(error))
    run = RunFile(name or run_name(file), reader.tag or "", list(reader.hits.values()))
    if not run.hits and problems.count == refused_before:
        problems.add(file, None, "the run holds no line")
    _note_contradiction(run, file, problems)
    return run


def _quality(hit: RunHit) -> tuple[float, int]:
    return (-hit.score, hit.rank)


def _by_query(run: RunFile) -> dict[str, list[RunHit]]:
    hits: defaultdict[str, list[RunHit]] = defaultdict(list)
    for hit in run.hits:
        hits[hit.query_id].append(hit)
    return dict(hits)


def _note_contradiction(run: RunFile, file: str, problems: Problems) -> None:
    """Note the first place where a lower score has the better rank."""
    for hits in _by_query(run).values():
        hits.sort(key=_quality)
        for better, worse in pairwise(hits):
            if worse.rank < better.rank:
                problems.note(
                    file, worse.line, "the rank contradicts the score; the scores are followed"
                )
                return


def rank_hits(run: RunFile) -> dict[str, list[RunHit]]:
    """Hits of each query in the run's order, queries in the order they first come in.

    Score descending, then the file's rank ascending, then document id descending by code
    point, as trec_eval breaks ties.
    """
    ranked = _by_query(run)
    for hits in ranked.values():
        hits.sort(key=lambda hit: hit.doc_id, reverse=True)
        hits.sort(key=_quality)
    return ranked


def pool_runs(runs: Sequence[RunFile], depth: int) -> list[PooledPair]:
    """Pool the first `depth` documents of each query in each run.

    A pair's pool rank is its place, from 1 and without gaps, when the query's pairs are put
    in order of their best position over the runs, then of the run that has it (runs by
    name), then of document id. Raises ValueError for a depth below 1.
    """
    if depth < 1:
        raise ValueError(f"the pool depth is {depth}; it must be 1 or more")
    best: dict[str, dict[str, tuple[int, int, str]]] = {}
    for run_index, run in enumerate(sorted(runs, key=lambda run: run.name)):
        for query_id, hits in rank_hits(run).items():
            places = best.setdefault(query_id, {})
            for position, hit in enumerate(hits[:depth]):
                place = (position, run_index, hit.doc_id)
                if places.setdefault(hit.doc_id, place) > place:
                    places[hit.doc_id] = place
    return [
        PooledPair(query_id, doc_id, pool_rank)
        for query_id, places in best.items()
        for pool_rank, (_, _, doc_id) in enumerate(sorted(places.values()), start=1)
    ]


def write_run(run: RunFile) -> Iterator[str]:
    """Lines of a TREC run with single spaces, hits in the order given.

    Raises ValueError for an id or a tag that the format cannot carry; an empty tag is
    written as `-`.
    """
    tag = run.tag or "-"
    if tag != tag.lstrip() or any(c in tag for c in "\n\r") or check_text(tag):
        raise ValueError(f"the tag {tag!r} begins with white space or holds a line break")
    for hit in run.hits:
        query_id = require_id(hit.query_id, "query id")
        doc_id = require_id(hit.doc_id, "document id")
        yield f"{query_id} Q0 {doc_id} {hit.rank} {hit.score!r} {tag}\n"

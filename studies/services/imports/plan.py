"""A study's folder, read and checked as a whole before anything is written."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from os.path import abspath
from pathlib import Path

from studies.formats.controls import read_controls
from studies.formats.folder import StudyFolder, find_study_files
from studies.formats.pools import read_pool_csv, read_pool_json
from studies.formats.problems import Problems
from studies.formats.queries import read_queries
from studies.formats.records import (
    ControlRecord,
    PooledPair,
    QueryRecord,
    RubricFile,
    RunFile,
    StudyFile,
)
from studies.formats.rubrics import read_rubric
from studies.formats.runs import pool_runs, read_run
from studies.formats.study import read_study_file
from studies.formats.text import open_source
from studies.services.imports.checks import check_plan
from studies.services.imports.documents import (
    SpooledDocuments,
    StagedDocument,
    read_documents,
)
from studies.services.imports.fetching import FetchedImages
from studies.services.imports.report import (
    KEPT_PROBLEMS,
    ImportRefused,
    ImportReport,
    Progress,
    no_progress,
)
from studies.services.imports.state import StudyState, read_state


@dataclass(frozen=True, slots=True)
class Absent:
    """An id that a file names and no file of the folder explains; the study may know it.

    `kind` is what names it, in `count` rows.
    """

    external_id: str
    kind: str
    file: str
    line: int | None
    count: int

    def refuse_query(self, report: ImportReport) -> None:
        """Refuse it as a query that the study does not hold either."""
        reason = f"the query {self.external_id} is unknown"
        if self.count > 1:
            reason = f"{reason} ({self.count:,} lines name it)"
        report.refuse(self.kind, self.file, self.line, reason, rows=self.count)

    def refuse_document(self, report: ImportReport) -> None:
        """Refuse it as a document that a study which requires documents does not hold either."""
        reason = (
            f"the document {self.external_id} is pooled and not in the folder (a study with "
            "`documents: optional` takes documents by their id)"
        )
        report.refuse(self.kind, self.file, self.line, reason)


@dataclass(frozen=True, slots=True)
class KnownStudy:
    """The study that files are added to: its settings, for want of a `study.yaml` among them,
    and its runs as deep as the pool is to be. They give new pairs their ranks, and become pairs
    themselves where the pool `is_deeper` than before. The ids of its queries and documents are
    asked for only where something is refused."""

    settings: StudyFile
    load_runs: Callable[[], list[RunFile]] = list
    load_query_ids: Callable[[], set[str]] = set
    load_document_ids: Callable[[], set[str]] = set
    is_deeper: bool = False


FindKnown = Callable[[StudyFile], KnownStudy | None]
"""Finds the study that a folder's settings name; None when it is new."""


@dataclass
class StudyPlan:
    """What a folder holds, free of faults that can be seen without the study it goes into.

    Documents are held outside of memory. `rubrics` are by version number, `documents_by_id` are
    named and not in the folder, `absent_queries` and `absent_documents` are left for the study to
    explain.
    """

    folder: StudyFolder
    settings: StudyFile
    rubrics: dict[int, RubricFile] = field(default_factory=dict)
    queries: list[QueryRecord] = field(default_factory=list)
    runs: list[RunFile] = field(default_factory=list)
    pool: list[PooledPair] = field(default_factory=list)
    controls: list[ControlRecord] = field(default_factory=list)
    state: StudyState | None = None
    documents: SpooledDocuments = field(default_factory=SpooledDocuments)
    documents_by_id: set[str] = field(default_factory=set)
    absent_queries: list[Absent] = field(default_factory=list)
    absent_documents: list[Absent] = field(default_factory=list)
    images: FetchedImages | None = None
    known: KnownStudy | None = None
    report: ImportReport = field(default_factory=lambda: ImportReport(""))

    @property
    def settings_file(self) -> str:
        """Where the settings come from: the folder itself where they are the study's own."""
        return self.folder.study.name if self.folder.study else self.folder.path.name

    @property
    def queries_file(self) -> str:
        return self.folder.queries.name if self.folder.queries else "queries"

    @property
    def pool_file(self) -> str:
        return self.folder.pool.name if self.folder.pool else "runs"

    @property
    def rows(self) -> int:
        """How many rows the import will look at, for a progress bar."""
        hits = sum(len(run.hits) for run in self.runs)
        return len(self.queries) + self.documents.count + hits + len(self.pool)


def read_study(
    folder: Path,
    *,
    progress: Progress | None = None,
    images: FetchedImages | None = None,
    known: KnownStudy | None = None,
    find_known: FindKnown | None = None,
) -> StudyPlan:
    """Read and check the files of a study; nothing is written.

    Images that the corpus names by their address are fetched into `images`. With `known`, the
    folder may lack the settings, and those it has must be of that study; without it, `find_known`
    tells by the settings which study is meant, if it is there. Raises ImportRefused with every
    problem of every file.
    """
    folder = Path(abspath(folder))  # "." has no name that could stand for the study's
    report = ImportReport(folder.name, problems=Problems(kept=KEPT_PROBLEMS))
    try:
        plan = _read(folder, report, progress or no_progress, images, known, find_known)
    except OSError as error:
        report.problems.add(str(error.filename or folder), None, error.strerror or str(error))
    report.raise_if_refused()
    return plan


def _read(
    path: Path,
    report: ImportReport,
    progress: Progress,
    images: FetchedImages | None,
    known: KnownStudy | None,
    find_known: FindKnown | None,
) -> StudyPlan:
    folder = find_study_files(path, report.problems)
    settings = _settings(folder, report, known)
    is_new = False
    if settings is None:
        # Refused already; the other files are read all the same, to list what is wrong in them.
        settings = StudyFile(report.study, title="", documents="optional")
    else:
        report.study = settings.study
        if images is not None:
            images.learn_known(settings.study)
        if known is None and find_known is not None:
            known = find_known(settings)
            is_new = known is None
    plan = StudyPlan(folder, settings, images=images, known=known, report=report)
    readers = (_read_rubrics, _read_queries, _read_pool, _read_rest, _read_documents)
    for done, reader in enumerate(readers):
        progress(done, len(readers), "reading")
        reader(plan)
    check_plan(plan)
    if report.problems and (is_new or plan.known is not None):
        _refuse_absent(plan)
    progress(len(readers), len(readers), "reading")
    return plan


def _refuse_absent(plan: StudyPlan) -> None:
    """Refuse what neither a file nor the study explains, since the import ends with the reading."""
    known = plan.known
    queries = known.load_query_ids() if known and plan.absent_queries else set()
    for absent in plan.absent_queries:
        if absent.external_id not in queries:
            absent.refuse_query(plan.report)
    if known is not None and known.settings.documents != "required":
        return
    documents = known.load_document_ids() if known and plan.absent_documents else set()
    for absent in plan.absent_documents:
        if absent.external_id not in documents:
            absent.refuse_document(plan.report)


def _settings(
    folder: StudyFolder, report: ImportReport, known: KnownStudy | None
) -> StudyFile | None:
    if known is None:
        return _read_settings(folder, report)
    if folder.study is None:
        return known.settings
    settings = _read_settings(folder, report)
    if settings is not None and settings.study != known.settings.study:
        reason = f"it is of the study {settings.study}; this study is {known.settings.study}"
        report.refuse("settings", "study.yaml", None, reason)
        raise ImportRefused(report)
    return settings


def _read_settings(folder: StudyFolder, report: ImportReport) -> StudyFile | None:
    """The settings, or None when they are refused; a folder without any is no study."""
    if folder.study is None:
        report.problems.add("study.yaml", None, "the folder has none; it names the study")
        raise ImportRefused(report)
    with _reading(report, "settings"), open_source(folder.study) as stream:
        return read_study_file(stream, file="study.yaml", problems=report.problems)


@contextmanager
def _reading(report: ImportReport, kind: str) -> Iterator[None]:
    """Count what is refused within the block as refusals of this kind."""
    before = report.problems.count
    yield
    if refused := report.problems.count - before:
        report.tally(kind).refused += refused


def _read_rubrics(plan: StudyPlan) -> None:
    problems = plan.report.problems
    for number, path in plan.folder.rubrics:
        with _reading(plan.report, "rubrics"), open_source(path) as stream:
            rubric = read_rubric(stream, file=path.name, problems=problems, version=number)
        if rubric is not None:
            plan.rubrics[number] = rubric


def _read_queries(plan: StudyPlan) -> None:
    if plan.folder.queries is None:
        return
    with _reading(plan.report, "queries"):
        plan.queries.extend(read_queries(plan.folder.queries, plan.report.problems))


def _read_pool(plan: StudyPlan) -> None:
    for path in plan.folder.runs:
        with _reading(plan.report, "run hits"), open_source(path) as stream:
            plan.runs.append(
                read_run(stream, file=f"runs/{path.name}", problems=plan.report.problems)
            )
    with _reading(plan.report, "pairs"):
        plan.pool.extend(_pool(plan))


def _pool(plan: StudyPlan) -> Iterable[PooledPair]:
    path = plan.folder.pool
    if path is None:
        return _pool_of_runs(plan)
    reader = read_pool_json if path.suffix == ".json" else read_pool_csv
    with open_source(path) as stream:
        return reader(stream, file=path.name, problems=plan.report.problems)


def _pool_of_runs(plan: StudyPlan) -> list[PooledPair]:
    """The pairs of the folder's runs, ranked among those of all runs of the study; with a deeper
    pool the pairs of all of them."""
    depth, known = plan.settings.depth, plan.known
    own = pool_runs(plan.runs, depth)
    if known is None or not (own or known.is_deeper):
        return own
    pool = pool_runs(_join_runs(known.load_runs(), plan.runs), depth)
    if known.is_deeper:
        return pool
    wanted = {(pair.query_id, pair.doc_id) for pair in own}
    return [pair for pair in pool if (pair.query_id, pair.doc_id) in wanted]


def _join_runs(known: list[RunFile], further: list[RunFile]) -> list[RunFile]:
    """Both as one list; of a run that both have, what either has."""
    runs = {run.name: run for run in known}
    for run in further:
        stored = runs.get(run.name)
        hits = {(hit.query_id, hit.doc_id): hit for hit in stored.hits} if stored else {}
        hits |= {(hit.query_id, hit.doc_id): hit for hit in run.hits}
        runs[run.name] = replace(run, hits=list(hits.values())) if stored else run
    return list(runs.values())


def _read_rest(plan: StudyPlan) -> None:
    problems = plan.report.problems
    if path := plan.folder.controls:
        with _reading(plan.report, "controls"), open_source(path) as stream:
            plan.controls.extend(read_controls(stream, file=path.name, problems=problems))
    if path := plan.folder.state:
        with _reading(plan.report, "settings"), open_source(path) as stream:
            plan.state = read_state(stream, file=path.name, problems=problems)


def _read_documents(plan: StudyPlan) -> None:
    """Read every document, and see which pooled ones are not there."""
    missing = {pair.doc_id for pair in plan.pool} | {c.doc_id for c in plan.controls}
    with _reading(plan.report, "documents"):
        documents = read_documents(plan.folder, plan.report.problems, plan.images)
        plan.documents.fill(_without_found(documents, missing))
    plan.documents_by_id = missing
    # What a study that is there asks for stays, whatever the folder says.
    settings = plan.known.settings if plan.known else plan.settings
    if settings.documents == "required":
        plan.absent_documents = list(_absent_documents(plan, missing))
    plan.absent_queries = list(_absent_queries(plan))


def _without_found(
    documents: Iterable[StagedDocument], missing: set[str]
) -> Iterator[StagedDocument]:
    """The same documents; their ids leave what is `missing` as they go by."""
    for document in documents:
        missing.discard(document.record.doc_id)
        yield document


def _absent_documents(plan: StudyPlan, missing: set[str]) -> Iterator[Absent]:
    """The missing documents, each where it is named first."""
    left = set(missing)
    for file, doc_id, line in _named_documents(plan) if left else ():
        if doc_id in left:
            left.remove(doc_id)
            yield Absent(doc_id, "documents", file, line, 1)


def _named_documents(plan: StudyPlan) -> Iterator[tuple[str, str, int | None]]:
    for path, run in zip(plan.folder.runs, plan.runs, strict=True):
        for hit in run.hits:
            yield f"runs/{path.name}", hit.doc_id, hit.line
    for pair in plan.pool:
        yield plan.pool_file, pair.doc_id, None
    for control in plan.controls:
        yield "controls.csv", control.doc_id, control.line


def _absent_queries(plan: StudyPlan) -> Iterator[Absent]:
    """Per file, the queries it names that the folder's query file does not hold."""
    known = {query.query_id for query in plan.queries}
    for path, run in zip(plan.folder.runs, plan.runs, strict=True):
        named = ((hit.query_id, hit.line) for hit in run.hits)
        yield from _unknown(named, known, "run hits", f"runs/{path.name}")
    if plan.folder.pool:
        pooled = ((pair.query_id, None) for pair in plan.pool)
        yield from _unknown(pooled, known, "pairs", plan.pool_file)
    established = ((control.query_id, control.line) for control in plan.controls)
    yield from _unknown(established, known, "controls", "controls.csv")
    for spec in plan.settings.rounds:
        wanted = ((query_id, None) for query_id in spec.queries or [])
        yield from _unknown(wanted, known, "round queries", plan.settings_file)


def _unknown(
    named: Iterable[tuple[str, int | None]], known: set[str], kind: str, file: str
) -> Iterator[Absent]:
    first: dict[str, int | None] = {}
    counts: dict[str, int] = {}
    for query_id, line in named:
        if query_id not in known:
            first.setdefault(query_id, line)
            counts[query_id] = counts.get(query_id, 0) + 1
    for query_id, line in first.items():
        yield Absent(query_id, kind, file, line, counts[query_id])

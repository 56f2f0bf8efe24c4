"""Which files of a study are in a folder."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from studies.formats.links import LEAVES, leads_out
from studies.formats.problems import Problems
from studies.formats.runs import run_name
from studies.formats.text import check_name, shown_name

QUERY_FILES = ("queries.tsv", "queries.csv", "queries.jsonl", "queries.jsonl.gz", "queries.json")
CORPUS_FILES = ("corpus.jsonl", "corpus.jsonl.gz", "corpus.csv", "corpus.tsv")
POOL_FILES = ("pool.json", "pool.csv")
SINGLE_FILES = {
    "study.yaml": "study",
    "controls.csv": "controls",
    "judgments.csv": "judgments",
    "final_labels.csv": "final_labels",
    "log.jsonl": "log",
    "state.json": "state",
}

_RUBRIC = re.compile(r"rubric(?:-([1-9][0-9]{0,3}))?\.yaml")
_NEARLY_YAML = re.compile(r"(?:study|rubric(?:-[0-9]+)?)\.ya?ml", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StudyFolder:
    """The files of a study that are there; None and [] stand for those that are not.

    `rubrics` are (version, path) by version, `runs` are by name. `notes` names the files
    that belong to nothing.
    """

    path: Path
    study: Path | None = None
    rubrics: list[tuple[int, Path]] = field(default_factory=list)
    queries: Path | None = None
    corpora: list[Path] = field(default_factory=list)
    documents_dir: Path | None = None
    images_dir: Path | None = None
    runs: list[Path] = field(default_factory=list)
    pool: Path | None = None
    controls: Path | None = None
    judgments: Path | None = None
    final_labels: Path | None = None
    log: Path | None = None
    state: Path | None = None
    notes: list[str] = field(default_factory=list)


def find_study_files(path: Path, problems: Problems | None = None) -> StudyFolder:
    """Find the files of a study in a folder; their contents are not looked at.

    Where the contract says "one of", two are refused. An exported study (it has a
    `state.json`) may have `runs/` beside its pool file: the pool file then counts, and the
    runs are there to be evaluated. Without `problems` a refusal raises `FormatError`.
    Raises OSError when the folder cannot be read.
    """
    collected = Problems() if problems is None else problems
    finder = _Finder(path, collected)
    folder = finder.find()
    if problems is None:
        collected.raise_if_any()
    return folder


class _Finder:
    def __init__(self, path: Path, problems: Problems) -> None:
        self.path = path
        self.problems = problems
        self.names = {entry.name for entry in path.iterdir()}
        self.known: set[str] = set()

    def find(self) -> StudyFolder:
        singles = {attribute: self._file(name) for name, attribute in SINGLE_FILES.items()}
        runs = self._runs()
        pool = self._one_of(POOL_FILES)
        if runs and pool and singles["state"] is None:
            self._refuse(f"runs and {pool.name} are both there; a pool comes from one of them")
        folder = StudyFolder(
            path=self.path,
            rubrics=self._rubrics(),
            queries=self._one_of(QUERY_FILES),
            corpora=self._present(CORPUS_FILES),
            documents_dir=self._directory("documents"),
            images_dir=self._directory("images"),
            runs=runs,
            pool=pool,
            notes=self._unknown(),
            **singles,
        )
        for name in folder.notes:
            self.problems.note(name, None, "passed over; it is no file of a study")
        return folder

    def _refuse(self, reason: str) -> None:
        self.problems.add(self.path.name, None, reason)

    def _file(self, name: str) -> Path | None:
        if name not in self.names:
            return None
        self.known.add(name)
        path = self.path / name
        if leads_out(path, self.path):
            self.problems.add(name, None, LEAVES)
        elif not path.is_file():
            self.problems.add(name, None, "this must be a file")
        else:
            return path
        return None

    def _directory(self, name: str) -> Path | None:
        if name not in self.names:
            return None
        self.known.add(name)
        path = self.path / name
        if leads_out(path, self.path):
            self.problems.add(name, None, LEAVES)
        elif not path.is_dir():
            self.problems.add(name, None, "this must be a folder")
        else:
            return path
        return None

    def _present(self, names: tuple[str, ...]) -> list[Path]:
        return [path for path in map(self._file, names) if path is not None]

    def _one_of(self, names: tuple[str, ...]) -> Path | None:
        present = self._present(names)
        if len(present) > 1:
            self._refuse(f"{' and '.join(p.name for p in present)} are both there; keep one")
        return present[0] if present else None

    def _rubrics(self) -> list[tuple[int, Path]]:
        rubrics = []
        for name in self.names:
            match = _RUBRIC.fullmatch(name)
            if match and match[1] != "1" and (path := self._file(name)):
                rubrics.append((int(match[1] or 1), path))
            elif _NEARLY_YAML.fullmatch(name) and name not in self.known:
                self.known.add(name)
                self.problems.add(name, None, f"rename it: {_right_name(name)}")
        rubrics.sort()
        # Where there is no rubric.yaml, version 1 is the starter.
        start = 1 if "rubric.yaml" in self.names else 2
        for expected, (version, path) in enumerate(rubrics, start=start):
            if version != expected:
                self.problems.add(path.name, None, f"rubric-{expected}.yaml is missing before it")
                break
        return rubrics

    def _runs(self) -> list[Path]:
        directory = self._directory("runs")
        if directory is None:
            return []
        by_name: dict[str, Path] = {}
        for path in sorted(directory.iterdir()):
            file = f"runs/{shown_name(path.name)}"
            name = run_name(path.name)
            if leads_out(path, self.path):
                self.problems.add(file, None, LEAVES)
            elif path.name.startswith(".") or not path.is_file():
                self.problems.note(file, None, "passed over; it is no run")
            elif reason := check_name(name):
                self.problems.add(file, None, f"the run's name: {reason}")
            elif name in by_name:
                reason = f"runs/{by_name[name].name} gives the same run name, {name}"
                self.problems.add(file, None, reason)
            else:
                by_name[name] = path
        return [by_name[name] for name in sorted(by_name)]

    def _unknown(self) -> list[str]:
        return sorted(map(shown_name, self.names - self.known))


def is_rubric_name(name: str) -> bool:
    """Whether this is the name of a rubric version, or of a YAML file that nearly is one."""
    return bool(_RUBRIC.fullmatch(name) or _NEARLY_YAML.fullmatch(name))


def _right_name(name: str) -> str:
    if name.lower().startswith("study"):
        return "the settings are study.yaml"
    return "rubrics are rubric.yaml, rubric-2.yaml, rubric-3.yaml, …"

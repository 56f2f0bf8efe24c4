"""What the readers yield and the writers take: plain records, no behaviour.

Those that come by the hundred thousand are named tuples, which are made three times as fast.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, datetime
from decimal import Decimal
from typing import Literal, NamedTuple

DocumentFormat = Literal["text", "markdown", "html", "image"]
DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = ("text", "markdown", "html", "image")

ExampleKind = Literal["positive", "negative", "confusable"]
EXAMPLE_KINDS: tuple[ExampleKind, ...] = ("positive", "negative", "confusable")

Role = Literal["annotator", "adjudicator", "admin", "lead"]
ROLES: tuple[Role, ...] = ("annotator", "adjudicator", "admin", "lead")

RoundKind = Literal["calibration", "main", "relabel", "recheck"]
ROUND_KINDS: tuple[RoundKind, ...] = ("calibration", "main", "relabel", "recheck")

Ordering = Literal["by_query", "mixed"]
ORDERINGS: tuple[Ordering, ...] = ("by_query", "mixed")

DocumentsRule = Literal["required", "optional"]
ConsensusRule = Literal["plurality", "unanimous"]
CONSENSUS_RULES: tuple[ConsensusRule, ...] = ("plurality", "unanimous")
TargetWeights = Literal["nominal", "linear", "quadratic"]
TARGET_WEIGHTS: tuple[TargetWeights, ...] = ("nominal", "linear", "quadratic")
DOCUMENTS_RULES: tuple[DocumentsRule, ...] = ("required", "optional")

UNSURE = "unsure"
DROPPED = "dropped"


@dataclass(frozen=True, slots=True)
class QueryRecord:
    """A query; `context` is "" and `query_class` None where the file gives none."""

    query_id: str
    text: str
    query_class: str | None
    context: str
    metadata: dict[str, object]
    line: int


class DocumentRecord(NamedTuple):
    """A document; `text` is None where only the id, or the id and a title, are known."""

    doc_id: str
    title: str
    text: str | None
    format: DocumentFormat
    metadata: dict[str, object]
    effective_date: date | None
    superseded_by: str | None
    url: str | None
    line: int


class RunHit(NamedTuple):
    """One line of a run; `rank` is the file's own number, not the position it leads to."""

    query_id: str
    doc_id: str
    rank: int
    score: float
    line: int


@dataclass(frozen=True, slots=True)
class RunFile:
    """One system's ranking: `name` from the file's name, `tag` from its sixth column."""

    name: str
    tag: str
    hits: list[RunHit]


class PooledPair(NamedTuple):
    """A pair of the pool; `pool_rank` counts from 1 within its query."""

    query_id: str
    doc_id: str
    pool_rank: int


@dataclass(frozen=True, slots=True)
class ControlRecord:
    """A pair with an established grade (its value, or its name) and deciding dimension."""

    query_id: str
    doc_id: str
    grade: int | str
    decided_by: str
    purpose: str
    line: int


class JudgmentRecord(NamedTuple):
    """One label of one pair.

    `relevance` is the value or name of a grade, `unsure`, or "" where the label is missing.
    `judged_at` is aware.
    """

    query_id: str
    doc_id: str
    annotator: str | None
    relevance: str
    decided_by: str | None
    clause: str | None
    notes: str
    line: int
    round: str | None = None
    rubric_version: int | None = None
    source: str | None = None
    active_seconds: float | None = None
    judged_at: datetime | None = None
    query_class: str | None = None


@dataclass(frozen=True, slots=True)
class QrelRecord:
    """One line of TREC qrels."""

    query_id: str
    iteration: str
    doc_id: str
    grade: int
    line: int


@dataclass(frozen=True, slots=True)
class FinalLabelRecord:
    """The recorded decision on a pair: `relevance` is a grade or `dropped`."""

    query_id: str
    doc_id: str
    relevance: str
    decided_by: str | None
    cause: str | None
    reason: str
    rubric_version: int | None
    by: str | None
    decided_at: datetime | None
    line: int
    clause: str | None = None
    citation: str | None = None


@dataclass(frozen=True, slots=True)
class ExampleSpec:
    """An example of a grade."""

    kind: ExampleKind
    query: str = ""
    document: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class GradeSpec:
    """One grade of a rubric."""

    value: int
    name: str
    definition: str
    relevant: bool
    examples: list[ExampleSpec] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class ClauseSpec:
    """A clause of a dimension; without `classes` it serves every query class. `line` is where its
    file names them, and says nothing of the clause itself."""

    name: str
    classes: list[str]
    text: str
    grade_when_failed: int | None = None
    line: int | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class DimensionSpec:
    """A dimension: the test an annotator applies, and its clauses."""

    name: str
    test: str
    clauses: list[ClauseSpec] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class EdgeCaseSpec:
    """A case that the dimensions leave open, with its ruling."""

    case: str
    ruling: str


@dataclass(frozen=True, slots=True)
class RubricFile:
    """One rubric version; `grades` is None where the file leaves them to the starter."""

    grades: list[GradeSpec] | None
    dimensions: list[DimensionSpec]
    edge_cases: list[EdgeCaseSpec]
    note: str = ""


@dataclass(frozen=True, slots=True)
class ClassSpec:
    """A query class; `title` is "" where the file gives none."""

    name: str
    title: str = ""
    high_risk: bool = False
    minimum_queries: int | None = None


@dataclass(frozen=True, slots=True)
class PersonSpec:
    """A person of a study with the roles they hold in it."""

    name: str
    roles: list[Role]


@dataclass(frozen=True, slots=True)
class RoundSpec:
    """A round; `queries` None is the whole pool, `opens_at` None at once, the other Nones are the
    study's defaults."""

    name: str
    kind: RoundKind
    queries: list[str] | None = None
    annotators_per_query: int | Literal["all"] | None = None
    rubric_version: int | None = None
    opens_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class TargetSpec:
    """What Cohen's kappa of every two annotators is to reach: 0 to 1, two decimals."""

    weights: TargetWeights
    at_least: Decimal


@dataclass(frozen=True, slots=True)
class StudyFile:
    """The settings of a study."""

    study: str
    title: str
    description: str = ""
    annotators_per_query: int = 2
    minimum_votes: int = 1
    ordering: Ordering = "by_query"
    depth: int = 5
    documents: DocumentsRule = "required"
    consensus: ConsensusRule = "plurality"
    settle_own_pairs: bool = False
    judges_read_results: bool = False
    target: TargetSpec | None = None
    classes: list[ClassSpec] = field(default_factory=list)
    people: list[PersonSpec] = field(default_factory=list)
    rounds: list[RoundSpec] = field(default_factory=lambda: [RoundSpec("main", "main")])

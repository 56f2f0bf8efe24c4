"""What the release gate looks at, as it was read beforehand. Nothing here knows Django."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Literal

from results.targets import Outcome, Weights

Freshness = Literal["missing", "old", "current"]

# Judged queries that a key class needs which names no number itself: below it no interval is
# computed either.
QUERIES_NEEDED = 10


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A query class with its fully judged queries, and the splits of its pairs.

    `minimum` is the number of queries that the study asks for, 0 where it names none.
    `open_splits` are those without a final label.
    """

    name: str
    is_high_risk: bool
    minimum: int
    judged: int
    splits: int
    open_splits: int

    @property
    def is_key(self) -> bool:
        return self.is_high_risk or self.minimum > 0

    @property
    def needed(self) -> int:
        return self.minimum or QUERIES_NEEDED


@dataclass(frozen=True, slots=True)
class RoundFacts:
    """A calibration round with its stored numbers, None where a measure is undefined."""

    name: str
    numbers: Freshness
    kappa: float | None = None
    alpha: float | None = None
    split_rate: float | None = None


@dataclass(frozen=True, slots=True)
class RubricFacts:
    """How the labels stand to the newest published version (`number`, None where there is none).

    `other_rounds` are open main and recheck rounds judged under another version, by name with
    its number; `labels_outside` current labels neither given under it nor carried to it;
    `finals_concerned` final labels of an earlier version that a later change concerns;
    `proposals` clauses asked for at adjudication since, by query class.
    """

    number: int | None
    has_draft: bool = False
    other_rounds: Mapping[str, int] = field(default_factory=dict)
    labels_outside: int = 0
    labels_carried: int = 0
    finals_concerned: int = 0
    proposals: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UntoldFacts:
    """A class of which the diagnosis cannot say yet whether it is a hole, with what it rests on
    and what it lacks: pairs of the class and of others to be labelled by two people or more."""

    name: str
    pairs: int
    splits: int
    more_pairs: int
    more_rest_pairs: int


@dataclass(frozen=True, slots=True)
class TargetFacts:
    """Two annotators and the kappa, of these weights, that the study asks of them."""

    a: str
    b: str
    value: float | None
    at_least: float
    outcome: Outcome
    weights: Weights = "nominal"


@dataclass(frozen=True, slots=True)
class ExportFacts:
    """An export that was written and looked into: its lines, and what tells of a ranking, by the
    code of the finding and the line."""

    kind: str
    lines: int
    findings: Sequence[tuple[str, int]] = ()


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the gate looks at. `measured` speaks of what a worker has counted on whole
    exports, `diagnosed` of the agreement of the current labels; `is_judged` tells whether there is
    such a label, `queries_judged` counts the whole study. `untold` are the classes that may be a
    hole for all that is known, None where there is no class to look into. `targets` is None where
    the study has set none."""

    measured: Freshness
    diagnosed: Freshness
    is_judged: bool
    queries_judged: int
    classes: Sequence[ClassFacts]
    rounds: Sequence[RoundFacts]
    rubric: RubricFacts
    holes: Sequence[str]
    untold: Sequence[UntoldFacts] | None
    open_ties: int
    ties: int
    targets: Sequence[TargetFacts] | None
    dropped: int
    dropped_share: float | None
    exports: Sequence[ExportFacts]


def stamp_facts(facts: Facts) -> str:
    """Changes whenever anything does that the gate looks at: SHA-256, in hexadecimal digits."""
    told = json.dumps(asdict(facts), sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()


def take_as_computed(facts: Facts) -> Facts:
    """The facts as they were last computed: old numbers pass for current ones, and those that are
    missing stay so."""
    return replace(
        facts,
        measured=_take(facts.measured),
        diagnosed=_take(facts.diagnosed),
        rounds=[replace(one, numbers=_take(one.numbers)) for one in facts.rounds],
    )


def _take(numbers: Freshness) -> Freshness:
    return "current" if numbers == "old" else numbers

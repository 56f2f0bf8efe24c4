"""What the pages show of the diagnosis in a stored report: verdicts with their evidence."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from results.asked_labels import Link
from results.diagnosis_wording import ADVICE, TAGS, VERDICTS, say

Payload = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class DirectionFinding:
    """How often each of two is higher in the differing labels of a class, and elsewhere. `b` is
    empty where `a` is compared with all others; `is_against_rest` tells what p stands against.
    `link` asks for the pairs of the class that split between them."""

    a: str
    b: str
    a_higher: int
    b_higher: int
    rest_a_higher: int
    rest_b_higher: int
    is_against_rest: bool
    p_value: float
    link: Link


@dataclass(frozen=True, slots=True)
class CitationFinding:
    """What the splits of a class cite. The four counts add up to its splits."""

    different_dimension: int
    different_reading: int
    same_reading: int
    unknown: int
    p_value: float | None


@dataclass(frozen=True, slots=True)
class GradeSplits:
    low: int
    high: int
    splits: int


@dataclass(frozen=True, slots=True)
class Finding:
    """The verdict on one class: a word of `VERDICTS` and as `tag` the same for the reader.

    `p_value` is that of concentration as is, `p_adjusted` after Holm; `fisher_p` is the plain
    2 × 2 table's and decides nothing.
    """

    name: str
    verdict: str
    tag: str
    evidence: Sequence[str]
    advice: Sequence[str]
    queries: int
    pairs: int
    splits: int
    rate: float | None
    rest_pairs: int
    rest_splits: int
    rest_rate: float | None
    ratio: float | None
    p_value: float | None
    p_adjusted: float | None
    fisher_p: float | None
    directions: Sequence[DirectionFinding]
    citation: CitationFinding
    grades: Sequence[GradeSplits]
    apart_p: float | None

    @property
    def is_grave(self) -> bool:
        """It splits more than the rest, whatever is known of it beyond that."""
        return self.verdict in {"hole", "slips"} or (
            self.verdict == "too_little_data" and self.apart_p is not None
        )


@dataclass(frozen=True, slots=True)
class LeniencyEntry:
    """Two annotators outside of holes; `lenient` names who is higher everywhere, if one is."""

    a: str
    b: str
    a_higher: int
    b_higher: int
    p_value: float
    lenient: str


@dataclass(frozen=True, slots=True)
class CitedTogether:
    """Differing labels of which one is decided by `a` and the other by `b`."""

    a: str
    b: str
    count: int

    @property
    def link(self) -> tuple[tuple[str, str], ...]:
        """Pairs with two such labels, as an address asks for them."""
        return (("dimension", self.a), ("dimension", self.b))


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The verdict on the study in one sentence, and on each class, the gravest first."""

    verdict: str
    tag: str
    headline: str
    remarks: Sequence[str]
    findings: Sequence[Finding]
    leniency: Sequence[LeniencyEntry]
    cited_together: Sequence[CitedTogether]

    @property
    def leading(self) -> Finding | None:
        """The class that the study's verdict rests on, where that verdict asks for an act."""
        return next((found for found in self.findings if found.is_grave), None)

    @property
    def holes(self) -> Sequence[str]:
        return [found.name for found in self.findings if found.verdict == "hole"]


def read_diagnosis(payload: Payload) -> Diagnosis:
    headline, *remarks = map(say, payload["study_sentences"])
    found = [_read_finding(row) for row in payload["classes"] if row["class"] is not None]
    return Diagnosis(
        verdict=payload["study_verdict"],
        tag=_(TAGS[payload["study_verdict"]]),
        headline=headline,
        remarks=remarks,
        findings=sorted(found, key=_by_gravity),
        leniency=[_read_leniency(row) for row in payload["leniency"]],
        cited_together=sorted(
            (CitedTogether(*row) for row in payload["decided_by_on_splits"]),
            key=lambda row: -row.count,
        ),
    )


def _by_gravity(found: Finding) -> tuple[int, float]:
    return VERDICTS.index(found.verdict), -(found.ratio or 0.0)


def _read_finding(row: Payload) -> Finding:
    sentences = row["sentences"]
    copied = ("queries", "pairs", "splits", "rate", "rest_pairs", "rest_splits", "rest_rate")
    tested = ("ratio", "p_value", "p_adjusted", "fisher_p", "apart_p")
    return Finding(
        name=row["class"],
        verdict=row["verdict"],
        tag=_(TAGS[row["verdict"]]),
        evidence=[say(sentence) for sentence in sentences if sentence["code"] not in ADVICE],
        advice=[say(sentence) for sentence in sentences if sentence["code"] in ADVICE],
        directions=[_read_direction(entry, row["class"]) for entry in row["direction"]],
        citation=_read_citation(row["citation"]),
        grades=[
            GradeSplits(entry["low"], entry["high"], entry["splits"]) for entry in row["grades"]
        ],
        **{key: row[key] for key in copied + tested},
    )


def _read_direction(row: Payload, query_class: str) -> DirectionFinding:
    between = tuple(("annotator", name) for name in (row["a"], row["b"]) if name)
    return DirectionFinding(
        a=row["a"],
        b=row["b"] or "",
        a_higher=row["a_higher"],
        b_higher=row["b_higher"],
        rest_a_higher=row["rest_a_higher"],
        rest_b_higher=row["rest_b_higher"],
        is_against_rest=row["against"] == "rest",
        p_value=row["p_value"],
        link=(("class", query_class), *between),
    )


def _read_citation(row: Payload) -> CitationFinding:
    return CitationFinding(
        different_dimension=row["different_dimension"],
        different_reading=row["different_reading"],
        same_reading=row["same_reading"],
        unknown=row["unknown"],
        p_value=row["p_value"],
    )


def _read_leniency(row: Payload) -> LeniencyEntry:
    return LeniencyEntry(
        a=row["a"],
        b=row["b"],
        a_higher=row["a_higher"],
        b_higher=row["b_higher"],
        p_value=row["p_value"],
        lenient=row["lenient"] or "",
    )

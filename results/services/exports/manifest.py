"""The account that travels with each export."""

import hashlib
import tomllib
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any

from django.conf import settings
from django.utils import translation

from results.consensus import Policy
from results.dropped import judge_dropped_share
from results.services.exports.decisions import DecidedPair, DecidedQuery
from results.services.gate import Gate
from results.services.reports import OpenHoles
from results.wording import say_not_blind

CONSENSUS_RULES: dict[Policy, str] = {
    "plurality": (
        "the final label, else the grade with strictly the most votes; unsure is no vote, "
        "a tie is no label"
    ),
    "unanimous": (
        "the final label, else the grade that every vote is for; unsure is no vote, "
        "votes that differ are no label"
    ),
}
NOT_DIAGNOSED = "no numbers of the current labels have been computed yet"
# Training pairs go by the grade, whatever the rubric calls relevant.
POSITIVES_FROM = 1
DECIDED_BY_VOTES = {"unanimous": "unanimous", "majority": "majority", "single": "single_vote"}


@cache
def software_version() -> str:
    """The version of this software, as its project file names it."""
    project = tomllib.loads((settings.BASE_DIR / "pyproject.toml").read_text(encoding="utf-8"))
    return str(project["project"]["version"])


class Digest:
    """Checksum, bytes and lines of what passes by."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self.bytes = 0
        self.lines = 0

    def update(self, chunk: bytes) -> None:
        self._hash.update(chunk)
        self.bytes += len(chunk)
        self.lines += chunk.count(b"\n")

    @property
    def sha256(self) -> str:
        return self._hash.hexdigest()


@dataclass(frozen=True, slots=True)
class FileSeal:
    """One file of an export that is a folder or a zip archive; an image has no `lines`."""

    name: str
    sha256: str
    bytes: int
    lines: int | None

    def as_json(self) -> dict[str, object]:
        return {
            "name": self.name,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "lines": self.lines,
        }


@dataclass(slots=True)
class Manifest:
    """What an export holds and what it leaves out. Filled while the export is made.

    `counts` maps a name to a number of queries, pairs or labels. `sha256`, `bytes` and `lines`
    are None in the description of an export that has not been made, `lines` of an archive too.
    `versions_in_force`, those
    of the study's rounds, are named where the export holds no label of any version. `log_until`
    is the number of actions that the export's log holds: those before it was made, or fewer where
    a request named an earlier end; None where the export holds no log. `relevant_from` is the
    lowest grade that the rubric in force calls relevant. `pool_dropped` are the dropped pairs
    of the pool and all of its pairs. `not_blind` counts current labels (of the annotator, where the
    export is of one) that were given by who could read others' labels of the round.
    """

    study: str
    title: str
    kind: str
    created_at: datetime
    minimum_votes: int
    policy: Policy = "plurality"
    annotator: str | None = None
    with_texts: bool = False
    counts: Counter[str] = field(default_factory=Counter)
    withheld: list[DecidedQuery] = field(default_factory=list)
    rubric_versions: set[int] = field(default_factory=set)
    versions_in_force: set[int] = field(default_factory=set)
    problems: list[str] = field(default_factory=list)
    files: list[FileSeal] = field(default_factory=list)
    sha256: str | None = None
    bytes: int | None = None
    lines: int | None = None
    log_until: int | None = None
    open_holes: OpenHoles | None = None
    majority_in_holes: int = 0
    relevant_from: int | None = None
    gate: Gate | None = None
    pool_dropped: tuple[int, int] = (0, 0)
    not_blind: int = 0
    judges_read_results: bool = False

    def expect_counts(self, *names: str) -> None:
        """Name what will be counted, so that what never occurs is told as 0."""
        self.counts.update(dict.fromkeys(names, 0))

    def count_query(self, query: DecidedQuery) -> None:
        """Count a query and, unless it is withheld, what its labels rest on."""
        self.counts["queries"] += 1
        self.counts["pairs"] += len(query.pairs)
        self.counts["judgments"] += sum(pair.labels.outcomes for pair in query.pairs)
        self.counts["unsure"] += sum(pair.labels.unsure for pair in query.pairs)
        if self.annotator is None:
            self.counts["pairs_decided"] += sum(pair.is_decided for pair in query.pairs)
            self.counts["dropped"] += sum(pair.is_dropped for pair in query.pairs)
        if query.is_withheld:
            self.withheld.append(DecidedQuery(query.query_id, (), query.reasons))
            return
        self.counts["queries_exported"] += 1
        for pair in query.pairs:
            self._count_pair(pair)

    def _count_pair(self, pair: DecidedPair) -> None:
        consensus = pair.consensus
        self.rubric_versions.update(pair.labels.rubric_versions)
        if not consensus.has_label:
            return
        self.counts["pairs_exported"] += 1
        # One annotator's labels are no consensus: how many agreed does not come into it.
        if self.annotator is None and consensus.rule is not None:
            self.counts[DECIDED_BY_VOTES.get(consensus.rule, "final")] += 1
            is_in_hole = self.open_holes and pair.labels.query_class in self.open_holes.classes
            self.majority_in_holes += bool(is_in_hole and consensus.rule == "majority")

    def seal(self, digest: Digest, *, is_text: bool) -> None:
        """Take over what passed by; an archive has no lines."""
        self.sha256, self.bytes = digest.sha256, digest.bytes
        self.lines = digest.lines if is_text else None

    @property
    def dropped_share(self) -> float | None:
        """Dropped pairs by all decided ones of the pool; None where nothing is decided.

        Decided are the pairs that were dropped, and those that have their outcomes and a label;
        it makes no difference whether their query is withheld.
        """
        decided = self.counts["pairs_decided"]
        return self.counts["dropped"] / decided if decided else None

    def as_json(self) -> dict[str, Any]:
        """The manifest as it is written; `docs/exports.md` explains the keys."""
        return {
            "study": self.study,
            "title": self.title,
            "kind": self.kind,
            "annotator": self.annotator,
            "with_texts": self.with_texts,
            "created_at": self.created_at.isoformat(),
            "software": "Dissensus",
            "software_version": software_version(),
            "rubric_versions": sorted(self.rubric_versions or self.versions_in_force),
            "consensus": self.policy,
            "consensus_rule": CONSENSUS_RULES[self.policy],
            "minimum_votes": self.minimum_votes,
            "relevant_from": self.relevant_from,
            "positives_from": POSITIVES_FROM if self.kind == "training-pairs" else None,
            "counts": self._counts_json(),
            "log_until": self.log_until,
            **self._dropped_json(),
            **self._blindness_json(),
            "withheld": [_withheld_json(query) for query in self.withheld],
            **self._holes_json(),
            **self._gate_json(),
            "problems": self.problems,
            "sha256": self.sha256,
            "bytes": self.bytes,
            "lines": self.lines,
            "files": [file.as_json() for file in self.files],
        }

    def _gate_json(self) -> dict[str, Any]:
        """The gate just before the export was made, said in English whoever asked for it."""
        if self.gate is None:
            return {"gate_state": None}
        with translation.override("en"):
            return self.gate.as_json()

    def _dropped_json(self) -> dict[str, Any]:
        """The dropped pairs of the pool, whatever the export holds."""
        dropped, pairs = self.pool_dropped
        share = dropped / pairs if pairs else None
        told = self.dropped_share if "dropped" in self.counts else share
        return {
            "dropped_pairs": dropped,
            "dropped_share_of_pool": share,
            "dropped_warning": judge_dropped_share(told) or None,
        }

    def _blindness_json(self) -> dict[str, Any]:
        """The labels that are not blind, with what that means, in English whoever asked."""
        with translation.override("en"):
            return {
                "judges_read_results": self.judges_read_results,
                "not_blind": self.not_blind,
                "not_blind_note": say_not_blind(self.not_blind),
            }

    def _holes_json(self) -> dict[str, Any]:
        holes = self.open_holes
        return {
            "open_holes": list(holes.classes) if holes else None,
            "open_holes_stale": holes.is_stale if holes else None,
            "majority_in_open_holes": self.majority_in_holes if holes else None,
            "open_holes_reason": None if holes else NOT_DIAGNOSED,
        }

    def _counts_json(self) -> dict[str, int | float | None]:
        counts: dict[str, int | float | None] = dict(self.counts)
        if "dropped" in counts:
            counts["dropped_share"] = self.dropped_share
        return counts


def _withheld_json(query: DecidedQuery) -> dict[str, object]:
    """Why a query stays, said in English whoever asked for it."""
    with translation.override("en"):
        return {
            "query_id": query.query_id,
            "reason": query.reasons[0].code,
            "message": query.message,
            "reasons": [reason.as_json() for reason in query.reasons],
        }

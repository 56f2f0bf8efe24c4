"""What a third vote would do in a class with a hole: settle each split for one of two readings.

A vote ends a tie, and says nothing of which reading the rubric means. So both outcomes are shown
side by side: the labels of the class if every third vote joins the lowest grade of its split that
one vote can settle it for, and if it joins the highest one, and what each run then scores. A split
that has a label already, by a majority, needs no vote and keeps it. A dropped pair is in neither
outcome: scores stand with such pairs at their worst and their best beside them.

Imports ir_measures: only workers and commands import this module.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Any, cast

from results.consensus import Consensus, Policy, decide_consensus
from results.dropped import find_dropped_share
from results.selectors.labels import PairLabels, read_snapshot, stream_pair_labels
from results.services.exports.decisions import DecidedPair
from results.services.retrieval import (
    Measuring,
    choose_measuring,
    list_runs,
    read_ranking,
)
from studies.models import Study

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class ConsensusRule:
    """What the study asks of votes before they are a label."""

    minimum_votes: int
    policy: Policy

    def decide(self, pair: PairLabels, *further: int) -> int | None:
        """The pair's label, with further votes beside those it has."""
        return self.weigh(pair, *further).grade

    def weigh(self, pair: PairLabels, *further: int) -> Consensus:
        return decide_consensus(
            [*pair.grades, *further],
            final=pair.final,
            minimum_votes=self.minimum_votes,
            policy=self.policy,
            unsure=pair.unsure,
        )


@dataclass(slots=True)
class Reading:
    """Grades by query id and document id if every split goes to one of its ends."""

    grades: dict[str, dict[str, int]] = field(default_factory=dict)
    counts: Counter[int] = field(default_factory=Counter)

    def add(self, pair: PairLabels, grade: int) -> None:
        self.grades.setdefault(pair.query_id, {})[pair.document_id] = grade
        self.counts[grade] += 1


@dataclass(slots=True)
class ClassReadings:
    """`splits` are the pairs whose votes differ and that have no final label, `settled` those
    among them without a label that one more vote can give one; `pairs` are these and all others
    with a label. `dropped` holds the dropped documents by query id."""

    lower: Reading = field(default_factory=Reading)
    higher: Reading = field(default_factory=Reading)
    dropped: dict[str, list[str]] = field(default_factory=dict)
    pairs: int = 0
    splits: int = 0
    settled: int = 0


def show_third_votes(study: Study, classes: Sequence[str]) -> list[Json]:
    """For each of these classes its labels and every run's measures under either reading.

    Only splits without a label are moved, by the study's own rule of consensus; each run is scored
    over the class's fully judged queries, as deep as the pool: in others a document without a label
    would be read as not relevant.
    """
    if not classes:
        return []
    by = choose_measuring(study)
    rule = ConsensusRule(study.minimum_votes, cast(Policy, str(study.consensus)))
    read = {name: ClassReadings() for name in classes}
    with read_snapshot():
        for _, pairs in groupby(stream_pair_labels(study), key=attrgetter("query_id")):
            judged = [DecidedPair(pair, rule.weigh(pair)) for pair in pairs]
            readings = read.get(judged[0].labels.query_class)
            if readings and all(pair.is_complete for pair in judged):
                for pair in judged:
                    _add_pair(readings, pair, rule)
    return [_describe(study, name, read[name], by) for name in classes]


def _add_pair(readings: ClassReadings, decided: DecidedPair, rule: ConsensusRule) -> None:
    """A pair with a label has it in either reading; a split without one gets what a vote can."""
    pair, label = decided.labels, decided.consensus.grade
    if decided.is_dropped:
        readings.dropped.setdefault(pair.query_id, []).append(pair.document_id)
        return
    is_split = pair.final is None and len(set(pair.grades)) > 1
    if label is None and not is_split:
        return
    if label is not None:
        ends = [label]
    else:
        ends = [vote for vote in sorted(set(pair.grades)) if rule.decide(pair, vote) == vote]
        readings.settled += bool(ends)
    readings.splits += is_split
    readings.pairs += 1
    if ends:
        readings.lower.add(pair, ends[0])
        readings.higher.add(pair, ends[-1])


def _describe(study: Study, name: str, read: ClassReadings, by: Measuring) -> Json:
    queries = read.lower.grades.keys()
    dropped = sum(len(found) for found in read.dropped.values())
    runs = []
    for run in list_runs(study):
        ranking = read_ranking(run, queries | read.dropped.keys())
        lower, higher = (
            by.describe(ranking, reading.grades, read.dropped)
            for reading in (read.lower, read.higher)
        )
        runs.append({"run": run.name, "lower": lower, "higher": higher})
    return {
        "class": name,
        "queries": len(queries),
        "pairs": read.pairs,
        "splits": read.splits,
        "settled": read.settled,
        "dropped": dropped,
        "dropped_share": find_dropped_share(dropped, read.pairs),
        "lower": _count_grades(read.lower),
        "higher": _count_grades(read.higher),
        "k": by.k,
        "runs": runs,
    }


def _count_grades(reading: Reading) -> dict[str, int]:
    return {str(grade): count for grade, count in sorted(reading.counts.items())}

"""What a third vote would do in a class with a hole: settle each split for one of two readings.

A vote ends a tie, and says nothing of which reading the rubric means. So both outcomes are shown
side by side: the labels of the class if every third vote joins the lower end of its split, and
if it joins the higher one, and what each run then scores.

Imports ir_measures: only workers and commands import this module.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from results.consensus import decide_consensus
from results.selectors.final_labels import find_rubric_in_force
from results.selectors.labels import PairLabels, read_snapshot, stream_pair_labels
from results.services.retrieval import RunScores, list_runs, read_ranking, score_run
from studies.models import Grade, Study

Json = dict[str, Any]

CUTOFF = 10
"""Ranks that Success and nDCG look at."""


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
    lower: Reading = field(default_factory=Reading)
    higher: Reading = field(default_factory=Reading)
    pairs: int = 0
    splits: int = 0


def show_third_votes(study: Study, classes: Sequence[str]) -> list[Json]:
    """For each of these classes its labels and every run's measures under either reading.

    Only pairs without a final label are moved; each run is scored over the class's queries.
    """
    if not classes:
        return []
    in_force = find_rubric_in_force(study)
    grades = Grade.objects.filter(rubric_version=in_force, is_relevant=True)
    relevant = min(grades.values_list("value", flat=True), default=None)
    read = {name: ClassReadings() for name in classes}
    with read_snapshot():
        for pair in stream_pair_labels(study):
            if pair.query_class in read:
                _add_pair(read[pair.query_class], pair)
    return [_describe(study, name, read[name], relevant) for name in classes]


def _add_pair(readings: ClassReadings, pair: PairLabels) -> None:
    """A split goes to either end; every other pair has the label it has, if any."""
    if pair.final is None and len(set(pair.grades)) > 1:
        readings.splits += 1
        low, high = min(pair.grades), max(pair.grades)
    else:
        decided = decide_consensus(pair.grades, final=pair.final, unsure=pair.unsure)
        if decided.grade is None:
            return
        low = high = decided.grade
    readings.pairs += 1
    readings.lower.add(pair, low)
    readings.higher.add(pair, high)


def _describe(study: Study, name: str, read: ClassReadings, relevant: int | None) -> Json:
    queries = read.lower.grades.keys()
    runs = []
    for run in list_runs(study):
        ranking = read_ranking(run, queries)
        lower, higher = (
            score_run(ranking, reading.grades, relevant=relevant, k=CUTOFF)
            for reading in (read.lower, read.higher)
        )
        runs.append(
            {"run": run.name, "lower": _describe_run(lower), "higher": _describe_run(higher)}
        )
    return {
        "class": name,
        "queries": len(queries),
        "pairs": read.pairs,
        "splits": read.splits,
        "lower": _count_grades(read.lower),
        "higher": _count_grades(read.higher),
        "k": CUTOFF,
        "runs": runs,
    }


def _count_grades(reading: Reading) -> dict[str, int]:
    return {str(grade): count for grade, count in sorted(reading.counts.items())}


def _describe_run(scores: RunScores) -> Json:
    return {"success_at_k": scores.success_at_k, "ndcg": scores.ndcg, "mrr": scores.mrr}

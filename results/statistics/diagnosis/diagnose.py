"""From a label table to verdicts: the steps in their order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from results.statistics.counts import compare_labels
from results.statistics.diagnosis.citation import (
    Citation,
    Readings,
    ask_citations,
    count_decided_by,
    count_decided_on_splits,
    count_split_usage,
    describe_citation,
    read_citations,
)
from results.statistics.diagnosis.concentration import (
    Concentration,
    QuerySplits,
    count_query_splits,
    measure_concentration,
)
from results.statistics.diagnosis.direction import (
    DirectedSplits,
    Direction,
    Leniency,
    count_directed,
    describe_directions,
    describe_leniency,
)
from results.statistics.diagnosis.outcome import ClassDiagnosis, Diagnosis
from results.statistics.diagnosis.resampling import holm
from results.statistics.diagnosis.sentences import (
    Sentence,
    say_citation,
    say_concentration,
    say_direction,
    say_leniency,
    say_study,
    say_what_to_do,
)
from results.statistics.diagnosis.shares import ShareTest, compare_shares
from results.statistics.diagnosis.thresholds import (
    LEVEL,
    MINIMUM_EXCESS,
    MINIMUM_REFERENCE,
    PERMUTATIONS,
    SEED,
)
from results.statistics.diagnosis.verdict import (
    decide,
    decide_study,
    find_need,
    find_spread_between_queries,
    is_concentrated,
    weigh_apart,
)
from results.statistics.splits import ClassSplits, splits_by_class, splits_by_grades
from results.statistics.table import NONE, BoolArray, IntArray, LabelTable


def diagnose(
    table: LabelTable,
    *,
    dimension_names: Sequence[str] = (),
    machine: frozenset[int] = frozenset(),
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
) -> Diagnosis:
    """Tell for every named class whether its splits are a hole in the rubric.

    `machine` holds annotator codes whose labels are left out. `dimension_names` names the codes
    of the table's dimensions. The same table and `seed` give the same diagnosis; `permutations`
    bounds the random draws of each test. Raises `ValueError` where a label cites a dimension
    without a name.
    """
    people = table.without(machine)
    names = tuple(dimension_names)
    highest = int(people.dimension.max(initial=NONE))
    if highest >= len(names):
        raise ValueError(f"a label cites dimension {highest}, but only {len(names)} are named")
    return _Study(people, names, seed=seed, permutations=permutations).diagnose()


@dataclass(frozen=True, eq=False)
class _ClassEvidence:
    splits: ClassSplits
    concentration: Concentration
    p_adjusted: float | None
    concentrated: bool
    directions: tuple[Direction, ...]
    citation: Citation

    @property
    def leading(self) -> Direction | None:
        """The contrast that speaks most for a direction of the class's own."""
        far = [found for found in self.directions if found.excess >= MINIMUM_EXCESS]
        return min(far, key=lambda found: (found.p_value, found.b is None), default=None)

    @property
    def direction_p(self) -> float | None:
        if not self.directions:
            return None
        return 1.0 if self.leading is None else self.leading.p_value

    @property
    def citation_p(self) -> float | None:
        return 1.0 if self.citation.excess < MINIMUM_EXCESS else self.citation.p_value

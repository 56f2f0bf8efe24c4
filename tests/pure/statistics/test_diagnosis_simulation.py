"""Small, seeded runs of the calibration. `docs/diagnosis.md` carries the large ones."""

import numpy as np
import pytest

from benchmarks.diagnosis_conditions import FIRST, HARDER, ROUGH
from benchmarks.diagnosis_models import Design, Kind, even, seed_figures, simulate
from benchmarks.diagnosis_simulation import find_smallest, run
from results.statistics.diagnosis.direction import count_directed
from results.statistics.diagnosis.resampling import Draws
from results.statistics.diagnosis.shares import Side, compare_shares
from results.statistics.splits import find_spread

STUDIES = 30
# With a true rate of 5%, more than 5 of 30 comes once in three hundred runs; the seeds are fixed.
MOST_FALSE = 5

NULLS = {
    "equal error": Design(even(4, queries=14)),
    "difficulty varying by query": Design(
        even(4, queries=6, pairs=(10, 10), error=0.15, uneven=0.7)
    ),
    "harder class, lenient annotator": Design((HARDER, *ROUGH), lenient=0.9),
    "six and two": Design((Kind(queries=15, labels=6), *even(3, queries=15)), annotators=6),
    "citing at random": Design((HARDER, *ROUGH), cites="random"),
}


@pytest.mark.parametrize("name", NULLS)
def test_a_hole_is_hardly_ever_found_where_there_is_none(name: str) -> None:
    found = run(name, STUDIES, 999, lambda rng: simulate(NULLS[name], rng))
    assert sum(bool(diagnosis.holes) for diagnosis in found) <= MOST_FALSE


@pytest.mark.parametrize("per_query", [1, 3, 6])
def test_a_hole_of_the_seeds_size_is_found_nearly_always(per_query: int) -> None:
    found = run("seed", STUDIES, 999, lambda rng: seed_figures(per_query, rng))
    assert sum(set(diagnosis.holes) == FIRST for diagnosis in found) >= STUDIES - 1


def test_the_joint_p_of_many_annotators_is_not_too_small() -> None:
    """The side on which each annotator lies is seen in the data, which must cost something."""
    design = Design(
        even(6, queries=15, labels=3, error=0.12, uneven=0.5), annotators=6, lenient=0.9
    )
    p_values = []
    for number in range(40):
        table = simulate(design, np.random.default_rng([7, number]))
        splits = table.select(np.repeat(find_spread(table).split, table.pair_sizes))
        directed = count_directed(splits, table.query_class, 6)
        (test,) = compare_shares(
            directed.answers,
            [Side(0, (3, 4, 5))],
            two_sided=True,
            draws=Draws(1, 199),
            joint=directed.teams,
        )
        p_values.append(test.joint_p)
    assert sum(p is not None and p <= 0.1 for p in p_values) <= 7


def test_a_lenient_annotator_is_reported_as_such() -> None:
    design = Design((HARDER, *ROUGH), lenient=1.0)
    found = run("leniency", STUDIES, 999, lambda rng: simulate(design, rng))
    named = [{row.lenient for row in diagnosis.leniency} for diagnosis in found]
    assert sum(names == {1} for names in named) >= 20


def test_the_smallest_hole_is_read_off_between_two_shares() -> None:
    assert find_smallest([0.0, 0.6, 1.0]) == "25%"
    assert find_smallest([0.9]) == "10% or less"
    assert find_smallest([0.1, 0.2]) == "none up to 60%"

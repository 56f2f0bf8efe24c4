"""What a benchmark is: a module of this package with a function `measure`.

`measure()` runs the thing in a scratch database and yields a `Measurement` for each figure, in
the order in which a reader wants them. `python -m benchmarks` finds all of them.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

Result = TypeVar("Result")


@dataclass(frozen=True)
class Measurement:
    """One line of the table: what was done, over how much, and how long it took, or what it took
    in another unit."""

    name: str
    size: str
    value: float
    unit: str = "s"


Measure = Callable[[], Iterator[Measurement]]


def best_of(work: Callable[[], Result], *, repeats: int = 3) -> tuple[float, Result]:
    """The shortest of several runs, in seconds, with the last result."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = work()
        times.append(time.perf_counter() - start)
    return min(times), result

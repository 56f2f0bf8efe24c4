"""What a benchmark is: a module of this package with a function `measure`.

`measure()` runs the thing in a scratch database and yields a `Measurement` for each figure, in
the order in which a reader wants them. `python -m benchmarks` finds all of them.
"""

import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from django.db import connection

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


@dataclass(frozen=True)
class Cost:
    """Seconds by the clock, and the processor seconds of this process and of the PostgreSQL process
    that serves it: what is left of the figures on a machine that others use too."""

    clock: float
    python: float
    postgresql: float

    def measured(self, name: str, size: str) -> Measurement:
        """The line of the table, which says them all."""
        processor = f"Python {self.python:.2f} s, PostgreSQL {self.postgresql:.2f} s"
        return Measurement(name, f"{size}: {processor}", self.clock)


def cost_of(work: Callable[[], Result], *, repeats: int = 3) -> tuple[Cost, Result]:
    """What the quickest of several runs took, with the last result."""
    costs = []
    for _ in range(repeats):
        before = time.perf_counter(), time.process_time(), read_postgresql_seconds()
        result = work()
        after = time.perf_counter(), time.process_time(), read_postgresql_seconds()
        costs.append(Cost(*(end - start for start, end in zip(before, after, strict=True))))
    return min(costs, key=lambda cost: cost.clock), result


def read_postgresql_seconds() -> float:
    """The processor time so far of the process that serves this connection; 0 where it cannot be
    seen, on another machine or another system."""
    connection.ensure_connection()
    stat = Path(f"/proc/{connection.connection.info.backend_pid}/stat")
    try:
        _, name, fields = stat.read_text().replace("(", ")").split(")")
    except (OSError, ValueError):
        return 0.0
    user, system = fields.split()[11:13]
    ticks = int(user) + int(system) if name == "postgres" else 0
    return ticks / os.sysconf("SC_CLK_TCK")

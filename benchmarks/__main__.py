"""Run every benchmark, or those named: `python -m benchmarks [agreement …]`.

Each runs in a scratch database that is dropped afterwards; nothing of a study at hand is read
or written. Figures go to the table at the end, the progress to standard error.
"""

import os
import platform
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from pkgutil import iter_modules

from benchmarks.measuring import Measure, Measurement

SCRATCH_DATABASE = "dissensus_benchmarks"


def main(names: Sequence[str]) -> int:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings.test"
    import django

    django.setup()
    found = find_benchmarks()
    unknown = [name for name in names if name not in found]
    if unknown:
        print(f"No benchmark {', '.join(unknown)}. There are: {', '.join(found)}.", file=sys.stderr)
        return 2
    measurements: list[Measurement] = []
    for name in names or found:
        print(f"{name} …", file=sys.stderr, flush=True)
        with scratch_database():
            measurements += found[name]()
    print_table(measurements)
    return 0


def find_benchmarks() -> dict[str, Measure]:
    """Every module of this package that has a function `measure`, by name."""
    import benchmarks

    found: dict[str, Measure] = {}
    for info in sorted(iter_modules(benchmarks.__path__), key=lambda info: info.name):
        if info.name == "__main__":
            continue
        measure = getattr(import_module(f"benchmarks.{info.name}"), "measure", None)
        if measure is not None:
            found[info.name] = measure
    return found


@contextmanager
def scratch_database() -> Iterator[None]:
    """A database of this program's own, with all tables, while the block runs."""
    from django.db import connection

    name = connection.settings_dict["NAME"]
    connection.settings_dict["TEST"]["NAME"] = SCRATCH_DATABASE
    connection.creation.create_test_db(verbosity=0, autoclobber=True, serialize=False)
    try:
        yield
    finally:
        connection.creation.destroy_test_db(name, verbosity=0)


def print_table(measurements: Sequence[Measurement]) -> None:
    width = max((len(line.name) for line in measurements), default=0)
    size = max((len(line.size) for line in measurements), default=0)
    print(f"Python {platform.python_version()}, {os.cpu_count()} processors, {platform.machine()}")
    for line in measurements:
        print(f"{line.name:<{width}}  {line.size:>{size}}  {line.value:8.3f} {line.unit}")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

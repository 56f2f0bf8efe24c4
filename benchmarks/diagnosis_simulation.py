"""How often the diagnosis is wrong, and how small a hole it finds, by simulated studies.

    python -m benchmarks.diagnosis_simulation [--studies 1000] [--part nulls] [--write]

Prints Markdown tables; `--write` puts them into docs/diagnosis.md and draws docs/images/. Every
study has its own seed, made of the condition's name and its number, so a run can be repeated.
"""

import argparse
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from benchmarks.diagnosis_charts import draw_curves, draw_dots
from benchmarks.diagnosis_conditions import FIRST, NULLS, POWERS, WORST, Condition
from benchmarks.diagnosis_models import (
    DIMENSIONS,
    Design,
    Kind,
    even,
    seed_figures,
    simulate,
)
from results.statistics.diagnosis import Diagnosis, diagnose
from results.statistics.intervals import wilson_interval
from results.statistics.table import LabelTable

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "diagnosis.md"
IMAGES = ROOT / "docs" / "images"

SIZES = (20, 40, 60, 80, 120, 200)
SHARES = (0.10, 0.20, 0.30, 0.40, 0.50, 0.60)
PER_QUERY = (2, 5)
PARTS = ("nulls", "worst", "powers", "sizes")


def run(
    name: str, studies: int, permutations: int, make: Callable[[np.random.Generator], LabelTable]
) -> list[Diagnosis]:
    """Diagnose `studies` studies of one condition."""
    key = zlib.crc32(name.encode())
    tables = (make(np.random.default_rng([key, number])) for number in range(studies))
    return [
        diagnose(table, dimension_names=DIMENSIONS, permutations=permutations) for table in tables
    ]


def count(found: Iterable[Diagnosis], wanted: Callable[[Diagnosis], bool]) -> int:
    return sum(map(wanted, found))


def describe_rate(hits: int, studies: int) -> str:
    interval = wilson_interval(hits, studies)
    assert interval is not None
    return f"{hits / studies:.1%} | {interval.low:.1%} to {interval.high:.1%}"


def run_conditions(
    conditions: Sequence[Condition], studies: int, permutations: int
) -> list[tuple[str, int]]:
    """For each condition: studies in which a class is called a hole falsely, or, where there are
    holes, those in which exactly these are named."""
    rows = []
    for condition in conditions:
        began = time.perf_counter()
        found = run(
            condition.name, studies, permutations, lambda rng, c=condition: simulate(c.design, rng)
        )
        wanted = condition.holes
        hits = count(found, lambda d, w=wanted: set(d.holes) >= w if w else bool(d.holes))
        rows.append((condition.name, hits))
        print(f"{hits:5d}/{studies} {condition.name} ({time.perf_counter() - began:.0f} s)")
    return rows


def run_seed(studies: int, permutations: int) -> list[tuple[str, int]]:
    rows = []
    for per_query in range(1, 7):
        name = f"27 of 76 against 4 of 124, {per_query} pairs per query"
        found = run(name, studies, permutations, lambda rng, n=per_query: seed_figures(n, rng))
        rows.append((name, count(found, lambda d: set(d.holes) == FIRST)))
        print(f"{rows[-1][1]:5d}/{studies} {name}")
    return rows


def run_sizes(studies: int, permutations: int, per_query: int) -> dict[int, list[float]]:
    """Power at each share of pairs in the hole, for each class size; 200 pairs around it."""
    power: dict[int, list[float]] = {}
    for size in SIZES:
        power[size] = []
        for share in SHARES:
            pairs = (per_query, per_query)
            hole = Kind(queries=size // per_query, pairs=pairs, hole=share, error=0.02)
            rest = even(2, queries=100 // per_query, pairs=pairs, error=0.02)
            design = Design((hole, *rest))
            found = run(
                f"size {size} share {share} per query {per_query}",
                studies,
                permutations,
                lambda rng, d=design: simulate(d, rng),
            )
            power[size].append(count(found, lambda d: "class 0" in d.holes) / studies)
        print(size, " ".join(f"{value:.2f}" for value in power[size]))
    return power


def find_smallest(power: Sequence[float], target: float = 0.8) -> str:
    """The share at which power reaches the target, by linear interpolation."""
    for place, value in enumerate(power):
        if value >= target:
            if place == 0:
                return f"{SHARES[0]:.0%} or less"
            before, low = power[place - 1], SHARES[place - 1]
            share = low + (SHARES[place] - low) * (target - before) / (value - before)
            return f"{share:.0%}"
    return "none up to 60%"


def tell_rates(title: str, rows: Sequence[tuple[str, int]], studies: int, draws: int) -> str:
    """A Markdown table of rates with Wilson's 95% intervals."""
    lines = [
        f"{studies:,} studies for each condition, {draws:,} draws for each test.",
        "",
        f"| {title} | 95% interval of the estimate |",
        "| --- | --- | --- |",
        *(f"| {name} | {describe_rate(hits, studies)} |" for name, hits in rows),
    ]
    return "\n".join(lines)


def tell_sizes(sizes: Mapping[int, Mapping[int, Sequence[float]]], studies: int) -> str:
    """A Markdown table of power by pairs per query, class size and share of pairs in the hole."""
    head = ["pairs in the class", "pairs per query", "smallest hole found in 80%"]
    head += [f"at {share:.0%}" for share in SHARES]
    error = 196 * 0.4 / studies**0.5
    lines = [
        f"{studies:,} studies for each cell; the error of a power of 80% is ± {error:.0f} points.",
        "",
        f"| {' | '.join(head)} |",
        "| --- " * len(head) + "|",
    ]
    for per_query, powers in sizes.items():
        for size, power in powers.items():
            cells = [str(size), str(per_query), find_smallest(power)]
            lines.append(f"| {' | '.join(cells + [f'{value:.0%}' for value in power])} |")
    return "\n".join(lines)


def write_part(part: str, table: str) -> None:
    """Put a table between its marks in the document."""
    begin, end = f"<!-- {part} begin -->", f"<!-- {part} end -->"
    text = DOCUMENT.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    after = rest.split(end)[1]
    DOCUMENT.write_text(f"{before}{begin}\n\n{table}\n\n{end}{after}", encoding="utf-8")


def write_image(name: str, image: str) -> None:
    IMAGES.mkdir(exist_ok=True)
    (IMAGES / name).write_text(image, encoding="utf-8")


def run_part(part: str, studies: int, draws: int, *, write: bool) -> None:
    """Simulate one part, print its table, and write it where asked to."""
    if part == "nulls":
        rows = run_conditions(NULLS, studies, draws)
        table = tell_rates("null condition | studies with a false hole", rows, studies, draws)
        image = ("diagnosis-nulls.svg", draw_dots([(*row, studies) for row in rows]))
    elif part == "worst":
        rows = run_conditions(WORST, studies, draws)
        table = tell_rates("null condition | studies with a false hole", rows, studies, draws)
        image = None
    elif part == "powers":
        rows = run_seed(studies, draws) + run_conditions(POWERS, studies, draws)
        table = tell_rates("condition with a hole | hole named", rows, studies, draws)
        image = None
    else:
        fewer = max(studies // 5, 20)
        sizes = {per_query: run_sizes(fewer, draws, per_query) for per_query in PER_QUERY}
        table = tell_sizes(sizes, fewer)
        image = ("diagnosis-power.svg", draw_curves(SHARES, sizes[5]))
    print(table)
    if write:
        write_part(part, table)
        if image:
            write_image(*image)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument(
        "--part", choices=PARTS, action="append", help="of the four, by default all"
    )
    parser.add_argument("--only", help="run the conditions whose name holds this, and print them")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    if options.only:
        chosen = [c for c in (*NULLS, *POWERS) if options.only in c.name]
        run_conditions(chosen, options.studies, options.permutations)
        return
    for part in options.part or PARTS:
        run_part(part, options.studies, options.permutations, write=options.write)


if __name__ == "__main__":
    main()

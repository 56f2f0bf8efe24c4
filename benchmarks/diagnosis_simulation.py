"""How often the diagnosis is wrong, and how small a hole it finds, by simulated studies.

    python -m benchmarks.diagnosis_simulation [--studies 1000] [--part nulls] [--write]

Prints Markdown tables; `--write` puts them into docs/diagnosis.md and draws docs/images/. Every
study has its own seed, made of the condition's name and its number, so a run can be repeated.
"""

import argparse
import time
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.diagnosis_charts import draw_curves, draw_dots
from benchmarks.diagnosis_models import (
    DIMENSIONS,
    Design,
    Kind,
    Latent,
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


@dataclass(frozen=True)
class Condition:
    name: str
    design: Design | Latent
    holes: frozenset[str] = field(default_factory=frozenset)


HARDER = Kind(queries=20, error=0.20)
CALM = even(3, queries=20, error=0.05)
ROUGH = even(3, queries=20, error=0.10)

NULLS = (
    Condition("equal error, 2 classes, 50 pairs", Design(even(2, queries=7))),
    Condition("equal error, 4 classes, 200 pairs", Design(even(4, queries=14))),
    Condition("equal error, 10 classes, 700 pairs", Design(even(10, queries=20, error=0.1))),
    Condition(
        "equal error, 10 classes, 2,000 pairs",
        Design(even(10, queries=20, pairs=(10, 10), error=0.1)),
    ),
    Condition(
        "equal error, 6 annotators, 3 labels per pair",
        Design(even(4, queries=20, labels=3, error=0.1), annotators=6),
    ),
    Condition(
        "difficulty varying by query, 4 classes of 6 queries with 10 pairs",
        Design(even(4, queries=6, pairs=(10, 10), error=0.15, uneven=0.5)),
    ),
    Condition(
        "the same, varying widely",
        Design(even(4, queries=6, pairs=(10, 10), error=0.15, uneven=1.0)),
    ),
    Condition(
        "the same, and a lenient annotator",
        Design(even(4, queries=6, pairs=(10, 10), error=0.15, uneven=0.7), lenient=0.95),
    ),
    Condition(
        "1 pair per query in one class, 10 in the others, difficulty varying",
        Design(
            (
                Kind(queries=30, pairs=(1, 1), error=0.15, uneven=0.7),
                *even(3, queries=10, pairs=(10, 10), error=0.15, uneven=0.7),
            )
        ),
    ),
    Condition(
        "10 pairs per query in one class, 1 in the others, difficulty varying",
        Design(
            (
                Kind(queries=8, pairs=(10, 10), error=0.15, uneven=0.7),
                *even(3, queries=30, pairs=(1, 1), error=0.15, uneven=0.7),
            )
        ),
    ),
    Condition(
        "one class judged by six, three by two",
        Design((Kind(queries=15, labels=6), *even(3, queries=15)), annotators=6),
    ),
    Condition(
        "two classes judged by six, two by two, difficulty varying",
        Design(
            (
                *even(2, queries=12, labels=6, error=0.1, uneven=0.5),
                *even(2, queries=12, error=0.1, uneven=0.5),
            ),
            annotators=6,
        ),
    ),
    Condition("a harder class", Design((HARDER, *CALM))),
    Condition("a harder class, nothing cited", Design((HARDER, *CALM), cites="nothing")),
    Condition("a harder class, truth cited", Design((HARDER, *CALM), cites="truth")),
    Condition(
        "a harder class and a lenient annotator",
        Design((replace(HARDER, error=0.3), *ROUGH), lenient=0.9),
    ),
    Condition(
        "a harder class and an always lenient annotator, nothing cited",
        Design((replace(HARDER, error=0.3), *ROUGH), lenient=1.0, cites="nothing"),
    ),
    Condition(
        "a harder class and a lenient annotator, one error way per query",
        Design((replace(HARDER, error=0.3), *ROUGH), lenient=0.85, sticky=True),
    ),
    Condition(
        "a harder class, one error way per query",
        Design((replace(HARDER, error=0.3, pairs=(6, 6)), *CALM), sticky=True),
    ),
    Condition(
        "two harder classes and a lenient annotator",
        Design((*even(2, queries=20, error=0.3), *even(2, queries=20, error=0.04)), lenient=0.9),
    ),
    Condition(
        "three of six classes harder, six annotators, one lenient",
        Design(
            (
                *even(3, queries=15, labels=3, error=0.25, uneven=0.5),
                *even(3, queries=15, labels=3, error=0.06, uneven=0.5),
            ),
            annotators=6,
            lenient=0.9,
        ),
    ),
    Condition(
        "three duos, a harder class, one duo with a lenient annotator",
        Design((replace(HARDER, error=0.3), *ROUGH), annotators=6, lenient=0.9, duos=True),
    ),
    Condition(
        "a harder class and a lenient annotator, grades cut from noisy values",
        Latent(noise=(0.5, 0.15, 0.15, 0.15), bias=0.15),
    ),
    Condition(
        "the same, more lenient",
        Latent(noise=(0.8, 0.2, 0.2, 0.2), bias=0.4),
    ),
)

# The nulls that come nearest to the bound: run longer.
WORST = tuple(
    condition
    for condition in NULLS
    if condition.name
    in {
        "a harder class",
        "a harder class and a lenient annotator",
        "a harder class and an always lenient annotator, nothing cited",
        "a harder class, one error way per query",
        "two harder classes and a lenient annotator",
        "three of six classes harder, six annotators, one lenient",
        "three duos, a harder class, one duo with a lenient annotator",
    }
)

HOLE = Kind(queries=22, hole=0.33, error=0.015)
REST = even(2, queries=18, error=0.015)
FIRST = frozenset({"class 0"})

POWERS = (
    Condition("2 annotators, 1 to 6 pairs per query", Design((HOLE, *REST)), FIRST),
    Condition("the same, nothing cited", Design((HOLE, *REST), cites="nothing"), FIRST),
    Condition(
        "3 annotators, all judge all",
        Design(tuple(replace(kind, labels=3) for kind in (HOLE, *REST)), annotators=3),
        FIRST,
    ),
    Condition(
        "6 annotators, all judge all",
        Design(tuple(replace(kind, labels=6) for kind in (HOLE, *REST)), annotators=6),
        FIRST,
    ),
    Condition(
        "6 annotators, 2 per query, hole doubled (half of the twos share a reading)",
        Design((replace(HOLE, hole=0.6), *REST), annotators=6),
        FIRST,
    ),
    Condition(
        "two duos, one of them divided by the hole",
        Design(
            (replace(HOLE, hole=0.6), *even(2, queries=18, error=0.08)), annotators=4, duos=True
        ),
        FIRST,
    ),
    Condition(
        "three duos, all divided by the hole",
        Design((HOLE, *REST), annotators=6, duos=True, divided=3),
        FIRST,
    ),
    Condition(
        "readings that differ both ways, truth cited",
        Design((replace(HOLE, both_ways=True), *REST), cites="truth"),
        FIRST,
    ),
    Condition(
        "beside a lenient annotator who leans the other way",
        Design((replace(HOLE, error=0.06), *even(2, queries=18, error=0.08)), lenient=0.9),
        FIRST,
    ),
    Condition(
        "two holes in five classes",
        Design((HOLE, HOLE, *even(3, queries=22, error=0.015))),
        frozenset({"class 0", "class 1"}),
    ),
    Condition(
        "one hole in ten classes, 2,000 pairs",
        Design((replace(HOLE, queries=57), *even(9, queries=57, error=0.05))),
        FIRST,
    ),
)

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

"""How often the diagnosis is wrong, and how small a hole it finds, by simulated studies.

    python -m benchmarks.diagnosis_simulation [--studies 1000] [--permutations 999] [--write]

Prints Markdown tables; `--write` puts them into docs/diagnosis.md and draws docs/images/. Every
study has its own seed, made of the condition's name and its number, so a run can be repeated.
"""

import argparse
import re
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from benchmarks.diagnosis_charts import draw_curves, draw_dots
from results.statistics.diagnosis import Diagnosis, diagnose
from results.statistics.intervals import wilson_interval
from results.statistics.table import LabelTable

ROOT = Path(__file__).resolve().parent.parent
DOCUMENT = ROOT / "docs" / "diagnosis.md"
IMAGES = ROOT / "docs" / "images"
DIMENSIONS = ("answerability", "recency", "authority")
GRADES = 4


@dataclass(frozen=True)
class Kind:
    """A query class: how many queries, pairs for each, labels for each pair, and how it errs.

    A label leaves the truth by one step with chance `error`; by `uneven` it differs between
    queries (0 not at all, 1 widely). `hole` is the share of pairs that the two readings grade
    differently; `both_ways`: either reading may be the higher, query by query.
    """

    queries: int
    pairs: tuple[int, int] = (1, 6)
    labels: int = 2
    error: float = 0.05
    uneven: float = 0.0
    hole: float = 0.0
    both_ways: bool = False


@dataclass(frozen=True)
class Design:
    """A simulated study. The last annotator errs upwards with chance `lenient`, the others with
    0.5. `sticky`: all errors on a query go the same way, drawn for each query.

    `cites` is "nothing", "random" (over three dimensions), or "truth" (what the document turns on,
    one label in ten at random; in a hole the second reading cites another dimension).
    """

    kinds: tuple[Kind, ...]
    annotators: int = 2
    lenient: float = 0.5
    sticky: bool = False
    cites: str = "random"


@dataclass(frozen=True)
class Latent:
    """Another model: each annotator sees a pair's true value with noise and cuts it into grades.

    `noise` is the standard deviation in each class (four classes of 20 queries with 1 to 6 pairs),
    the true value has 1. The last annotator adds `bias` everywhere.
    """

    noise: tuple[float, ...]
    bias: float


@dataclass(frozen=True)
class Condition:
    name: str
    design: Design | Latent
    holes: frozenset[str] = field(default_factory=frozenset)


def simulate(design: Design | Latent, rng: np.random.Generator) -> LabelTable:
    """One study, by the model that `Kind` and `Design`, or `Latent`, describe."""
    if isinstance(design, Latent):
        return simulate_latent(design, rng)
    kind_of_query = np.repeat(np.arange(len(design.kinds)), [kind.queries for kind in design.kinds])
    depth = np.array(
        [
            rng.integers(low, high + 1)
            for low, high in (design.kinds[code].pairs for code in kind_of_query)
        ]
    )
    query = np.repeat(np.arange(len(depth)), depth)
    labels = np.array([kind.labels for kind in design.kinds])[kind_of_query]
    order = np.argsort(rng.random((len(depth), design.annotators)), axis=1)
    seats = [order[code, : labels[code]] for code in query]
    pair = np.repeat(np.arange(len(query)), labels[query])
    annotator = np.concatenate(seats)
    return _label(design, rng, kind_of_query, query, pair, annotator)


def simulate_latent(design: Latent, rng: np.random.Generator) -> LabelTable:
    """One study of two annotators by the model that `Latent` describes."""
    depth = rng.integers(1, 7, 20 * len(design.noise))
    query = np.repeat(np.arange(len(depth)), depth)
    query_class = np.arange(len(depth)) // 20
    noise = np.array(design.noise)[query_class[query]]
    seen = rng.normal(size=len(query))[:, None] + noise[:, None] * rng.normal(size=(len(query), 2))
    grade = np.digitize(seen + np.array([0, design.bias]), (-0.7, 0.0, 0.7))
    return LabelTable.from_columns(
        query=np.repeat(query, 2),
        pair=np.repeat(np.arange(len(query)), 2),
        annotator=np.tile([0, 1], len(query)),
        grade=grade.ravel(),
        scale=range(GRADES),
        annotators=("annotator 0", "annotator 1"),
        query_class=query_class,
        classes=[f"class {number}" for number in range(len(design.noise))],
    )


def _label(
    design: Design,
    rng: np.random.Generator,
    kind_of_query: np.ndarray,
    query: np.ndarray,
    pair: np.ndarray,
    annotator: np.ndarray,
) -> LabelTable:
    of_label = query[pair]
    second = annotator >= design.annotators / 2
    is_hole = rng.random(len(query)) < _column(design, "hole")[kind_of_query][query]
    flipped = _column(design, "both_ways")[kind_of_query] & (rng.random(len(kind_of_query)) < 0.5)
    truth = rng.integers(0, GRADES, len(query))
    truth = np.where(is_hole, rng.integers(1, GRADES, len(query)), truth)
    lower = is_hole[pair] & (second ^ flipped[of_label])
    grade = truth[pair] - lower
    errs = rng.random(len(pair)) < _draw_errors(design, rng, kind_of_query)[of_label]
    grade = grade + errs * _draw_steps(design, rng, len(kind_of_query), of_label, annotator, grade)
    return LabelTable.from_columns(
        query=of_label,
        pair=pair,
        annotator=annotator,
        grade=grade,
        dimension=_draw_dimensions(design, rng, len(query), pair, lower),
        scale=range(GRADES),
        annotators=[f"annotator {number}" for number in range(design.annotators)],
        query_class=kind_of_query,
        classes=[f"class {number}" for number in range(len(design.kinds))],
    )


def _column(design: Design, name: str) -> np.ndarray:
    return np.array([getattr(kind, name) for kind in design.kinds])


def _draw_errors(design: Design, rng: np.random.Generator, kind_of_query: np.ndarray) -> np.ndarray:
    """Chance of an error on each query: beta with the kind's mean, wider with `uneven`."""
    mean = _column(design, "error")[kind_of_query]
    uneven = _column(design, "uneven")[kind_of_query]
    weight = np.where(uneven > 0, 1 / np.maximum(uneven, 1e-9) ** 2, 1.0)
    drawn = rng.beta(mean * weight, (1 - mean) * weight)
    return np.where(uneven > 0, drawn, mean)


def _draw_steps(
    design: Design,
    rng: np.random.Generator,
    queries: int,
    query: np.ndarray,
    annotator: np.ndarray,
    grade: np.ndarray,
) -> np.ndarray:
    """One step up or down for each label; at the ends of the scale there is one way only."""
    upwards = np.where(annotator == design.annotators - 1, design.lenient, 0.5)
    up = rng.random(len(query)) < upwards
    if design.sticky:
        last_is_up = rng.random(queries) < design.lenient
        up = last_is_up[query] ^ (annotator != design.annotators - 1)
    step = np.where(up, 1, -1)
    blocked = (grade + step < 0) | (grade + step >= GRADES)
    return np.where(blocked, 0, step)


def _draw_dimensions(
    design: Design, rng: np.random.Generator, pairs: int, pair: np.ndarray, lower: np.ndarray
) -> np.ndarray:
    at_random = rng.integers(0, len(DIMENSIONS), len(pair))
    if design.cites == "nothing":
        return np.full(len(pair), -1)
    if design.cites == "random":
        return at_random
    of_pair = rng.choice(len(DIMENSIONS), size=pairs, p=(0.7, 0.15, 0.15))[pair]
    read = (of_pair + lower) % len(DIMENSIONS)
    return np.where(rng.random(len(pair)) < 0.1, at_random, read)


def seed_figures(per_query: int, rng: np.random.Generator) -> LabelTable:
    """27 of 76 pairs split one way against 4 of 124, laid out at random, `per_query` pairs each."""
    split = np.concatenate(
        [rng.permutation(np.arange(76) < 27), rng.permutation(np.arange(124) < 4)]
    )
    query = np.concatenate([np.arange(76) // per_query, 100 + np.arange(124) // per_query])
    # The few splits of the rest have no direction.
    first_higher = np.where(np.arange(200) < 76, True, rng.random(200) < 0.5)
    grade = np.column_stack([split & first_higher, split & ~first_higher]).astype(int)
    query_class = np.where(np.arange(query.max() + 1) < 100, 0, 1 + np.arange(query.max() + 1) % 2)
    return LabelTable.from_columns(
        query=np.repeat(query, 2),
        pair=np.repeat(np.arange(200), 2),
        annotator=np.tile([0, 1], 200),
        grade=grade.ravel(),
        scale=(0, 1),
        annotators=("writer", "engineer"),
        query_class=query_class,
        classes=("class 0", "class 1", "class 2"),
    )


def even(count: int, **changes: object) -> tuple[Kind, ...]:
    """`count` equal kinds."""
    return (Kind(**changes),) * count  # type: ignore[arg-type]


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
        "a harder class and a lenient annotator, grades cut from noisy values",
        Latent(noise=(0.5, 0.15, 0.15, 0.15), bias=0.15),
    ),
    Condition(
        "the same, more lenient",
        Latent(noise=(0.8, 0.2, 0.2, 0.2), bias=0.4),
    ),
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
            found = run(
                f"size {size} share {share} per query {per_query}",
                studies,
                permutations,
                lambda rng, d=Design((hole, *rest)): simulate(d, rng),
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


def write_tables(
    nulls: list[tuple[str, int]],
    powers: list[tuple[str, int]],
    sizes: dict[int, dict[int, list[float]]],
    *,
    studies: int,
    size_studies: int,
    permutations: int,
) -> str:
    lines = [
        f"{studies:,} studies for each condition, {size_studies:,} for each cell of the third",
        f"table, {permutations:,} draws for each test. Intervals are Wilson's, at 95%.",
        "",
        "| null condition | studies with a false hole | 95% interval |",
        "| --- | --- | --- |",
        *(f"| {name} | {describe_rate(hits, studies)} |" for name, hits in nulls),
        "",
        "| condition with a hole | hole named | 95% interval |",
        "| --- | --- | --- |",
        *(f"| {name} | {describe_rate(hits, studies)} |" for name, hits in powers),
        "",
        "| pairs in the class | pairs per query | smallest hole found in 80% | "
        + " | ".join(f"at {share:.0%}" for share in SHARES)
        + " |",
        "| --- " * (3 + len(SHARES)) + "|",
        *(
            f"| {size} | {per_query} | {find_smallest(power)} | "
            + " | ".join(f"{value:.0%}" for value in power)
            + " |"
            for per_query, powers_of_sizes in sizes.items()
            for size, power in powers_of_sizes.items()
        ),
    ]
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=1000)
    parser.add_argument("--permutations", type=int, default=999)
    parser.add_argument("--only", help="run the conditions whose name holds this, and print them")
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args(arguments)
    if options.only:
        chosen = [c for c in (*NULLS, *POWERS) if options.only in c.name]
        run_conditions(chosen, options.studies, options.permutations)
        return
    nulls = run_conditions(NULLS, options.studies, options.permutations)
    powers = run_seed(options.studies, options.permutations)
    powers += run_conditions(POWERS, options.studies, options.permutations)
    size_studies = max(options.studies // 5, 20)
    sizes = {n: run_sizes(size_studies, options.permutations, n) for n in PER_QUERY}
    tables = write_tables(
        nulls,
        powers,
        sizes,
        studies=options.studies,
        size_studies=size_studies,
        permutations=options.permutations,
    )
    print(tables)
    if options.write:
        text = DOCUMENT.read_text(encoding="utf-8")
        marked = "<!-- simulation begins -->\n\n{}\n\n<!-- simulation ends -->"
        pattern = re.escape(marked).replace(re.escape("{}"), ".*")
        text = re.sub(pattern, lambda _: marked.format(tables), text, flags=re.DOTALL)
        DOCUMENT.write_text(text, encoding="utf-8")
        IMAGES.mkdir(exist_ok=True)
        rates = [(name, hits, options.studies) for name, hits in nulls]
        (IMAGES / "diagnosis-nulls.svg").write_text(draw_dots(rates), encoding="utf-8")
        (IMAGES / "diagnosis-power.svg").write_text(draw_curves(SHARES, sizes[5]), encoding="utf-8")


if __name__ == "__main__":
    main()

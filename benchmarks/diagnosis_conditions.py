"""The studies that the diagnosis is tried on: nulls without a hole, and studies with one."""

from dataclasses import dataclass, field, replace

from benchmarks.diagnosis_models import (
    Design,
    Kind,
    Latent,
    even,
)


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

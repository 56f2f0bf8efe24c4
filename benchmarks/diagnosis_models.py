"""Simulated studies for the calibration of the diagnosis: two models of how labels come about."""

from dataclasses import dataclass

import numpy as np

from results.statistics.table import LabelTable

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

    `duos`: annotators 0 and 1, 2 and 3 and so on judge together and with nobody else, each query by
    one duo; the readings of a hole then divide each of the first `divided` duos.

    `cites` is "nothing", "random" (over three dimensions), or "truth" (what the document turns on,
    one label in ten at random; in a hole the second reading cites another dimension).
    """

    kinds: tuple[Kind, ...]
    annotators: int = 2
    lenient: float = 0.5
    sticky: bool = False
    cites: str = "random"
    duos: bool = False
    divided: int = 1


@dataclass(frozen=True)
class Latent:
    """Another model: each annotator sees a pair's true value with noise and cuts it into grades.

    `noise` is the standard deviation in each class (four classes of 20 queries with 1 to 6 pairs),
    the true value has 1. The last annotator adds `bias` everywhere.
    """

    noise: tuple[float, ...]
    bias: float


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
    if design.duos:
        order = order[:, :1] // 2 * 2 + np.array([0, 1])
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
    if design.duos:
        second = (annotator % 2 == 1) & (annotator < 2 * design.divided)
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
    return (Kind(**changes),) * count  # type: ignore[arg-type]  # the fields of Kind

"""Every number that a verdict depends on. `docs/diagnosis.md` says what each was chosen for."""

LEVEL = 0.05
"""Bound on the share of studies in which a class is falsely called a hole."""

APART_LEVEL = 0.04
"""Bound on the p of "direction or citation sets it apart".

Less than `LEVEL`, because queries of two classes are not quite alike, and dealing them out anew is
not quite exact.
"""

DIRECTION_SHARE, CITATION_SHARE = 0.8, 0.2
"""How direction and citation divide that bound.

A direction can then reach it in a class of `MINIMUM_QUERIES` queries, a citation with one more.
"""

MINIMUM_RATIO = 1.5
"""A class that splits less than this many times as often as the rest is not concentrated."""

MINIMUM_EXCESS = 0.10
"""A share that exceeds its reference by less than this sets no class apart."""

MINIMUM_REFERENCE = 10
"""Splits that the rest must have before a class is compared with it."""

MINIMUM_QUERIES = 6
"""Queries below which no class can show a direction: p is 2 / 2^6 at least, just in bounds."""

PLANNED_EXCESS = 0.30
"""The hole that a class must be able to show: split rate this much above the rest's."""

PLANNED_POWER = 0.80
"""How surely it must be able to show it."""

SEED = 1960
"""Seed of every random draw, so that the same labels give the same verdict."""

PERMUTATIONS = 3_999
"""Random draws for each test; fewer where there are many queries, see `resampling`."""

PERMUTATIONS_SHOWN = 199
"""Draws against the rest for a class that is not concentrated: shown, but decides nothing."""

"""Final labels after a change of the rubric: which of them the change concerns.

A final label survives a new version. Those that something changed since can concern are listed,
so that an admin looks at them again and revises them under the version in force.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from results.models import FinalLabel
from results.selectors.gaps import read_gaps
from results.services.rechecks import compare_with_earlier
from studies.models import Study
from studies.rubric_diff import NO_GAP, LabelFacts, RubricDiff
from studies.selectors import find_rubric_in_force
from studies.services.rubrics import describe_rubric


class EarlierFinal(NamedTuple):
    """A final label that stands, with the number of the version it was decided under."""

    key: int
    version: int
    facts: LabelFacts


def find_concerned_finals(study: Study) -> list[int]:
    """Keys of the final labels that stand and that the newest version concerns."""
    newest = find_rubric_in_force(study)
    if newest is None or newest.number == 1:
        return []
    finals = list_earlier_finals(study, below=newest.number)
    if not finals:
        return []
    diffs = compare_with_earlier(study, newest, describe_rubric(newest))
    return select_concerned(finals, diffs)


def list_earlier_finals(study: Study, *, below: int) -> list[EarlierFinal]:
    """The final labels that stand and were decided under a version before `below`."""
    rows = (
        FinalLabel.objects.filter(
            pair__study=study, ended_at__isnull=True, rubric_version__number__lt=below
        )
        .order_by("pk")
        .values_list(
            "pk",
            "rubric_version__number",
            "grade",
            "decided_by__name",
            "clause__name",
            "pair__query__query_class__name",
            "pair_id",
        )
    )
    gaps = read_gaps(study)
    return [
        EarlierFinal(
            key,
            version,
            LabelFacts(grade, dimension, clause, query_class, gaps.get(pair, NO_GAP)),
        )
        for key, version, grade, dimension, clause, query_class, pair in rows
    ]


def select_concerned(finals: Iterable[EarlierFinal], diffs: Mapping[int, RubricDiff]) -> list[int]:
    """Keys of the final labels that can be concerned by what changed since their version.

    `diffs` holds, by the number of an earlier version, what differs from it now. A dropped pair
    has no grade, so that every change of a grade concerns it, as it does an unsure label.
    """
    return [final.key for final in finals if diffs[final.version].concerns(final.facts)]

"""After a change of the rubric: which labels it touches, and giving exactly those back."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction
from django.db.models import Avg
from django.utils.translation import gettext as _

from annotation.models import CarriedLabel, Judgment
from annotation.progress.pace import SECONDS_PER_PAIR, count_hours
from annotation.services.assignments import BATCH, add_round, assign_pairs
from results.selectors.touched import CurrentLabel, stream_current_labels
from studies.formats.records import RubricFile
from studies.models import Member, Round, RubricVersion, Study
from studies.rubric_diff import (
    Change,
    ClauseChange,
    DimensionChange,
    EdgeCaseChange,
    GradeChange,
    RubricDiff,
    compare_rubrics,
)
from studies.services.log import record_action
from studies.services.rubrics import describe_rubric, list_examples


class RecheckRefused(Exception):
    """No round was opened, for a reason that an admin can act on."""


@dataclass
class TouchedBy:
    """What one change touches: labels and pairs; `change` is the newest of its kind."""

    key: str
    change: Change
    labels: int = 0
    pairs: set[int] = field(default_factory=set)


@dataclass
class Touched:
    """What the changes up to a version touch, and what becomes of every current label.

    `back` go back to their annotators, `untouched` and `kept` (keys) are carried forward,
    `not_asked` (keys) are touched but their annotator cannot judge again, `given_back` are in an
    open recheck already, `valid` were given under the version or carried to it before, `examples`
    are those kept because their pair stands in the rubric as an example.
    """

    version: RubricVersion
    by_change: dict[str, TouchedBy] = field(default_factory=dict)
    back: list[CurrentLabel] = field(default_factory=list)
    untouched: list[int] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    not_asked: list[int] = field(default_factory=list)
    given_back: int = 0
    valid: int = 0
    examples: int = 0
    seconds_per_pair: float = SECONDS_PER_PAIR

    @property
    def pairs(self) -> int:
        return len({label.pair for label in self.back})

    @property
    def hours(self) -> float:
        return count_hours(len(self.back), self.seconds_per_pair)

    def count_by_annotator(self) -> dict[int, int]:
        """Pairs that go back to each annotator (keys)."""
        return dict(Counter(label.annotator for label in self.back))


def find_touched(
    study: Study, version: RubricVersion, *, chosen: Collection[str] | None = None
) -> Touched:
    """Sort every current label by what the changes up to a version mean for it.

    Each label is compared with what was said under the version it is valid under. `chosen` names
    the changes (by key) to recheck for; None means all. A label that only others concern is kept.
    """
    found = Touched(version, seconds_per_pair=measure_seconds(study))
    target = describe_rubric(version)
    diffs = compare_with_earlier(study, version, target)
    for diff in diffs.values():
        for change in diff.changes:
            key = name_change(change)
            found.by_change.setdefault(key, TouchedBy(key, change))
    examples = list_examples(target)
    for label in stream_current_labels(study, up_to=version.number):
        if label.version == version.number:
            found.valid += 1
        else:
            _sort_label(found, label, diffs[label.version], examples, chosen)
    return found


def _sort_label(
    found: Touched,
    label: CurrentLabel,
    diff: RubricDiff,
    examples: set[tuple[str, str]],
    chosen: Collection[str] | None,
) -> None:
    keys = [name_change(change) for change in diff.changes if change.concerns(label.facts)]
    for key in keys:
        found.by_change[key].labels += 1
        found.by_change[key].pairs.add(label.pair)
    if not keys:
        found.untouched.append(label.key)
    elif label.is_given_back:
        found.given_back += 1
    elif chosen is not None and not set(keys) & set(chosen):
        found.kept.append(label.key)
    elif _is_example(label, examples):
        found.examples += 1
        found.kept.append(label.key)
    elif not label.can_be_asked:
        found.not_asked.append(label.key)
    else:
        found.back.append(label)


def name_change(change: Change) -> str:
    """A key for a change that forms can carry: the same part of the rubric has the same key."""
    match change:
        case GradeChange():
            return f"grade:{change.value}"
        case DimensionChange():
            return f"dimension:{change.name}"
        case ClauseChange():
            return f"clause:{change.dimension}:{change.name}"
        case EdgeCaseChange():
            return f"edge:{change.case}"


def measure_seconds(study: Study) -> float:
    """Mean active seconds for a pair, as measured in the study; assumed before there are any."""
    measured = Judgment.objects.filter(
        round__study=study, source=Judgment.Source.APP, active_seconds__gt=0
    ).aggregate(mean=Avg("active_seconds"))["mean"]
    return float(measured or SECONDS_PER_PAIR)


@transaction.atomic
def open_recheck(
    *,
    study: Study,
    version: RubricVersion,
    by: Member,
    chosen: Collection[str] | None = None,
    keep_not_asked: bool = False,
    opens_at: datetime | None = None,
) -> Round:
    """Open a round that gives the touched labels' pairs back to their annotators, at the time
    given, or now, and carry the other labels forward at once; with `keep_not_asked` those of
    people who cannot judge again too.

    One at a time in a study, so that of two clicks the second finds nothing left to open.
    Raises RecheckRefused where there is nothing to give back.
    """
    found = _lock_touched(study, version, chosen=chosen, keep_not_asked=keep_not_asked)
    if not found.back:
        raise RecheckRefused(_("There is no pair to give back: no round was opened."))
    round = add_round(
        study,
        f"recheck-{version.number}",
        kind=Round.Kind.RECHECK,
        rubric_version=version,
        opens_at=opens_at,
    )
    assign_pairs(round, found.back)
    carry_forward(found, by=by)
    record_action(
        study,
        "recheck.opened",
        user=by.user,
        member=by,
        data={
            "round": round.name,
            "rubric_version": version.number,
            "changes": sorted(found.by_change if chosen is None else chosen),
            "labels": len(found.back),
            "pairs": found.pairs,
            "opens_at": round.opens_at.isoformat(),
        },
    )
    return round


def carry_forward(found: Touched, *, by: Member) -> int:
    """Say of the labels that are not given back that they are valid under the version; returns
    how many were. The log tells the counts, the rows themselves name each label."""
    rows = [(key, CarriedLabel.Why.UNTOUCHED) for key in found.untouched]
    rows += [(key, CarriedLabel.Why.KEPT) for key in found.kept]
    if not rows:
        return 0
    CarriedLabel.objects.bulk_create(
        (
            CarriedLabel(judgment_id=key, rubric_version=found.version, why=why, by=by)
            for key, why in rows
        ),
        batch_size=BATCH,
    )
    record_action(
        by.study,
        "labels.carried",
        user=by.user,
        member=by,
        data={
            "rubric_version": found.version.number,
            "untouched": len(found.untouched),
            "kept": len(found.kept),
        },
    )
    return len(rows)


@transaction.atomic
def carry_without_round(
    *,
    study: Study,
    version: RubricVersion,
    by: Member,
    chosen: Collection[str] | None = None,
    keep_not_asked: bool = False,
) -> int:
    """Carry forward what `open_recheck` would, without opening a round: labels that would go back
    stay as they are. Returns how many were carried."""
    found = _lock_touched(study, version, chosen=chosen, keep_not_asked=keep_not_asked)
    return carry_forward(found, by=by)


def _lock_touched(
    study: Study,
    version: RubricVersion,
    *,
    chosen: Collection[str] | None,
    keep_not_asked: bool,
) -> Touched:
    """What the changes touch, until the transaction ends in nobody else's hands."""
    Study.objects.select_for_update(no_key=True).get(pk=study.pk)
    found = find_touched(study, version, chosen=chosen)
    if keep_not_asked:
        found.kept += found.not_asked
        found.not_asked = []
    return found


def compare_with_earlier(
    study: Study, version: RubricVersion, target: RubricFile
) -> dict[int, RubricDiff]:
    """What differs between each earlier version (by its number) and this one (`target`)."""
    earlier = study.rubric_versions.filter(number__lt=version.number).order_by("number")
    return {one.number: compare_rubrics(describe_rubric(one), target) for one in earlier}


def _is_example(label: CurrentLabel, examples: set[tuple[str, str]]) -> bool:
    queries, documents = label.texts
    return any((query, document) in examples for query in queries for document in documents)

"""What the adjudicators' pages show. Nothing else reaches their templates.

A `GivenLabel` has no field for who gave it; `name` is filled for an admin only, by an act of
its own that is logged.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from annotation.contexts import BlindItem, RubricSheet
from results.clause_contexts import AskedClause


@dataclass(frozen=True, slots=True)
class GivenLabel:
    """A label of the pair. `letter` stands for who gave it, and for somebody else on the next."""

    letter: str
    grade: str
    grade_name: str
    is_unsure: bool
    decided_by: str
    clause: str
    note: str
    rubric_number: int
    name: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    key: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class SettleValues:
    """What stands in the form."""

    grade: str = ""
    decided_by: str = ""
    clause: str = ""
    reason: str = ""
    cause: str = ""
    citation: str = ""
    is_dropped: bool = False
    wants_rule: bool = False
    rule_text: str = ""


@dataclass(frozen=True, slots=True)
class StandingDecision:
    """A final label as it is told. `ended_at` is set for one that no longer stands."""

    grade: str
    grade_name: str
    is_dropped: bool
    decided_by: str
    clause: str
    cause: str
    citation: str
    reason: str
    rubric_number: int
    by: str
    decided_at: datetime
    ended_at: datetime | None = None
    ended_by: str = ""


@dataclass(frozen=True, slots=True)
class Focus:
    """What of the queue is wanted; it travels with each form, so that the next pair keeps to it."""

    query_class: str
    kind: str
    classes: Sequence[str]

    @property
    def is_narrow(self) -> bool:
        return bool(self.query_class or self.kind)


@dataclass(frozen=True, slots=True)
class Case:
    """A pair to settle, with all the form needs.

    `standing` is the final label that the form would revise, or that came before it. With
    `held_by`, or `is_over`, the pair is shown and not asked for: somebody else has it, or a late
    answer is told what was decided; `values.reason` then holds what had been typed.
    """

    study_slug: str
    pair_id: str
    item: BlindItem
    labels: Sequence[GivenLabel]
    kind: str
    rubric: RubricSheet
    token: str
    key: str
    causes: Sequence[Choice]
    citations: Sequence[Choice]
    is_cause_needed: bool
    drop_key: str
    later_key: str
    rule_key: str
    values: SettleValues = field(default_factory=SettleValues)
    errors: Mapping[str, str] = field(default_factory=dict)
    standing: StandingDecision | None = None
    history: Sequence[StandingDecision] = ()
    asked: Sequence[AskedClause] = ()
    focus: Focus | None = None
    left: int = 0
    notice: str = ""
    held_by: str = ""
    held_until: datetime | None = None
    is_over: bool = False
    has_names: bool = False

    @property
    def is_revision(self) -> bool:
        """The parts shared with judging then show neither its progress nor its problem form."""
        return True

    @property
    def is_settling(self) -> bool:
        return True

    @property
    def is_citation_needed(self) -> bool:
        """One label alone cites nothing that another could differ from."""
        return self.is_cause_needed and len(self.labels) > 1

    @property
    def is_asked(self) -> bool:
        return not self.is_over and not self.held_by


@dataclass(frozen=True, slots=True)
class NothingToSettle:
    """Why no pair is shown: how many are settled, wait for labels, or are not this person's."""

    study_slug: str
    settled: int
    waiting: int
    not_yours: int
    focus: Focus
    notice: str = ""
    has_put_off: bool = False

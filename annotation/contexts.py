"""What the judge's screens show. Nothing else reaches a judge's template.

A `BlindItem` is all that a judge may know of a pair: it has no field that could hold a rank, a
run, a score, an external id, a control flag or anybody else's label.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from functools import cached_property
from hashlib import blake2b

from django.utils.safestring import SafeString

from studies.rubric_contexts import ShownChange


@dataclass(frozen=True, slots=True)
class BlindItem:
    """A pair as its judge sees it. `body` is escaped or sanitised already; `query_class` is what
    the class is called on the page, `class_name` what the rubric calls it."""

    pair_id: str
    query: str
    query_context: str
    query_class: str
    class_name: str
    document_title: str
    document_format: str
    body: SafeString
    image_url: str
    is_missing: bool
    effective_date: date | None
    is_superseded: bool


@dataclass(frozen=True, slots=True)
class GradeChoice:
    value: int
    name: str
    definition: str
    key: str
    examples: Sequence[Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class ClauseChoice:
    """`grade_when_failed` is what the clause prescribes, value and name ("1 partial"), "" where it
    prescribes none."""

    name: str
    text: str
    is_for_this_class: bool
    grade_when_failed: str


@dataclass(frozen=True, slots=True)
class DimensionChoice:
    name: str
    test: str
    key: str
    clauses: Sequence[ClauseChoice]


@dataclass(frozen=True)
class RubricSheet:
    """The rubric version a label is given under, as laid out for one query."""

    number: int
    grades: Sequence[GradeChoice]
    dimensions: Sequence[DimensionChoice]
    edge_cases: Sequence[Mapping[str, str]]

    @cached_property
    def fingerprint(self) -> str:
        """Names what the sheet says: what is drawn from it alone can be kept under this name."""
        return blake2b(repr(self).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Progress:
    """Pairs of the open rounds: labelled by this annotator, and held or still to be had."""

    done: int
    left: int

    @property
    def total(self) -> int:
        return self.done + self.left


@dataclass(frozen=True, slots=True)
class FormValues:
    """What stands in the form: empty for a fresh pair, never prefilled with a label but for
    one's own when it is revised or refused. Of a label taken back only the note comes again."""

    grade: str = ""
    decided_by: str = ""
    clause: str = ""
    is_unsure: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class JudgeContext:
    """One pair to judge, with all the form needs.

    `token` is signed and ties the form to annotator, pair, round, rubric version and the time
    of showing; `key` is the one-time key of this form. `undo_id` names the label that "back" takes
    back (field `judgment` of the undo form), empty when there is none. `errors` maps a field to its
    sentence. `is_revision` is true on the page that revises an own label.
    """

    study_slug: str
    study_title: str
    round_name: str
    rubric: RubricSheet
    item: BlindItem
    token: str
    key: str
    progress: Progress
    values: FormValues = field(default_factory=FormValues)
    errors: Mapping[str, str] = field(default_factory=dict)
    notice: str = ""
    undo_id: str = ""
    is_revision: bool = False

    @property
    def is_fresh(self) -> bool:
        """Nothing is chosen or wrong yet: the choices look alike for every pair of a class."""
        return self.values == FormValues() and not self.errors


@dataclass(frozen=True, slots=True)
class NothingToJudge:
    """Why no pair is shown: one of `no_round`, `closed`, `share_done`, `all_done`,
    `held_by_others`.

    `frees_at` tells when the first hold of somebody else runs out; `labelled` counts own labels.
    """

    study_slug: str
    study_title: str
    reason: str
    labelled: int
    frees_at: datetime | None = None
    notice: str = ""
    undo_id: str = ""


@dataclass(frozen=True, slots=True)
class RubricChanged:
    """What is shown before the next pair once its round is judged under another version.

    `changes` are the parts that differ, word by word, from version `known` to version `number`;
    the note that went with them is not shown, because it may say how people agree.
    """

    study_slug: str
    study_title: str
    round_name: str
    known: int
    number: int
    changes: Sequence[ShownChange]
    notice: str = ""


@dataclass(frozen=True, slots=True)
class OwnLabel:
    """A past label of one's own, for the list from which it can be revised.

    Round and rubric version stood above the pair when it was judged: they tell two labels of one
    pair apart and say nothing new.
    """

    judgment_id: str
    query: str
    document_title: str
    grade: str
    grade_name: str
    is_unsure: bool
    decided_by: str
    clause: str
    note: str
    round_name: str
    rubric_number: int
    judged_at: datetime
    revised_at: datetime | None
    is_imported: bool
    is_open: bool

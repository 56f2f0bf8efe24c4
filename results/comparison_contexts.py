"""What the comparison of a calibration round shows: its splits side by side, without names."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.core.paginator import Paginator
from django.http import QueryDict

from annotation.shuffle import Shuffler
from results.adjudication.screens import name_place
from results.contexts import Link, list_tabs
from results.models import CalibrationNote
from results.selectors.calibration import Given, count_given, list_notes
from results.selectors.split_pairs import (
    SplitLabel,
    SplitPair,
    Wanted,
    list_groups,
    list_split_pairs,
)
from results.services.reading import open_results
from results.services.scopes import Scope
from studies.access import StudyAccess
from studies.models import Round, Study

PAIRS_PER_PAGE = 20
ORDER_OF = "calibration"


@dataclass(frozen=True, slots=True)
class NoteValues:
    """What stands in the form of a split; `edition` is that of the note it shows, 0 for none."""

    kind: str = ""
    note: str = ""
    edition: int = 0


@dataclass(frozen=True, slots=True)
class KindChoice:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class ComparedLabel:
    """A label of the split under a letter that differs from pair to pair; `name` is empty unless
    it was asked for."""

    letter: str
    label: SplitLabel
    name: str


@dataclass(frozen=True, slots=True)
class ComparedSplit:
    """A split with its labels, what they suggest that it is, and the note on it."""

    pair: SplitPair
    labels: Sequence[ComparedLabel]
    suggested: str
    values: NoteValues
    choices: Sequence[KindChoice]
    saved: CalibrationNote | None
    error: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonPage:
    """`given` is filled while the round is open: then nothing else is shown. `counts` are the
    splits by the kind they were found to be, over all pages."""

    study: Study
    tabs: Sequence[Link]
    round: Round
    hidden_by: Sequence[str] = ()
    given: Sequence[Given] = ()
    splits: Sequence[ComparedSplit] = ()
    total: int = 0
    counts: Sequence[tuple[str, int]] = ()
    noted: int = 0
    number: int = 1
    pages: int = 1
    has_names: bool = False

    @property
    def is_open(self) -> bool:
        return self.round.closed_at is None

    @property
    def missing(self) -> int:
        return sum(one.missing for one in self.given)

    @property
    def previous(self) -> int:
        return self.number - 1

    @property
    def next(self) -> int:
        return self.number + 1 if self.number < self.pages else 0


def show_comparison(
    access: StudyAccess, round: Round, data: QueryDict, *, with_names: bool = False
) -> ComparisonPage:
    study = access.study
    page = ComparisonPage(
        study=study, tabs=list_tabs(study, Scope(), "results:rounds"), round=round
    )
    if round.closed_at is None:
        return replace(page, given=count_given(round))
    if hidden_by := open_results(access, [round]):
        return replace(page, hidden_by=hidden_by)
    scope = Scope(round=round.name)
    total = sum(group.pairs for group in list_groups(study, scope, Wanted()))
    shown = Paginator(range(total), PAIRS_PER_PAGE).get_page(data.get("page"))
    pairs = list_split_pairs(
        study,
        scope,
        Wanted(),
        limit=PAIRS_PER_PAGE,
        offset=max(shown.start_index() - 1, 0),
        by_query=True,
    )
    notes = list_notes(round)
    by_kind = Counter(note.kind for note in notes.values())
    return replace(
        page,
        splits=[lay_out_split(study, pair, notes, with_names=with_names) for pair in pairs],
        total=total,
        counts=[(str(label), by_kind[value]) for value, label in CalibrationNote.Kind.choices],
        noted=len(notes),
        number=shown.number,
        pages=shown.paginator.num_pages,
        has_names=with_names,
    )


def lay_out_split(
    study: Study,
    pair: SplitPair,
    notes: Mapping[int, CalibrationNote],
    *,
    with_names: bool = False,
    values: NoteValues | None = None,
    error: str = "",
    problem: str = "",
) -> ComparedSplit:
    saved = notes.get(pair.key)
    suggested = suggest_kind(pair.labels)
    stands = NoteValues(saved.kind, saved.note, saved.edition) if saved else NoteValues()
    shown = values or stands
    return ComparedSplit(
        pair=pair,
        labels=give_letters(study, pair, with_names=with_names),
        suggested=str(CalibrationNote.Kind(suggested).label) if suggested else "",
        values=replace(shown, edition=stands.edition),
        choices=[
            KindChoice(value, str(label), value == (shown.kind or suggested))
            for value, label in CalibrationNote.Kind.choices
        ],
        saved=saved,
        error=error,
        problem=problem,
    )


def give_letters(study: Study, pair: SplitPair, *, with_names: bool) -> list[ComparedLabel]:
    """The labels as A, B, C, in an order that differs from pair to pair and tells nothing."""
    by_name = {label.annotator: label for label in pair.labels}
    shuffled = Shuffler(study.seed, ORDER_OF, str(pair.public_id)).shuffle(by_name)
    return [
        ComparedLabel(name_place(place), by_name[name], name if with_names else "")
        for place, name in enumerate(shuffled)
    ]


def suggest_kind(labels: Sequence[SplitLabel]) -> str:
    """What the citations of a split say of it, "" where one names no dimension: the same reading
    is what a slip looks like; different dimensions or readings say that the rule leaves both."""
    graded = [label for label in labels if label.grade is not None]
    if any(not label.dimension for label in graded):
        return ""
    readings = {(label.dimension, label.clause) for label in graded}
    return CalibrationNote.Kind.SLIP if len(readings) == 1 else CalibrationNote.Kind.UNDERSPECIFIED

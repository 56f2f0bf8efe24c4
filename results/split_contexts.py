"""What the page of pairs side by side shows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef
from django.http import Http404, QueryDict
from django.utils.translation import gettext as _

from annotation.models import Judgment
from results.asked_labels import GRADE, UNSURE, AskedLabel
from results.contexts import Link, list_scopes, list_tabs, write_query
from results.selectors.split_pairs import (
    ASKED_LABELS,
    CITES,
    Cites,
    SplitGroup,
    SplitLabel,
    SplitPair,
    Wanted,
    list_groups,
    list_split_pairs,
    stream_split_labels,
)
from results.services.reading import open_results
from results.services.scopes import Scope, find_rounds
from studies.access import StudyAccess
from studies.formats.spreadsheets import neutralise
from studies.formats.tables import write_csv
from studies.models import Dimension, Member, Study

PAIRS_PER_PAGE = 20
# Moments outside of these are no label's, and some cannot be told in every time zone.
FIRST_YEAR, LAST_YEAR = 1970, 9000
SHOWN_GROUPS = 12
CSV_HEADER = (
    "group",
    "query_id",
    "doc_id",
    "query_class",
    "lowest",
    "highest",
    "annotator",
    "relevance",
    "decided_by",
    "clause",
    "note",
)


@dataclass(frozen=True, slots=True)
class Choices:
    """What the filters offer."""

    classes: Sequence[str]
    annotators: Sequence[str]
    dimensions: Sequence[str]


@dataclass(frozen=True, slots=True)
class GroupEntry:
    """A way to split, and the page on which its pairs begin."""

    place: int
    group: SplitGroup
    page: int


@dataclass(frozen=True, slots=True)
class Section:
    """The pairs of one group that stand on this page; `is_continued` from the page before."""

    entry: GroupEntry
    pairs: Sequence[SplitPair]
    is_continued: bool


@dataclass(frozen=True, slots=True)
class PairsPage:
    study: Study
    scope: Scope
    query: str
    tabs: Sequence[Link]
    scopes: Sequence[Link]
    wanted: Wanted
    choices: Choices | None = None
    hidden_by: Sequence[str] = ()
    groups: Sequence[GroupEntry] = ()
    more_groups: int = 0
    sections: Sequence[Section] = ()
    page: Page[Any] | None = None
    labels_asked: int | None = None

    @property
    def total(self) -> int:
        return self.page.paginator.count if self.page else 0

    @property
    def first_annotator(self) -> str:
        return self.wanted.annotators[0] if self.wanted.annotators else ""

    @property
    def second_annotator(self) -> str:
        return self.wanted.annotators[1] if len(self.wanted.annotators) > 1 else ""

    @property
    def further(self) -> list[tuple[str, Any]]:
        """What the address asks for beside the choices of the form."""
        named = {
            "dimension": self.wanted.other_dimension,
            "query": self.wanted.query,
            "low": self.wanted.low,
            "high": self.wanted.high,
            "from": self.wanted.since and self.wanted.since.isoformat(),
            "to": self.wanted.until and self.wanted.until.isoformat(),
            "elsewhere": "1" if self.wanted.elsewhere else None,
            "cites": self.wanted.cites,
            "alike": "1" if self.wanted.alike else None,
            "all": "1" if self.wanted.every else None,
        }
        labels = [("label", label.written) for label in self.wanted.labels]
        return [(name, value) for name, value in named.items() if value is not None] + labels

    @property
    def said(self) -> str:
        """The same in words."""
        names = {
            "dimension": _("also citing %(value)s"),
            "query": _("query %(value)s"),
            "low": _("lowest grade %(value)s"),
            "high": _("highest grade %(value)s"),
            "from": _("last label from %(value)s"),
            "to": _("last label to %(value)s"),
            "elsewhere": _("outside of this class"),
            "alike": _("labelled alike"),
            "all": _("split or not"),
        }
        told = [names[name] % {"value": value} for name, value in self.further if name in names]
        if self.wanted.cites:
            told.append(say_kind(self.wanted.cites))
        return ", ".join([*told, *map(say_label, self.wanted.labels)])

    @property
    def is_narrow(self) -> bool:
        return self.wanted != Wanted()


def say_kind(cites: Cites) -> str:
    """What the labels of a split cite, in words."""
    kinds: dict[Cites, str] = {
        "different_dimension": _("citing different dimensions"),
        "different_reading": _("citing one dimension, different readings"),
        "same_reading": _("citing the same reading"),
        "unknown": _("what they cite is unknown"),
    }
    return kinds[cites]


def say_label(label: AskedLabel) -> str:
    """A label that is asked for, in words."""
    told = [label.by or _("anybody")]
    if label.grade is not None:
        said = _("unsure") if label.grade == UNSURE else _("grade %(value)s")
        told.append(said % {"value": label.grade})
    if label.dimension is not None:
        said = _("citing %(value)s") if label.dimension else _("names no dimension")
        told.append(said % {"value": label.dimension})
    return " · ".join(told)


def show_pairs(access: StudyAccess, scope: Scope, query: QueryDict) -> PairsPage:
    """The split pairs that an address asks for. Raises UnknownScope, and Http404 for a class,
    an annotator or a dimension that the study does not have."""
    study = access.study
    hidden_by = open_results(access, find_rounds(study, scope).labels)
    frame: dict[str, Any] = {
        "study": study,
        "scope": scope,
        "query": write_query(scope),
        "tabs": list_tabs(study, scope, "results:splits"),
        "scopes": list_scopes(study, scope, "results:pairs"),
        "hidden_by": hidden_by,
    }
    if hidden_by:
        return PairsPage(**frame, wanted=Wanted())
    choices = list_choices(study)
    wanted = choose(query, choices)
    groups = list_groups(study, scope, wanted)
    total = sum(group.pairs for group in groups)
    page = Paginator(range(total), PAIRS_PER_PAGE).get_page(query.get("page"))
    offset = max(page.start_index() - 1, 0)
    pairs = list_split_pairs(study, scope, wanted, limit=PAIRS_PER_PAGE, offset=offset)
    entries = list(place_groups(groups))
    return PairsPage(
        **frame,
        wanted=wanted,
        choices=choices,
        groups=entries[:SHOWN_GROUPS],
        more_groups=max(len(entries) - SHOWN_GROUPS, 0),
        sections=list(make_sections(pairs, entries, page.number)),
        page=page,
        labels_asked=count_asked(groups) if asks_of_anybody(wanted) else None,
    )


def asks_of_anybody(wanted: Wanted) -> bool:
    """Whether pairs with one label are asked for, whoever gave it: a pair may have several."""
    return len(wanted.labels) == 1 and wanted.labels[0].by is None


def count_asked(groups: Sequence[SplitGroup]) -> int:
    return sum(group.asked for group in groups)


def list_choices(study: Study) -> Choices:
    people = Member.objects.filter(study=study, is_machine=False)
    judged = Judgment.objects.filter(annotator=OuterRef("pk"))
    annotators = people.filter(Exists(judged)).order_by("name").values_list("name", flat=True)
    dimensions = (
        Dimension.objects.filter(
            rubric_version__study=study, rubric_version__published_at__isnull=False
        )
        .order_by("-rubric_version__number", "position")
        .values_list("name", flat=True)
    )
    return Choices(
        classes=list(study.query_classes.order_by("name").values_list("name", flat=True)),
        annotators=list(annotators),
        dimensions=list(dict.fromkeys(dimensions)),
    )


def read_wanted(query: QueryDict, study: Study) -> Wanted:
    """The filters of an address. Raises Http404 for what the study does not have."""
    return choose(query, list_choices(study))


def choose(query: QueryDict, choices: Choices) -> Wanted:
    """The filters of an address. Raises Http404 for what is not among the choices and for grades
    that are no numbers, or moments that are none; a query id that the study does not have finds
    nothing."""
    query_class = query.get("class") or None
    dimensions = list(filter(None, query.getlist("dimension")))[:2]
    labels = _read_labels(query.getlist("label"))
    cites = _find_cites(query.get("cites", ""))
    annotators = tuple(dict.fromkeys(filter(None, query.getlist("annotator"))))
    known = (
        query_class is None or query_class in choices.classes,
        set(dimensions) <= set(choices.dimensions),
        set(annotators) <= set(choices.annotators),
        {label.by for label in labels} <= {None, *choices.annotators},
        {label.dimension for label in labels} <= {None, "", *choices.dimensions},
    )
    if not all(known):
        raise Http404("No such class, annotator or dimension in this study.")
    first, other = [*dimensions, None, None][:2]
    return Wanted(
        query_class,
        annotators,
        first,
        other_dimension=other,
        elsewhere=query_class is not None and query.get("elsewhere") == "1",
        cites=cites,
        query=query.get("query") or None,
        low=_read_grade(query.get("low", "")),
        high=_read_grade(query.get("high", "")),
        since=_read_moment(query.get("from", "")),
        until=_read_moment(query.get("to", "")),
        alike=query.get("alike") == "1",
        every=query.get("all") == "1",
        labels=labels,
    )


def _find_cites(text: str) -> Cites | None:
    if text and text not in CITES:
        raise Http404("Splits do not cite like that.")
    return next((kind for kind in CITES if kind == text), None)


def _read_labels(written: Sequence[str]) -> tuple[AskedLabel, ...]:
    try:
        labels = tuple(map(AskedLabel.parse, filter(None, written)))
    except ValueError as error:
        raise Http404("Labels name who gave them, a grade or a dimension.") from error
    if len(labels) > ASKED_LABELS:
        raise Http404("An address asks for two labels at most.")
    return labels


def _read_grade(text: str) -> int | None:
    if not text:
        return None
    if not GRADE.fullmatch(text):
        raise Http404("Grades are whole numbers.")
    return int(text)


def _read_moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError as error:
        raise Http404("Moments are written as ISO 8601.") from error
    if moment.tzinfo is None or not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise Http404("Moments name their offset from UTC.")
    return moment


def place_groups(groups: Sequence[SplitGroup]) -> Iterator[GroupEntry]:
    before = 0
    for place, group in enumerate(groups, start=1):
        yield GroupEntry(place, group, before // PAIRS_PER_PAGE + 1)
        before += group.pairs


def make_sections(
    pairs: Sequence[SplitPair], entries: Sequence[GroupEntry], page_number: int
) -> Iterator[Section]:
    for place, found in groupby(pairs, key=lambda pair: pair.place):
        entry = entries[place - 1]
        yield Section(entry, list(found), is_continued=entry.page < page_number)


def write_pairs_csv(study: Study, scope: Scope, wanted: Wanted) -> Iterator[str]:
    """One line for each label of each split pair, in the order of the page."""
    return write_csv(
        CSV_HEADER,
        (_csv_row(place, label) for place, label in stream_split_labels(study, scope, wanted)),
    )


def _csv_row(place: int, label: SplitLabel) -> tuple[str, ...]:
    return (
        str(place),
        label.query_id,
        label.document_id,
        neutralise(label.query_class),
        "" if label.low is None else str(label.low),
        "" if label.high is None else str(label.high),
        neutralise(label.annotator),
        "unsure" if label.grade is None else str(label.grade),
        neutralise(label.dimension),
        neutralise(label.clause),
        neutralise(label.note),
    )

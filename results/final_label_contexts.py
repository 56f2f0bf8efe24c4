"""What the tab of final labels shows: the queue with its counts, filters and settled pairs."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results.clause_contexts import AskedClause, show_proposals
from results.contexts import Link, list_tabs
from results.models import Cause
from results.selectors.contested import (
    CONTESTED,
    Count,
    QueuedPair,
    Wanted,
    count_pairs,
    list_pairs,
)
from results.selectors.holes import list_open_holes
from results.selectors.proposals import list_proposals_since_publication
from results.services.final_rechecks import find_concerned_finals
from results.services.scopes import Scope
from studies.access import StudyAccess
from studies.models import Pair, Role, Study
from studies.numbers import read_number

PAIRS_PER_PAGE = 50

KINDS = {
    "tie": gettext_lazy("ties"),
    "split": gettext_lazy("splits with a majority"),
    "unsure": gettext_lazy("nobody was sure"),
    "few": gettext_lazy("too few votes"),
    "agreed": gettext_lazy("agreed"),
    "none": gettext_lazy("no label"),
}
KINDS_OF_ONE = {
    "tie": gettext_lazy("tie"),
    "split": gettext_lazy("split"),
    "unsure": gettext_lazy("nobody sure"),
    "few": gettext_lazy("too few votes"),
    "agreed": gettext_lazy("agreed"),
    "none": gettext_lazy("no label"),
}
STATES = {
    "open": gettext_lazy("open"),
    "waiting": gettext_lazy("waiting for labels"),
    "settled": gettext_lazy("settled"),
}


@dataclass(frozen=True, slots=True)
class Option:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Select:
    name: str
    label: str
    options: Sequence[Option]


@dataclass(frozen=True, slots=True)
class KindCount:
    """So many contested pairs of one kind, by how far they are."""

    kind: str
    label: str
    open: int
    waiting: int
    settled: int

    @property
    def total(self) -> int:
        return self.open + self.waiting + self.settled


@dataclass(frozen=True, slots=True)
class QueueRow:
    pair: QueuedPair
    kind: str
    state: str
    cause: str
    url: str


@dataclass(frozen=True, slots=True)
class FinalLabelsPage:
    """The tab. `splits` is the number that the results tell of splits; `control_splits` are
    further ones, on control pairs, which they leave out. `matching_settled` counts the final
    labels that the filter shows, `dropped_share` is of all pairs with a decision."""

    study: Study
    tabs: Sequence[Link]
    kinds: Sequence[KindCount]
    splits: int
    control_splits: int
    final: int
    dropped: int
    selects: Sequence[Select]
    query: str
    is_narrow: bool
    narrowed_by: str
    rows: Sequence[QueueRow]
    matching: int
    matching_settled: int
    number: int
    pages: int
    is_admin: bool
    errors: dict[str, str]
    proposals: Sequence[AskedClause]
    reason: str = ""

    @property
    def asked(self) -> str:
        """The filter as the end of an address."""
        return f"?{self.narrowed_by}" if self.narrowed_by else ""

    @property
    def has_next(self) -> bool:
        return self.number < self.pages

    @property
    def has_previous(self) -> bool:
        return self.number > 1

    @property
    def next(self) -> int:
        return self.number + 1

    @property
    def previous(self) -> int:
        return self.number - 1


def read_wanted(study: Study, data: QueryDict) -> Wanted:
    """The filter that an address or a form names; what is unknown narrows nothing."""
    query = data.get("query", "").strip()
    kind, state, cause = data.get("kind", ""), data.get("state", ""), data.get("cause", "")
    return Wanted(
        query_class=data.get("class") or None,
        kind=kind if kind in KINDS else "",
        state=state if state in STATES else "",
        cause=cause if cause in Cause.values else "",
        is_dropped=bool(data.get("dropped")),
        finals=find_concerned_finals(study) if data.get("recheck") else None,
        with_agreed=bool(query),
        pairs=find_pairs_of_query(study, query) if query else None,
    )


def find_pairs_of_query(study: Study, query_id: str) -> list[int]:
    pairs = Pair.objects.filter(study=study, query__external_id=query_id)
    return list(pairs.values_list("pk", flat=True))


def show_final_labels(
    access: StudyAccess, data: QueryDict, *, errors: dict[str, str] | None = None
) -> FinalLabelsPage:
    study = access.study
    wanted = read_wanted(study, data)
    counts = count_pairs(study, Wanted())
    matching = count_pairs(study, wanted)
    total = sum(count.pairs for count in matching)
    pages = max(1, -(-total // PAIRS_PER_PAGE))
    number = read_page(data, pages)
    found = list_pairs(
        study,
        wanted,
        holes=list_open_holes(study),
        limit=PAIRS_PER_PAGE,
        offset=(number - 1) * PAIRS_PER_PAGE,
    )
    settled = [count for count in counts if count.state == "settled"]
    return FinalLabelsPage(
        study=study,
        tabs=list_tabs(study, Scope(), "results:final-labels"),
        kinds=list(count_kinds(counts)),
        splits=count_splits(counts, is_control=False),
        control_splits=count_splits(counts, is_control=True),
        final=sum(count.pairs for count in settled),
        dropped=sum(count.pairs for count in settled if count.is_dropped),
        selects=list_selects(study, wanted),
        query=data.get("query", "").strip(),
        is_narrow=bool(write_filter(data)),
        narrowed_by=write_filter(data),
        rows=[show_row(study, pair) for pair in found],
        matching=total,
        matching_settled=sum(count.pairs for count in matching if count.state == "settled"),
        number=number,
        pages=pages,
        is_admin=access.member.has_role(Role.ADMIN),
        errors=errors or {},
        proposals=show_proposals(study, list_proposals_since_publication(study)),
        reason=data.get("reason", ""),
    )


def read_page(data: QueryDict, pages: int) -> int:
    return min(max(read_number(data.get("page", "")) or 1, 1), pages)


def write_filter(data: QueryDict) -> str:
    """The filter as the query of an address, without the page."""
    names = ("class", "kind", "state", "cause", "dropped", "recheck", "query")
    return urlencode({name: data.get(name, "") for name in names if data.get(name)})


def count_kinds(counts: Sequence[Count]) -> Sequence[KindCount]:
    by_kind: Counter[tuple[str, str]] = Counter()
    for count in counts:
        by_kind[count.kind, count.state] += count.pairs
    rows = [
        KindCount(kind, str(label), *(by_kind[kind, state] for state in STATES))
        for kind, label in KINDS.items()
    ]
    contested = len(CONTESTED)
    return [row for place, row in enumerate(rows) if row.total or place < contested - 1]


def count_splits(counts: Sequence[Count], *, is_control: bool) -> int:
    return sum(
        count.pairs
        for count in counts
        if count.kind in {"tie", "split"} and count.is_control == is_control
    )


def show_row(study: Study, pair: QueuedPair) -> QueueRow:
    return QueueRow(
        pair=pair,
        kind=str(KINDS_OF_ONE[pair.kind]),
        state=str(STATES.get(pair.state, "")),
        cause=str(Cause(pair.cause).label) if pair.cause else "",
        url=reverse("results:final-label", args=[study.slug, pair.public_id]),
    )


def list_selects(study: Study, wanted: Wanted) -> list[Select]:
    classes = study.query_classes.order_by("position").values_list("name", flat=True)
    return [
        make_select("class", _("class"), {name: name for name in classes}, wanted.query_class),
        make_select("kind", _("kind"), KINDS, wanted.kind),
        make_select("state", _("state"), STATES, wanted.state),
        make_select("cause", _("cause"), dict(Cause.choices), wanted.cause),
        make_select("dropped", _("dropped"), {"1": _("only dropped")}, "1" * wanted.is_dropped),
        make_select(
            "recheck",
            _("rubric"),
            {"1": _("changed since, so look again")},
            "" if wanted.finals is None else "1",
        ),
    ]


def make_select(name: str, label: str, choices: Mapping[str, Any], chosen: str | None) -> Select:
    options = [Option(value, str(text), value == chosen) for value, text in choices.items()]
    return Select(name, label, options)

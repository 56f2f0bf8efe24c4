"""The tables of pages that do not stand on a stored report of agreement, as data.

Whoever may not see a page gets no file of it either. A file names things by their codes and ids,
in English, whatever the language of the page.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import Http404, QueryDict
from django.utils.translation import gettext as _

from results.dropped import MEASURES
from results.export_contexts import DECIDED, share_of
from results.final_label_contexts import read_wanted
from results.release_contexts import SystemsPage, show_systems
from results.revision_contexts import show_revision
from results.rounds_contexts import Figure, RoundsPage, show_rounds
from results.selectors.contested import QueuedPair, count_pairs, list_pairs
from results.selectors.holes import list_open_holes
from results.selectors.revisions import get_account
from results.services.exports import ExportRefused, Manifest, describe_export
from results.services.reading import open_results
from results.services.scopes import UnknownScope
from results.tables.making import Column, Value
from studies.access import StudyAccess
from studies.models import Pair

QUEUE_CHUNK = 2000

Row = Sequence[Value]
Account = Mapping[str, Any]


class TableWithheld(Exception):
    """There is no file for this person now; the message says why."""


@dataclass(frozen=True, slots=True)
class PageTable:
    columns: Sequence[Column]
    rows: Iterable[Row]


Make = Callable[[StudyAccess, QueryDict], PageTable]
PAGE_TABLES: dict[str, Make] = {}


def of_page(name: str) -> Callable[[Make], Make]:
    """Register what makes the table of this name from what an address asks for. It raises
    TableWithheld, and Http404 for what the study does not have."""

    def register(make: Make) -> Make:
        PAGE_TABLES[name] = make
        return make

    return register


def refuse_hidden(hidden_by: Sequence[str]) -> None:
    if hidden_by:
        told = _("You still have pairs to judge blind in: %(rounds)s.")
        raise TableWithheld(told % {"rounds": ", ".join(hidden_by)})


def say_uncounted() -> str:
    return _("There are no numbers of this yet: have them computed first.")


@of_page("contested")
def contested(access: StudyAccess, data: QueryDict) -> PageTable:
    """How many contested pairs there are of each kind, by class and how far they are."""
    refuse_hidden(open_results(access))
    counts = count_pairs(access.study, read_wanted(access.study, data))
    return PageTable(
        [
            Column("kind", "", "text"),
            Column("state", "", "text"),
            Column("class", "", "text"),
            Column("cause", "", "text"),
            Column("control_pair", ""),
            Column("dropped", ""),
            Column("pairs", ""),
        ],
        [
            [
                count.kind,
                count.state,
                count.query_class,
                count.cause,
                int(count.is_control),
                int(count.is_dropped),
                count.pairs,
            ]
            for count in counts
        ],
    )


@of_page("final-labels")
def final_labels(access: StudyAccess, data: QueryDict) -> PageTable:
    """Every pair that the filter of the page finds, in the order of the page."""
    refuse_hidden(open_results(access))
    return PageTable(
        [
            Column("query_id", "", "id"),
            Column("doc_id", "", "id"),
            Column("query", "", "text"),
            Column("document", "", "text"),
            Column("class", "", "text"),
            Column("high_risk", ""),
            Column("open_hole", ""),
            Column("kind", "", "text"),
            Column("distance", ""),
            Column("state", "", "text"),
            Column("final_label", "", "text"),
            Column("cause", "", "text"),
            Column("rubric_version", ""),
        ],
        _list_queue(access, data),
    )


def _list_queue(access: StudyAccess, data: QueryDict) -> Iterator[Row]:
    """Chunk by chunk, so that a long queue is never held whole."""
    study = access.study
    wanted, holes = read_wanted(study, data), list_open_holes(study)
    offset = 0
    while found := list_pairs(study, wanted, holes=holes, limit=QUEUE_CHUNK, offset=offset):
        names = Pair.objects.filter(pk__in=[pair.id for pair in found]).order_by()
        ids = {
            key: (query, document)
            for key, query, document in names.values_list(
                "pk", "query__external_id", "document__external_id"
            )
        }
        yield from ([*ids[pair.id], *_describe_queued(pair)] for pair in found)
        offset += QUEUE_CHUNK


def _describe_queued(pair: QueuedPair) -> Row:
    final = None
    if pair.final_id is not None:
        final = "dropped" if pair.final_grade is None else str(pair.final_grade)
    return [
        pair.query,
        pair.document_title,
        pair.query_class,
        int(pair.is_high_risk),
        int(pair.is_hole),
        pair.kind,
        pair.distance,
        pair.state,
        final,
        pair.cause,
        pair.rubric_number,
    ]


@of_page("systems")
def systems(access: StudyAccess, data: QueryDict) -> PageTable:
    """Each run and measure as it stands, and with the dropped pairs at their worst and best."""
    page = show_systems(access)
    refuse_hidden(page.hidden_by)
    if not page.status or not page.status.computed_at:
        raise TableWithheld(say_uncounted())
    return PageTable(
        [
            Column("run", "", "text"),
            Column("queries", ""),
            Column("measure", "", "text"),
            Column("k", ""),
            Column("value", "", "ratio"),
            Column("worst", "", "ratio"),
            Column("best", "", "ratio"),
            Column("dropped", ""),
            Column("dropped_share", "", "share"),
        ],
        _list_scores(page),
    )


def _list_scores(page: SystemsPage) -> Iterator[Row]:
    for run in page.runs:
        for measure, score in zip(MEASURES, run.scores, strict=True):
            of_run = [run.name, page.queries, measure, page.k]
            bounds = [score.value, score.worst, score.best]
            yield [*of_run, *bounds, page.dropped, page.dropped_share]


@of_page("calibrations")
def calibrations(access: StudyAccess, data: QueryDict) -> PageTable:
    """Calibration rounds, one a row; those without numbers have none."""
    return PageTable(
        [
            Column("round", "", "text"),
            Column("rubric_version", ""),
            Column("state", "", "text"),
            Column("queries", ""),
            Column("pairs", ""),
            Column("splits", ""),
            Column("rate", "", "share"),
            Column("rate_interval95", "", "share_interval"),
            Column("alpha", "", "ratio"),
            Column("alpha_interval95", "", "interval"),
        ],
        [
            [
                round.name,
                round.number,
                round.state,
                round.queries,
                *((round.pairs, round.splits) if round.state == "ready" else (None, None)),
                *_read_figure(round.rate),
                *_read_figure(round.alpha),
            ]
            for round in _read_rounds(access).rounds
        ],
    )


@of_page("calibration-kappas")
def calibration_kappas(access: StudyAccess, data: QueryDict) -> PageTable:
    page = _read_rounds(access)
    return PageTable(
        [
            Column("a", "", "text"),
            Column("b", "", "text"),
            Column("round", "", "text"),
            Column("kappa", "", "ratio"),
            Column("interval95", "", "interval"),
        ],
        [
            [row.a, row.b, round.name, *_read_figure(figure)]
            for row in page.kappas
            for round, figure in zip(page.rounds, row.figures, strict=True)
            if figure is not None
        ],
    )


@of_page("self-agreement")
def self_agreement(access: StudyAccess, data: QueryDict) -> PageTable:
    return PageTable(
        [
            Column("annotator", "", "text"),
            Column("round", "", "text"),
            Column("pairs", ""),
            Column("observed", "", "share"),
            Column("expected", "", "share"),
            Column("kappa", "", "ratio"),
            Column("interval95", "", "interval"),
        ],
        [
            [row.name, row.round, row.pairs, row.observed, row.expected, *_read_figure(row.kappa)]
            for row in _read_rounds(access).selves
        ],
    )


def _read_rounds(access: StudyAccess) -> RoundsPage:
    page = show_rounds(access, queries=1, each=1)
    refuse_hidden(page.hidden_by)
    return page


def _read_figure(figure: Figure | None) -> Row:
    return [None, None] if figure is None else [figure.value, figure.interval]


@of_page("account-agreement")
def account_agreement(access: StudyAccess, data: QueryDict) -> PageTable:
    account = _read_account(access, data)
    names = ("pairs", "comparisons", "observed", "kappa", "expected", "splits", "rate")
    return PageTable(
        [
            Column("measure", "", "text"),
            Column("before", "", "ratio"),
            Column("after", "", "ratio"),
        ],
        [[name, account["before"][name], account["after"][name]] for name in names],
    )


@of_page("account-classes")
def account_classes(access: StudyAccess, data: QueryDict) -> PageTable:
    """Each class on either side, with the rest of the study."""
    account = _read_account(access, data)
    names = ("pairs", "splits", "rate", "rest_pairs", "rest_splits", "rest_rate")
    return PageTable(
        [
            Column("side", "", "text"),
            Column("class", "", "text"),
            *(Column(name, "", "share" if "rate" in name else "count") for name in names),
        ],
        [
            [side, row["class"], *(row[name] for name in names)]
            for side in ("before", "after")
            for row in account[side]["classes"]
        ],
    )


@of_page("pair-moves")
def pair_moves(access: StudyAccess, data: QueryDict) -> PageTable:
    return _list_moves(_read_account(access, data)["transitions"], "pairs")


@of_page("label-moves")
def label_moves(access: StudyAccess, data: QueryDict) -> PageTable:
    return _list_moves(_read_account(access, data)["label_transitions"], "labels")


def _list_moves(moves: Sequence[Row], counted: str) -> PageTable:
    return PageTable([Column("before", ""), Column("after", ""), Column(counted, "")], moves)


@of_page("account-runs")
def account_runs(access: StudyAccess, data: QueryDict) -> PageTable:
    """Each run and measure under either label set, with the bounds of dropped pairs."""
    account = _read_account(access, data)
    return PageTable(
        [
            Column("side", "", "text"),
            Column("run", "", "text"),
            Column("queries", ""),
            Column("measure", "", "text"),
            Column("k", ""),
            Column("value", "", "ratio"),
            Column("worst", "", "ratio"),
            Column("best", "", "ratio"),
            Column("dropped", ""),
            Column("dropped_share", "", "share"),
        ],
        [
            [
                side,
                run["run"],
                account["queries_scored"],
                measure,
                account["k"],
                run[measure],
                *(bound and bound[measure] for bound in (run["worst"], run["best"])),
                account[side]["dropped"],
                account[side]["dropped_share"],
            ]
            for side in ("before", "after")
            for run in account[side]["runs"]
            for measure in MEASURES
        ],
    )


def _read_account(access: StudyAccess, data: QueryDict) -> Account:
    try:
        page = show_revision(access, data)
    except UnknownScope as unknown:
        raise Http404(str(unknown)) from unknown
    refuse_hidden(page.hidden_by)
    account = page.comparison and get_account(access.study, page.comparison)
    if not account:
        raise TableWithheld(_("There is no stored account of this: have it computed first."))
    payload: Account = account.payload
    return payload


@of_page("decided")
def decided(access: StudyAccess, data: QueryDict) -> PageTable:
    """What decides the exported pairs; dropped ones are none of these and have no share."""
    counts = _describe_export(access, data).counts
    exported = counts["pairs_exported"]
    return PageTable(
        [Column("by", "", "text"), Column("pairs", ""), Column("share", "", "share")],
        [
            [key, counts[key], share_of(counts[key], exported, key)]
            for key, _name in DECIDED
            if key in counts
        ],
    )


@of_page("withheld")
def withheld(access: StudyAccess, data: QueryDict) -> PageTable:
    """Every withheld query, once for each reason."""
    return PageTable(
        [
            Column("query_id", "", "id"),
            Column("reason", "", "text"),
            Column("pairs", ""),
            Column("missing", ""),
            Column("needed", ""),
        ],
        [
            [query.query_id, reason.code, reason.pairs, reason.missing, reason.needed]
            for query in _describe_export(access, data).withheld
            for reason in query.reasons
        ],
    )


def _describe_export(access: StudyAccess, data: QueryDict) -> Manifest:
    refuse_hidden(open_results(access))
    annotator = data.get("annotator") or None
    kind = "annotator-qrels" if annotator else "consensus-qrels"
    try:
        return describe_export(access.study, kind, annotator=annotator, with_gate=False)
    except ExportRefused as refusal:
        raise Http404(str(refusal)) from refusal

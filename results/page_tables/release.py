"""Contested pairs, final labels, systems and exports."""

from collections.abc import Iterator

from django.http import Http404, QueryDict

from results.dropped import MEASURES
from results.export_contexts import DECIDED, share_of
from results.final_label_contexts import read_wanted
from results.page_tables.making import (
    SCORES,
    PageTable,
    Row,
    TableWithheld,
    of_page,
    refuse_hidden,
    say_uncounted,
)
from results.release_contexts import SystemsPage, show_systems
from results.selectors.contested import QueuedPair, count_pairs, list_pairs
from results.selectors.holes import list_open_holes
from results.services.exports import ExportRefused, Manifest, describe_export
from results.services.reading import open_results
from results.tables.making import Column
from studies.access import StudyAccess
from studies.models import Pair

QUEUE_CHUNK = 2000


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
        SCORES,
        _list_scores(page),
    )


def _list_scores(page: SystemsPage) -> Iterator[Row]:
    for run in page.runs:
        for measure, score in zip(MEASURES, run.scores, strict=True):
            of_run = [run.name, page.queries, measure, page.k]
            bounds = [score.value, score.worst, score.best]
            yield [*of_run, *bounds, page.dropped, page.dropped_share]


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

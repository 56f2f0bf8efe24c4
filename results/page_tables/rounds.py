"""Calibrations beside each other, and people beside themselves."""

from django.http import QueryDict

from results.page_tables.making import (
    PageTable,
    Row,
    of_page,
    refuse_hidden,
)
from results.rounds_contexts import Figure, RoundsPage, show_rounds
from results.tables.making import Column
from studies.access import StudyAccess


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

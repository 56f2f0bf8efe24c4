"""What a change of the rubric did."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.http import Http404, QueryDict
from django.utils.translation import gettext as _

from results.dropped import MEASURES
from results.page_tables.making import (
    SCORES,
    PageTable,
    Row,
    TableWithheld,
    of_page,
    refuse_hidden,
)
from results.revision_contexts import show_revision
from results.selectors.revisions import get_account
from results.services.scopes import UnknownScope
from results.tables.making import Column
from studies.access import StudyAccess

Account = Mapping[str, Any]


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
        [Column("side", "", "text"), *SCORES],
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

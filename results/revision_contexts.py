"""What the page of a revision's account shows."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from django.http import Http404, QueryDict
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from results.access import refuse_open_calibration
from results.contexts import JobProgress, Link, list_shown_rounds, list_tabs, show_job
from results.models import RevisionAccount
from results.revision_figures import AccountFigures, read_account
from results.revision_wording import name_scope
from results.selectors.revisions import get_account, get_account_job
from results.services.reading import open_results
from results.services.revision_accounts import is_old
from results.services.scopes import Comparison, Scope, find_rounds
from studies.access import StudyAccess
from studies.models import Job, Study
from studies.numbers import read_number


@dataclass(frozen=True, slots=True)
class AccountStatus:
    """How a stored account stands to the labels at hand."""

    state: str
    computed_at: datetime | None = None
    progress: JobProgress | None = None


@dataclass(frozen=True, slots=True)
class RevisionPage:
    """`comparison` None means that nothing can be compared, or that nothing was chosen rightly
    (`problem`); with `hidden_by`, names of rounds, the account is withheld from this person."""

    study: Study
    tabs: Sequence[Link]
    versions: Sequence[int]
    rounds: Sequence[str]
    comparison: Comparison | None = None
    problem: str = ""
    hidden_by: Sequence[str] = ()
    status: AccountStatus | None = None
    figures: AccountFigures | None = None

    @property
    def names(self) -> tuple[str, str] | None:
        if self.comparison is None:
            return None
        return name_scope(self.comparison.before), name_scope(self.comparison.after)

    @property
    def query(self) -> str:
        return f"?{urlencode(self.comparison.fields)}" if self.comparison else ""


def read_comparison(study: Study, data: QueryDict) -> Comparison | None:
    """What an address or form asks to be compared: `from` and `to`, or `from_round` and
    `to_round`; by default the two newest versions, None where there is only one.

    Raises Http404 for what is no number, or of a version and a round.
    """
    before, after = data.get("from_round", ""), data.get("to_round", "")
    if before and after:
        return Comparison.of_rounds(before, after)
    if data.get("from") or data.get("to"):
        return Comparison.of_versions(read_version(data, "from"), read_version(data, "to"))
    newest = list_versions(study)[:2]
    return Comparison.of_versions(newest[1], newest[0]) if len(newest) == 2 else None


def read_version(data: QueryDict, name: str) -> int:
    number = read_number(data.get(name, ""))
    if number is None:
        raise Http404("Rubric versions are numbers.")
    return number


def list_versions(study: Study) -> list[int]:
    """Numbers of the published versions, the newest first."""
    published = study.rubric_versions.filter(published_at__isnull=False)
    return list(published.order_by("-number").values_list("number", flat=True))


def show_revision(access: StudyAccess, data: QueryDict) -> RevisionPage:
    """Raises UnknownScope for a version or a round that the study does not have, Http404, and what
    `refuse_open_calibration` raises."""
    study = access.study
    compared = read_comparison(study, data)
    if compared is not None:
        refuse_open_calibration(access, compared.before.round, compared.after.round)
    page = RevisionPage(
        study=study,
        tabs=list_tabs(study, Scope(), "results:revision"),
        versions=list_versions(study),
        rounds=list_shown_rounds(study),
        comparison=compared,
    )
    if compared is None:
        return page
    sides = (compared.before, compared.after)
    rounds = [round for side in sides for round in find_rounds(study, side).labels]
    if hidden_by := open_results(access, rounds):
        return replace(page, hidden_by=hidden_by)
    if compared.before == compared.after:
        problem = _("Choose two different ones: there is nothing between a thing and itself.")
        return replace(page, comparison=None, problem=problem)
    account = get_account(study, compared)
    return replace(
        page,
        status=show_status(study, compared, account),
        figures=read_account(account.payload) if account else None,
    )


def show_status(
    study: Study, compared: Comparison, account: RevisionAccount | None
) -> AccountStatus:
    job = get_account_job(study, compared)
    return AccountStatus(
        state=name_state(account, job),
        computed_at=account.computed_at if account else None,
        progress=show_job(study, job) if job else None,
    )


def name_state(account: RevisionAccount | None, job: Job | None) -> str:
    if job and job.is_at_work:
        return "computing"
    if account and not is_old(account):
        return "fresh"
    if job and job.has_failed:
        return "failed"
    return "stale" if account else "empty"

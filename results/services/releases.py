"""The numbers of the release: asked for, computed by a worker.

Web processes import this module, so what needs ir_measures is imported inside the function that
only workers and commands call.
"""

from django.utils.translation import gettext_noop

from results.models import ReleaseReport
from results.selectors.release import COMPUTE_RELEASE
from results.selectors.reports import get_report
from results.services import reports
from results.services.gate import list_last_calibrations, tell_calibration_report
from results.services.reports import is_stale, run_agreement
from results.services.scopes import Scope
from studies.models import Job, Study, User
from studies.services.jobs import ReportProgress, request_job

STEPS = {
    "deciding": gettext_noop("Deciding every query"),
    "looking": gettext_noop("Writing the exports and looking into them"),
    "scoring": gettext_noop("Scoring the runs"),
}


def request_release(study: Study, *, user: User | None = None) -> Job:
    """Ask a worker for all that the checklist rests on and that is missing or old."""
    for scope in list_old_scopes(study):
        reports.refresh(study, scope=scope, user=user)
    return request_job(kind=COMPUTE_RELEASE, study=study, user=user)


def run_release(study: Study, *, progress: ReportProgress = lambda *step: None) -> ReleaseReport:
    """Count the release's numbers and store them."""
    from results.services.release import compute_release

    names = list(STEPS)

    def step(name: str) -> None:
        progress(names.index(name), len(names), STEPS[name])

    return compute_release(study, step=step)


def run_everything(study: Study) -> None:
    """Compute here and now whatever of the checklist is missing or old.

    Raises JobRefused for a study without a rubric.
    """
    for scope in list_old_scopes(study):
        run_agreement(study, scope=scope)
    run_release(study)


def list_old_scopes(study: Study) -> list[Scope]:
    """Scopes whose agreement the checklist reads and that have to be computed anew."""
    current = get_report(study, Scope())
    scopes = [Scope()] if current is None or is_stale(current) else []
    for round in list_last_calibrations(study):
        scope = Scope(round=round.name)
        if tell_calibration_report(round, get_report(study, scope)) != "current":
            scopes.append(scope)
    return scopes

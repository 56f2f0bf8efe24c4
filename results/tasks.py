"""The jobs of this room, registered where a worker looks for tasks."""

from results.selectors.reports import COMPUTE_AGREEMENT
from results.services.reports import run_agreement
from results.services.scopes import Scope, UnknownScope
from studies.models import Job
from studies.services.jobs import JobRefused, ReportProgress, register_work


@register_work(COMPUTE_AGREEMENT)
def compute_agreement(job: Job, report: ReportProgress) -> None:
    if job.study is None:
        raise JobRefused("This job names no study.")
    try:
        scope = Scope.parse(job.arguments["scope"])
        run_agreement(job.study, scope=scope, progress=report)
    except UnknownScope as refusal:
        raise JobRefused(str(refusal)) from refusal

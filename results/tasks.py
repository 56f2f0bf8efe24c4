"""The jobs of this room, registered where a worker looks for tasks."""

from results.selectors.export_accounts import COUNT_EXPORTS
from results.selectors.release import COMPUTE_RELEASE
from results.selectors.reports import COMPUTE_AGREEMENT
from results.selectors.revisions import COMPUTE_ACCOUNT
from results.services import export_accounts
from results.services.exports import ExportRefused
from results.services.import_drafts import read_draft, run_draft
from results.services.releases import STEPS, run_release
from results.services.reports import run_agreement
from results.services.revision_accounts import run_account
from results.services.scopes import Comparison, Scope, UnknownScope
from studies.models import ImportDraft, Job
from studies.services.import_drafts import READ_IMPORT, RUN_IMPORT
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


@register_work(COMPUTE_ACCOUNT)
def account_for_revision(job: Job, report: ReportProgress) -> None:
    if job.study is None:
        raise JobRefused("This job names no study.")
    report(0, 1, "Comparing the same pairs before and after")
    try:
        sides = (Scope.parse(job.arguments[side]) for side in ("before", "after"))
        run_account(job.study, Comparison(*sides))
    except UnknownScope as refusal:
        raise JobRefused(str(refusal)) from refusal


@register_work(COMPUTE_RELEASE)
def compute_release(job: Job, report: ReportProgress) -> None:
    if job.study is None:
        raise JobRefused("This job names no study.")
    run_release(job.study, progress=report)


@register_work(COUNT_EXPORTS)
def count_exports(job: Job, report: ReportProgress) -> None:
    if job.study is None:
        raise JobRefused("This job names no study.")
    report(0, 1, STEPS["deciding"])
    try:
        export_accounts.run_account(job.study, job.arguments.get("annotator"))
    except ExportRefused as refusal:
        raise JobRefused(str(refusal)) from refusal


@register_work(READ_IMPORT)
def read_import(job: Job, report: ReportProgress) -> None:
    draft = find_draft(job)
    read_draft(draft, report)


@register_work(RUN_IMPORT)
def run_import(job: Job, report: ReportProgress) -> None:
    draft = find_draft(job)
    run_draft(draft.pk, report)


def find_draft(job: Job) -> ImportDraft:
    drafts = ImportDraft.objects.select_related("study", "created_by")
    draft = drafts.filter(study=job.study, public_id=job.arguments["draft"]).first()
    if draft is None:
        raise JobRefused("This job names no import.")
    return draft

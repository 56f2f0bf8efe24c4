"""Agreement reports: asked for, computed by a worker, stored, told whether they are old.

Web processes import this module, so what needs numpy is imported inside the functions that only
workers and commands call.
"""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from results.markdown import render_payload
from results.models import AgreementReport
from results.selectors.changes import count_classes_since, has_label_changes, has_other_plan
from results.selectors.final_labels import count_final_changes
from results.selectors.holes import name_holes
from results.selectors.reports import COMPUTE_AGREEMENT, get_report
from results.services.scopes import Scope
from studies.models import Job, Study, User
from studies.services.jobs import ReportProgress, request_job

CURRENT_LABELS = Scope()
# So many reports of filtered scopes are kept for each study.
KEPT_FILTERED = 50

STEPS = {
    "reading": gettext_noop("Reading the labels"),
    "measuring": gettext_noop("Measuring agreement and its intervals"),
    "diagnosing": gettext_noop("Telling holes of the rubric from slips and noise"),
    "done": gettext_noop("Storing the numbers"),
}


class NoReport(ValueError):
    """Nothing has been computed for this scope yet."""


def refresh(study: Study, *, scope: Scope, user: User | None = None) -> Job:
    """Ask a worker to compute the scope's numbers anew; returns the job to watch."""
    return request_job(
        kind=COMPUTE_AGREEMENT, study=study, user=user, arguments={"scope": scope.key}
    )


def run_agreement(
    study: Study, *, scope: Scope = CURRENT_LABELS, progress: ReportProgress = lambda *step: None
) -> AgreementReport:
    """Compute the scope's numbers and store them in the place of the earlier ones.

    Raises UnknownScope for a round or version that the study does not have, and JobRefused for
    a study without a rubric.
    """
    from results.services.agreement import compute_agreement

    # Before anything is read: numbers of a round are its last ones when asked for after its close.
    began = timezone.now()
    payload = compute_agreement(study, scope=scope, step=_count_steps(progress))
    report, _is_new = AgreementReport.objects.update_or_create(
        study=study,
        scope=scope.key,
        defaults={
            "payload": payload,
            "label_changes": payload["label_changes"],
            "computed_at": began,
        },
    )
    _forget_old_filters(study)
    return report


def _forget_old_filters(study: Study) -> None:
    """Keep the newest of the filtered reports: anybody in charge can ask for any number of them."""
    filtered = AgreementReport.objects.filter(study=study, scope__contains="filter:")
    kept = filtered.order_by("-computed_at", "-pk").values_list("pk", flat=True)[:KEPT_FILTERED]
    filtered.exclude(pk__in=list(kept)).delete()


def count_new_pairs(report: AgreementReport) -> int:
    """How many pairs have joined the pool since the report's labels were read; 0 for a report
    of a time when this was not counted."""
    before = report.payload.get("pool_pairs")
    return 0 if before is None else max(report.study.pairs.count() - before, 0)


def count_final_changes_since(report: AgreementReport) -> int:
    """How often final labels were set or ended since the report's were read. They move nothing
    but what the report tells of final labels: agreement and diagnosis speak of people's labels.
    0 for a report that tells nothing of them."""
    before = report.payload.get("final_changes")
    if before is None or report.payload.get("final_labels") is None:
        return 0
    return max(count_final_changes(report.study) - int(before), 0)


def has_changed(report: AgreementReport) -> bool:
    """Whether labels of the report's scope, or classes of queries, are other ones by now."""
    return has_label_changes(report) or count_classes_since(report) > 0


def is_stale(report: AgreementReport) -> bool:
    """Whether anything that the report's numbers rest on is another by now."""
    return has_changed(report) or count_new_pairs(report) > 0 or has_other_plan(report)


@dataclass(frozen=True, slots=True)
class OpenHoles:
    """Classes in which the stored numbers find the rubric silent; `is_stale` where labels have
    changed since."""

    classes: tuple[str, ...]
    is_stale: bool


def find_open_holes(study: Study) -> OpenHoles | None:
    """The holes of the current labels, `None` where no numbers have been computed yet."""
    report = get_report(study, CURRENT_LABELS)
    if report is None:
        return None
    return OpenHoles(tuple(name_holes(report.payload["classes"])), is_stale(report))


def render_markdown(study: Study, *, scope: Scope = CURRENT_LABELS) -> str:
    """The stored report as Markdown that can be committed beside a data set.

    Computes nothing, so that a page can offer it: call `run_agreement` first for numbers of
    today. Raises NoReport where the scope has none.
    """
    report = get_report(study, scope)
    if report is None:
        raise NoReport(
            _("No agreement has been computed for this study yet: ask for it on the results page")
        )
    return render_payload(report.payload)


def _count_steps(progress: ReportProgress) -> Callable[[str], None]:
    names = list(STEPS)

    def step(name: str) -> None:
        progress(names.index(name), len(names), STEPS[name])

    return step

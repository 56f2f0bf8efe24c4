"""Reads of what a worker counted for the release, and whether it is still true."""

from typing import Any

from results.gate_facts import Freshness
from results.models import ReleaseReport
from results.selectors.changes import count_class_changes, count_label_changes, stamp_plan
from results.selectors.final_labels import count_final_changes
from results.services.scopes import Scope
from studies.models import ControlPair, Job, RubricVersion, Run, Study

COMPUTE_RELEASE = "results.compute_release"
# Raised whenever the payload changes: reports of an earlier format are as good as none.
RELEASE_FORMAT = 3


def read_basis(study: Study) -> dict[str, Any]:
    """All that the numbers of a release rest on, as counts and stamps that change whenever it
    does."""
    published = RubricVersion.objects.filter(study=study, published_at__isnull=False)
    return {
        "labels": count_label_changes(study, Scope()),
        "classes": count_class_changes(study),
        "final_labels": count_final_changes(study),
        "pairs": study.pairs.count(),
        # Fewer once a run returns them: they join the pool, and the count above stays.
        "outside_pool": ControlPair.objects.filter(
            pair__study=study, pair__pool_rank__isnull=True
        ).count(),
        "plan": stamp_plan(study, Scope()),
        "runs": Run.objects.filter(study=study).count(),
        "rubric": published.order_by("-number").values_list("number", flat=True).first(),
        "consensus": [str(study.consensus), study.minimum_votes],
        "depth": study.depth,
    }


def get_release_report(study: Study) -> ReleaseReport | None:
    return ReleaseReport.objects.filter(study=study, payload__format=RELEASE_FORMAT).first()


def tell_freshness(study: Study, report: ReleaseReport | None) -> Freshness:
    if report is None:
        return "missing"
    return "current" if report.basis == read_basis(study) else "old"


def get_release_job(study: Study) -> Job | None:
    """The newest job that computes these numbers, whatever has become of it."""
    return Job.objects.filter(study=study, kind=COMPUTE_RELEASE).first()

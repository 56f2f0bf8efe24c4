"""Reads of stored accounts of a revision, and of what their numbers rest on."""

from django.db.models import Max

from annotation.models import CarriedLabel
from results.models import RevisionAccount
from results.selectors.changes import count_class_changes, count_label_changes
from results.selectors.final_labels import count_final_changes
from results.services.scopes import Comparison
from studies.models import Job, Study

COMPUTE_ACCOUNT = "results.account_for_revision"
# Raised whenever the payload gains or changes a key that the page needs.
ACCOUNT_FORMAT = 5


def describe_basis(study: Study, compared: Comparison) -> dict[str, int]:
    """What an account of the study rests on: anything of it that is another later makes the
    account old."""
    carried = CarriedLabel.objects.filter(rubric_version__study=study).aggregate(last=Max("pk"))
    return {
        "format": ACCOUNT_FORMAT,
        "label_changes": count_label_changes(study, compared.before, compared.after),
        "class_changes": count_class_changes(study),
        "final_labels": count_final_changes(study),
        "carried": carried["last"] or 0,
        "pairs": study.pairs.count(),
        "runs": study.runs.count(),
    }


def get_account(study: Study, compared: Comparison) -> RevisionAccount | None:
    return RevisionAccount.objects.filter(
        study=study,
        before=compared.before.key,
        after=compared.after.key,
        basis__format=ACCOUNT_FORMAT,
    ).first()


def get_account_job(study: Study, compared: Comparison) -> Job | None:
    """The newest job that computes this account, whatever has become of it."""
    return Job.objects.filter(
        study=study, kind=COMPUTE_ACCOUNT, arguments=name_arguments(compared)
    ).first()


def name_arguments(compared: Comparison) -> dict[str, str]:
    """The arguments of the job that computes an account."""
    return {"before": compared.before.key, "after": compared.after.key}

"""Reads of the stored counts of exports, and of what they rest on."""

from typing import Any

from annotation.usage import count_label_changes
from results.gate_facts import Freshness
from results.models import ExportAccount
from results.selectors.release import read_basis
from studies.models import Job, Member, Study

COUNT_EXPORTS = "results.count_exports"
# Raised whenever the payload changes: counts of an earlier format are as good as none.
ACCOUNT_FORMAT = 1


def describe_basis(study: Study) -> dict[str, Any]:
    """What the counts rest on: anything of it that is another later makes them old. Labels of
    every round count, for those that are recorded are told beside what would leave."""
    recorded = count_label_changes(study.rounds.all())
    return {"format": ACCOUNT_FORMAT, "recorded": recorded, **read_basis(study)}


def get_export_account(study: Study, annotator: Member | None) -> ExportAccount | None:
    return ExportAccount.objects.filter(
        study=study, annotator=annotator, basis__format=ACCOUNT_FORMAT
    ).first()


def tell_freshness(study: Study, account: ExportAccount | None) -> Freshness:
    if account is None:
        return "missing"
    return "current" if account.basis == describe_basis(study) else "old"


def get_count_job(study: Study, annotator: str | None) -> Job | None:
    """The newest job that counts this, whatever has become of it."""
    return Job.objects.filter(
        study=study, kind=COUNT_EXPORTS, arguments=name_arguments(annotator)
    ).first()


def name_arguments(annotator: str | None) -> dict[str, str]:
    """The arguments of the job that counts the consensus, or one annotator's labels."""
    return {"annotator": annotator} if annotator else {}

"""Reads of stored reports and of the jobs that make them."""

import uuid

from results.models import AgreementReport
from results.selectors.export_accounts import COUNT_EXPORTS
from results.selectors.release import COMPUTE_RELEASE
from results.selectors.revisions import COMPUTE_ACCOUNT
from results.services.scopes import Scope
from studies.models import Job, Study

COMPUTE_AGREEMENT = "results.compute_agreement"
# Raised whenever the payload gains or changes a key that pages need: reports of an earlier
# format are then as good as none, and are computed anew.
REPORT_FORMAT = 12


def get_report(study: Study, scope: Scope) -> AgreementReport | None:
    return AgreementReport.objects.filter(
        study=study, scope=scope.key, payload__format=REPORT_FORMAT
    ).first()


def get_latest_job(study: Study, scope: Scope) -> Job | None:
    """The newest job that computes this scope's numbers, whatever has become of it."""
    return Job.objects.filter(
        study=study, kind=COMPUTE_AGREEMENT, arguments={"scope": scope.key}
    ).first()


def get_job(study: Study, public_id: uuid.UUID) -> Job | None:
    kinds = (COMPUTE_AGREEMENT, COMPUTE_ACCOUNT, COMPUTE_RELEASE, COUNT_EXPORTS)
    return Job.objects.filter(study=study, kind__in=kinds, public_id=public_id).first()

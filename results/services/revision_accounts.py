"""Accounts of revisions: asked for, computed by a worker, stored, told whether they are old.

Web processes import this module, so what needs numpy is imported inside the function that only
workers call.
"""

from django.utils import timezone

from results.models import RevisionAccount
from results.selectors.revisions import COMPUTE_ACCOUNT, describe_basis, name_arguments
from results.services.scopes import Comparison, Scope
from studies.models import Job, Study, User
from studies.services.jobs import request_job


def request_account(study: Study, compared: Comparison, *, user: User | None = None) -> Job:
    """Ask a worker to compute the account anew; returns the job to watch."""
    return request_job(
        kind=COMPUTE_ACCOUNT, study=study, user=user, arguments=name_arguments(compared)
    )


def run_account(study: Study, compared: Comparison) -> RevisionAccount:
    """Compute the account and store it in the place of the earlier one.

    Raises UnknownScope for a version or round that the study does not have, and JobRefused where
    both are one.
    """
    from results.services.revision import account_for_revision

    # Read first: what changes meanwhile makes the account look old, never too new.
    basis = describe_basis(study, compared)
    payload = account_for_revision(study, compared)
    account, _is_new = RevisionAccount.objects.update_or_create(
        study=study,
        before=compared.before.key,
        after=compared.after.key,
        defaults={"payload": payload, "basis": basis, "computed_at": timezone.now()},
    )
    return account


def is_old(account: RevisionAccount) -> bool:
    """Whether labels, carried labels, pairs or runs have changed since the account was read."""
    compared = Comparison(Scope.parse(account.before), Scope.parse(account.after))
    return bool(account.basis != describe_basis(account.study, compared))

"""Setting what the agreement of a study is to reach."""

from decimal import Decimal

from django.db import transaction

from results.models import AgreementTarget
from studies.models import Member, Study
from studies.services.log import record_action


@transaction.atomic
def set_target(study: Study, *, weights: str, at_least: Decimal, by: Member) -> AgreementTarget:
    """Set the study's target, in the place of the one it had."""
    target, _is_new = AgreementTarget.objects.update_or_create(
        study=study, defaults={"weights": weights, "at_least": at_least}
    )
    data = {"weights": weights, "at_least": float(at_least)}
    record_action(study, "target.set", user=by.user, member=by, data=data)
    return target


@transaction.atomic
def remove_target(study: Study, *, by: Member) -> None:
    """Take the study's target away; nothing is done or logged where it has none."""
    removed, _by_model = AgreementTarget.objects.filter(study=study).delete()
    if removed:
        record_action(study, "target.removed", user=by.user, member=by)

"""Setting what the agreement of a study is to reach."""

from decimal import Decimal

from django.db import transaction

from results.models import AgreementTarget
from results.selectors.targets import get_target
from studies.formats.records import TargetSpec
from studies.models import Member, Study
from studies.services.imports.report import ImportReport
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


def take_over_target(
    study: Study, spec: TargetSpec | None, report: ImportReport, *, created: bool
) -> None:
    """Give a new study the target that its settings name; a study that is there keeps its own,
    and the report says so where the file asks for another."""
    if spec is None:
        return
    if created:
        AgreementTarget.objects.create(study=study, weights=spec.weights, at_least=spec.at_least)
        return
    kept = get_target(study)
    if kept is None or (kept.weights, kept.at_least) != (spec.weights, spec.at_least):
        said = f"{spec.weights} {spec.at_least}"
        report.note(
            "study.yaml", f"target is {kept or 'not set'} in the study and stays so (here: {said})"
        )

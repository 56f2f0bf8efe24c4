"""The target that a study has set for its agreement."""

from typing import cast

from results.models import AgreementTarget
from results.targets import Target, Weights
from studies.models import Study


def get_target(study: Study) -> AgreementTarget | None:
    return AgreementTarget.objects.filter(study=study).first()


def read_target(study: Study) -> Target | None:
    """The target as the pure rule takes it; None where the study has none."""
    found = get_target(study)
    if found is None:
        return None
    return Target(cast(Weights, found.weights), float(found.at_least))

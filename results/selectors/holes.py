"""Classes in which the rubric has an open hole, as the stored diagnosis tells."""

from collections.abc import Iterable, Mapping
from typing import Any

from results.gate_facts import UntoldFacts
from results.models import AgreementReport
from results.selectors.reports import REPORT_FORMAT
from results.services.scopes import Scope
from studies.models import Study


def list_open_holes(study: Study) -> list[str]:
    """Names of the classes found to be holes in the last numbers of the current labels; none
    where nothing has been computed yet."""
    classes = (
        AgreementReport.objects.filter(
            study=study, scope=Scope().key, payload__format=REPORT_FORMAT
        )
        .values_list("payload__classes", flat=True)
        .first()
    )
    return name_holes(classes or [])


def name_holes(classes: Iterable[Mapping[str, Any]]) -> list[str]:
    """The names of the holes among the `classes` of a report."""
    return [row["class"] for row in classes if row.get("verdict") == "hole"]


def list_untold(classes: Iterable[Mapping[str, Any]]) -> list[UntoldFacts] | None:
    """The classes of a report of which too little is known, None where it has no named class."""
    diagnosed = [row for row in classes if "verdict" in row]
    if not diagnosed:
        return None
    return [
        UntoldFacts(
            name=row["class"],
            pairs=row["pairs"],
            splits=row["splits"],
            more_pairs=row["more_pairs"],
            more_rest_pairs=row["more_rest_pairs"],
        )
        for row in diagnosed
        if row["verdict"] == "too_little_data"
    ]

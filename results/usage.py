"""What final labels need of a rubric, for the studies room, which knows none of them."""

from django.db.models import Count

from results.models import FinalLabel
from studies.models import Study
from studies.services.rubric_usage import UsedParts, register_usage


@register_usage
def count_parts_of_final_labels(study: Study) -> UsedParts:
    """Grades and dimensions of the final labels that stand."""
    standing = FinalLabel.objects.filter(pair__study=study, ended_at__isnull=True).order_by()
    grades = standing.filter(grade__isnull=False).values_list("grade").annotate(Count("pk"))
    dimensions = (
        standing.filter(decided_by__isnull=False)
        .values_list("decided_by__name")
        .annotate(Count("pk"))
    )
    return UsedParts(grades=dict(grades), dimensions=dict(dimensions))

"""Reads that several rooms share."""

from collections.abc import Sequence

from django.db.models import QuerySet, Sum
from django.utils import timezone

from studies.models import Member, Round, RubricVersion, Study, User


def list_memberships(user: User) -> QuerySet[Member]:
    """The person's active memberships, with their studies."""
    return (
        Member.objects.filter(user=user, is_active=True)
        .exclude(roles=[])
        .select_related("study")
        .order_by("study__title", "study__slug")
    )


def list_open_rounds(study: Study) -> Sequence[Round]:
    """Rounds that take labels now, in the order in which they are to be judged."""
    return list(
        Round.objects.filter(
            study=study, closed_at__isnull=True, opens_at__lte=timezone.now()
        ).order_by("position", "pk")
    )


def get_rubric_with_parts(version_id: int) -> RubricVersion:
    """A rubric version with grades, dimensions, clauses and edge cases, in five queries."""
    return RubricVersion.objects.prefetch_related(
        "grades", "dimensions__clauses__classes", "edge_cases"
    ).get(pk=version_id)


def count_label_changes(study: Study) -> int:
    """How often labels of this study have changed: larger than before means newer labels."""
    total: int | None = study.members.aggregate(total=Sum("label_changes"))["total"]
    return total or 0

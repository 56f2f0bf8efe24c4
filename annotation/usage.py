"""What current labels need of a rubric, for the studies room, which knows no labels."""

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Sum

from annotation.models import Judgment, LabelChanges
from studies.models import Round, Study
from studies.services.rubric_usage import UsedParts, register_usage


@register_usage
def count_parts_of_labels(study: Study) -> UsedParts:
    """Grades and dimensions of the labels of main rounds and rechecks that no later recheck of
    the same annotator renews."""
    current = list_current_labels(study)
    grades = current.filter(grade__isnull=False).values_list("grade").annotate(Count("pk"))
    dimensions = (
        current.filter(decided_by__isnull=False)
        .values_list("decided_by__name")
        .annotate(Count("pk"))
    )
    return UsedParts(grades=dict(grades.order_by()), dimensions=dict(dimensions.order_by()))


def list_current_labels(study: Study) -> QuerySet[Judgment]:
    """Labels of main rounds and rechecks, without those that a recheck renews."""
    renewed = Judgment.objects.filter(
        Q(round__position__gt=OuterRef("round__position"))
        | Q(round__position=OuterRef("round__position"), round__gt=OuterRef("round"))
        | ~Q(round__kind=OuterRef("round__kind")),
        pair=OuterRef("pair"),
        annotator=OuterRef("annotator"),
        round__kind=Round.Kind.RECHECK,
        is_surplus=False,
    ).exclude(pk=OuterRef("pk"))
    return Judgment.objects.filter(
        round__study=study,
        round__kind__in=[Round.Kind.MAIN, Round.Kind.RECHECK],
        is_surplus=False,
    ).exclude(Exists(renewed))


def has_current_labels(study: Study) -> bool:
    """Whether people have current labels: where they have labels in those rounds at all, since of
    those that renew each other the last one holds."""
    return Judgment.objects.filter(
        round__study=study,
        round__kind__in=[Round.Kind.MAIN, Round.Kind.RECHECK],
        is_surplus=False,
        annotator__is_machine=False,
    ).exists()


def count_label_changes(rounds: QuerySet[Round]) -> int:
    """How often labels of these rounds have changed: more than before means that numbers computed
    from them then are old."""
    changes = LabelChanges.objects.filter(round__in=rounds)
    return int(changes.aggregate(total=Sum("count"))["total"] or 0)

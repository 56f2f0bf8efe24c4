"""What has changed since numbers were computed, of all that they speak of."""

from django.db.models import Q, QuerySet

from annotation import usage
from annotation.models import Judgment
from results.models import AgreementReport
from results.services.scopes import Scope
from studies.models import Round, Study


def list_label_rounds(study: Study, *scopes: Scope) -> QuerySet[Round]:
    """The rounds whose labels the scopes are made of; of current labels the main rounds and the
    rechecks. Labels of any other round change none of the scopes' numbers."""
    wanted = Q(pk__in=[])
    for scope in scopes:
        named = Q(name__in=scope.rounds)
        current = Q(kind__in=[Round.Kind.MAIN, Round.Kind.RECHECK])
        wanted |= current if scope.round is None else named
    return study.rounds.filter(wanted).order_by()


def count_label_changes(study: Study, *scopes: Scope) -> int:
    """How often labels of the scopes have changed so far."""
    return usage.count_label_changes(list_label_rounds(study, *scopes))


def count_class_changes(study: Study) -> int:
    """How often a query has got another class so far."""
    return Study.objects.values_list("class_changes", flat=True).get(pk=study.pk)


def has_label_changes(report: AgreementReport) -> bool:
    """Whether the labels of the report's scope are other ones by now."""
    return count_label_changes(report.study, Scope.parse(report.scope)) > report.label_changes


def count_changed_labels(report: AgreementReport) -> int:
    """How many labels of the report's scope are other ones by now, each counted once.

    What was taken back, set aside as surplus or counted again since has no time of its own: where
    nothing else has changed, it is told as one.
    """
    if not has_label_changes(report):
        return 0
    rounds = list_label_rounds(report.study, Scope.parse(report.scope))
    since = report.computed_at
    later = Judgment.objects.filter(
        Q(recorded_at__gte=since) | Q(revised_at__gte=since), round__in=rounds
    )
    return max(later.values("pair", "annotator").distinct().count(), 1)


def count_classes_since(report: AgreementReport) -> int:
    """How many queries have got another class since; 0 for a report of a time when this was not
    counted."""
    before = report.payload.get("class_changes")
    return 0 if before is None else max(count_class_changes(report.study) - int(before), 0)

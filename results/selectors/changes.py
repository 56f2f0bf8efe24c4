"""What has changed since numbers were computed, of all that they speak of."""

from django.db import connection
from django.db.models import Exists, Max, Q, QuerySet

from annotation import usage
from annotation.models import CarriedLabel, Judgment
from results.models import AgreementReport
from results.selectors.labels import HAS_HAD_LABELS, select_planned_annotators
from results.services.scopes import Scope
from studies.models import Round, Study


def list_label_rounds(study: Study, *scopes: Scope) -> QuerySet[Round]:
    """The rounds whose labels the scopes are made of; of current labels the main rounds and the
    rechecks, which are the earlier labels too that those of a relabel round are held against.
    Labels of any other round change none of the scopes' numbers."""
    current = Q(kind__in=[Round.Kind.MAIN, Round.Kind.RECHECK])
    wanted = Q(pk__in=[])
    for scope in scopes:
        relabels = study.rounds.filter(name__in=scope.rounds, kind=Round.Kind.RELABEL)
        named = Q(name__in=scope.rounds) | current & Q(Exists(relabels))
        wanted |= current if scope.round is None else named
    return study.rounds.filter(wanted).order_by()


def count_label_changes(study: Study, *scopes: Scope) -> int:
    """How often labels of the scopes have changed so far."""
    return usage.count_label_changes(list_label_rounds(study, *scopes))


def list_carried_labels(study: Study, scope: Scope) -> QuerySet[CarriedLabel]:
    """Labels carried to the version that the scope narrows to, or that one of its relabel rounds
    is judged under: elsewhere a label counts whether carried or not."""
    relabels = study.rounds.filter(name__in=scope.rounds, kind=Round.Kind.RELABEL)
    return CarriedLabel.objects.filter(
        Q(rubric_version__number=scope.rubric) | Q(rubric_version__rounds__in=relabels),
        rubric_version__study=study,
    )


def find_last_carried(study: Study, scope: Scope) -> int:
    """The key of the label that was carried last, 0 where none is: larger once more are."""
    return int(list_carried_labels(study, scope).aggregate(last=Max("pk"))["last"] or 0)


# Asked for by every page, so it looks at no label: that somebody's last one in a round is gone is a
# change of the round's labels, and told as such.
PLAN_STAMP = f"""
WITH {select_planned_annotators("r.id = ANY (%(rounds)s)", has_labels=HAS_HAD_LABELS)}
SELECT count(*) || ':' || coalesce(sum(hashint8extended(query_id, annotators)), 0) FROM planned
"""  # noqa: S608 - put together from constants


def stamp_plan(study: Study, scope: Scope) -> str:
    """Changes when a query joins or leaves the scope's rounds, or is for another number of
    annotators: where it is for all of them, when somebody joins or leaves the round's team."""
    is_planned = Q(kind=Round.Kind.MAIN) if scope.round is None else Q(name__in=scope.rounds)
    rounds = list(study.rounds.filter(is_planned).order_by().values_list("pk", flat=True))
    with connection.cursor() as cursor:
        cursor.execute(PLAN_STAMP, {"study": study.pk, "rounds": rounds})
        (stamp,) = cursor.fetchone()
    return str(stamp)


def has_other_plan(report: AgreementReport) -> bool:
    """Whether the scope's queries are for other numbers of annotators by now."""
    return bool(report.payload["plan"] != stamp_plan(report.study, Scope.parse(report.scope)))


def count_class_changes(study: Study) -> int:
    """How often a query has got another class so far."""
    return Study.objects.values_list("class_changes", flat=True).get(pk=study.pk)


def has_label_changes(report: AgreementReport) -> bool:
    """Whether the labels of the report's scope are other ones by now, or more are carried to its
    version."""
    scope = Scope.parse(report.scope)
    return (
        count_label_changes(report.study, scope) > report.label_changes
        or find_last_carried(report.study, scope) > report.payload["carried"]
    )


def count_changed_labels(report: AgreementReport) -> int:
    """How many labels of the report's scope are other ones by now, each counted once.

    What was taken back, set aside as surplus or counted again since has no time of its own: where
    nothing else has changed, it is told as one.
    """
    if not has_label_changes(report):
        return 0
    scope = Scope.parse(report.scope)
    rounds = list_label_rounds(report.study, scope)
    carried = list_carried_labels(report.study, scope).filter(pk__gt=report.payload["carried"])
    since = report.computed_at
    later = Judgment.objects.filter(
        Q(recorded_at__gte=since) | Q(revised_at__gte=since) | Q(pk__in=carried.values("judgment")),
        round__in=rounds,
    )
    return max(later.values("pair", "annotator").distinct().count(), 1)


def count_classes_since(report: AgreementReport) -> int:
    """How many queries have got another class since; 0 for a report of a time when this was not
    counted."""
    before = report.payload.get("class_changes")
    return 0 if before is None else max(count_class_changes(report.study) - int(before), 0)

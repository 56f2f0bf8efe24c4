"""Reads of final labels: what stands on a pair, and what stood there before."""

import uuid
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet

from annotation.models import Judgment
from results.models import Cause, FinalLabel
from results.selectors.labels import select_current_labels
from studies.models import Member, Pair, RubricVersion, Study

# What an event or a page says of a final label, fetched with it.
WITH_PARTS = (
    "pair__query",
    "pair__document",
    "rubric_version",
    "decided_by",
    "clause",
    "by",
    "ended_by",
)


def get_final_label(pair: Pair) -> FinalLabel | None:
    """The final label that stands on the pair."""
    return list_history(pair).filter(ended_at__isnull=True).first()


def list_history(pair: Pair) -> QuerySet[FinalLabel]:
    """Every final label that the pair has or had, the newest first."""
    return FinalLabel.objects.select_related(*WITH_PARTS).filter(pair=pair).order_by("-pk")


CURRENT_OF_PAIR = f"""
WITH {select_current_labels("AND j.pair_id = %(pair)s")} SELECT id FROM current_labels
"""  # noqa: S608 - put together from constants


def list_current_labels(pair: Pair) -> list[Judgment]:
    """The people's current labels of a pair, in no order that says anything."""
    values = {"study": pair.study_id, "annotator": None, "pair": pair.pk}
    with connection.cursor() as cursor:
        cursor.execute(CURRENT_OF_PAIR, values)
        keys = [row[0] for row in cursor.fetchall()]
    return list(
        Judgment.objects.filter(pk__in=keys)
        .select_related("annotator", "rubric_version", "decided_by", "clause")
        .order_by("public_id")
    )


def has_labelled(member: Member, pair: Pair) -> bool:
    """Whether the member has a label on the pair, in whatever round."""
    return Judgment.objects.filter(pair=pair, annotator=member).exists()


def count_final_labels(study: Study) -> dict[str, Any]:
    """The final labels that stand on pairs of the pool: `graded`, `dropped`, and `causes` by
    name (those that are named)."""
    rows = (
        FinalLabel.objects.filter(
            pair__study=study, pair__pool_rank__isnull=False, ended_at__isnull=True
        )
        .order_by()
        .values_list("is_dropped", "cause")
        .annotate(Count("pk"))
    )
    counts: dict[str, Any] = {"graded": 0, "dropped": 0, "causes": dict.fromkeys(Cause.values, 0)}
    for is_dropped, cause, number in rows:
        counts["dropped" if is_dropped else "graded"] += number
        if cause:
            counts["causes"][cause] += number
    return counts


def count_final_changes(study: Study) -> int:
    """How often a final label of this study was set, revised or reopened: larger than before
    means that what was computed of final labels is old. No row is ever deleted, so it only grows.
    """
    counts = FinalLabel.objects.filter(pair__study=study).aggregate(
        made=Count("pk"), ended=Count("ended_at")
    )
    return int(counts["made"]) + int(counts["ended"])


def find_relevant_from(version: RubricVersion | None) -> int | None:
    """The lowest grade of the version that counts as relevant; None where none does."""
    if version is None:
        return None
    relevant = version.grades.filter(is_relevant=True)
    return relevant.order_by("value").values_list("value", flat=True).first()


def get_pair(study: Study, public_id: uuid.UUID) -> Pair | None:
    """A pair of the study with all that is shown of it."""
    return (
        Pair.objects.select_related("query__query_class", "document__body")
        .filter(study=study, public_id=public_id)
        .first()
    )

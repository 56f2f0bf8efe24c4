"""Reads that several rooms share."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from django.db.models import Count, QuerySet
from django.utils import timezone

from studies.models import (
    Member,
    Query,
    QueryClass,
    Ranking,
    Round,
    RubricVersion,
    Run,
    Study,
    User,
)


def list_memberships(user: User) -> QuerySet[Member]:
    """The person's active memberships, with their studies."""
    return (
        Member.objects.filter(user=user, is_active=True)
        .exclude(roles=[])
        .select_related("study")
        .order_by("study__title", "study__slug")
    )


def list_open_rounds(study: Study) -> Sequence[Round]:
    """Rounds that take labels now, in the order in which they are to be judged: calibration
    before anything else, the others by their position."""
    rounds = Round.objects.filter(study=study, closed_at__isnull=True, opens_at__lte=timezone.now())
    return sorted(
        rounds.order_by("position", "pk"), key=lambda round: round.kind != Round.Kind.CALIBRATION
    )


def list_rounds_to_come(study: Study) -> QuerySet[Round]:
    """Rounds that open at a later time, the first of them first."""
    return Round.objects.filter(
        study=study, closed_at__isnull=True, opens_at__gt=timezone.now()
    ).order_by("opens_at", "position", "pk")


def is_everything_closed(study: Study) -> bool:
    """Whether the study has had rounds and all of them are closed; those to come are not told."""
    had = study.rounds.filter(opens_at__lte=timezone.now())
    closed = had.values_list("closed_at", flat=True)
    return bool(closed) and all(closed)


def find_rubric_in_force(study: Study) -> RubricVersion | None:
    """The newest published version of the rubric."""
    return (
        RubricVersion.objects.filter(study=study, published_at__isnull=False)
        .order_by("-number")
        .first()
    )


def get_rubric_with_parts(version_id: int) -> RubricVersion:
    """A rubric version with grades, dimensions, clauses and edge cases, in five queries; a
    published one is kept, because it never changes."""
    try:
        return keep_published(version_id)
    except _IsDraft as draft:
        return draft.version


class _IsDraft(Exception):
    """Raised so that a draft is not kept."""

    def __init__(self, version: RubricVersion) -> None:
        super().__init__(version.pk)
        self.version = version


@lru_cache(maxsize=64)
def keep_published(version_id: int) -> RubricVersion:
    """A published version with its parts. Raises _IsDraft for one that is none."""
    version = RubricVersion.objects.prefetch_related(
        "grades", "dimensions__clauses__classes", "edge_cases"
    ).get(pk=version_id)
    if version.published_at is None:
        raise _IsDraft(version)
    return version


@dataclass(frozen=True, slots=True)
class ClassCounts:
    """The study's classes, each with its number of queries as `size`; how many have none."""

    rows: Sequence[QueryClass]
    unclassified: int


def count_classes(study: Study) -> ClassCounts:
    rows = study.query_classes.annotate(size=Count("queries")).order_by("position", "name")
    return ClassCounts(list(rows), study.queries.filter(query_class=None).count())


NO_CLASS = "-"


def list_queries_of_class(study: Study, name: str = "", words: str = "") -> QuerySet[Query]:
    """The study's queries, of the class of that name (NO_CLASS: of none), with these words."""
    queries = study.queries.select_related("query_class").order_by("external_id")
    if name:
        named = {"query_class": None} if name == NO_CLASS else {"query_class__name": name}
        queries = queries.filter(**named)
    return queries.filter(text__icontains=words) if words else queries


def select_rankings(run: Run) -> QuerySet[Ranking]:
    """The rankings of a run, each with the external id of its query."""
    rankings = Ranking.objects.filter(run=run).select_related("query")
    return rankings.only("query__external_id", "document_ids", "scores")

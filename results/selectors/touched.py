"""Current labels as a change of the rubric sees them."""

from collections.abc import Iterator
from dataclasses import dataclass

from django.db.models import Exists, F, Max, OuterRef, Q
from django.db.models.functions import Greatest

from annotation.models import RoundAssignment
from annotation.usage import list_current_labels
from results.selectors.gaps import read_gaps
from studies.models import Role, Round, Study
from studies.rubric_diff import NO_GAP, LabelFacts


@dataclass(frozen=True, slots=True)
class CurrentLabel:
    """A label with the number of the newest version, up to the one asked for, that it is valid
    under, by being given under it or carried to it.

    `can_be_asked` says that its annotator can judge the pair again; `is_given_back` that an open
    recheck asks them to already (a relabel round does not: it repeats the old rule). `texts` are
    what an example in a rubric may call query and document by.
    """

    key: int
    pair: int
    query: int
    annotator: int
    version: int
    facts: LabelFacts
    can_be_asked: bool
    is_given_back: bool
    texts: tuple[frozenset[str], frozenset[str]]


def stream_current_labels(study: Study, *, up_to: int) -> Iterator[CurrentLabel]:
    """People's current labels that were given under version `up_to` or an earlier one."""
    gaps = read_gaps(study)
    assigned = RoundAssignment.objects.filter(
        pair=OuterRef("pair"),
        annotator=OuterRef("annotator"),
        round__kind=Round.Kind.RECHECK,
        round__closed_at__isnull=True,
    ).exclude(round=OuterRef("round"))
    carried = Max(
        "carried__rubric_version__number", filter=Q(carried__rubric_version__number__lte=up_to)
    )
    rows = (
        list_current_labels(study)
        .filter(annotator__is_machine=False, rubric_version__number__lte=up_to)
        .annotate(
            version=Greatest(F("rubric_version__number"), carried),
            is_given_back=Exists(assigned),
        )
        .order_by("pk")
        .values_list(
            "pk",
            "pair_id",
            "pair__query_id",
            "annotator_id",
            "version",
            "grade",
            "decided_by__name",
            "clause__name",
            "pair__query__query_class__name",
            "annotator__user_id",
            "annotator__is_active",
            "annotator__roles",
            "is_given_back",
            "pair__query__external_id",
            "pair__query__text",
            "pair__document__external_id",
            "pair__document__title",
        )
    )
    for row in rows.iterator(2000):
        key, pair, query, annotator, version = row[:5]
        grade, dimension, clause, query_class = row[5:9]
        user, is_active, roles, is_given_back, *names = row[9:]
        yield CurrentLabel(
            key=key,
            pair=pair,
            query=query,
            annotator=annotator,
            version=version,
            facts=LabelFacts(grade, dimension, clause, query_class, gaps.get(pair, NO_GAP)),
            can_be_asked=user is not None and is_active and Role.ANNOTATOR.value in roles,
            is_given_back=is_given_back,
            texts=(frozenset(names[:2]), frozenset(names[2:]) - {""}),
        )

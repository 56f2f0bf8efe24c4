"""What adjudication found the rubric silent on, pair by pair."""

from collections import defaultdict
from collections.abc import Mapping

from results.models import Cause, ClauseProposal, FinalLabel
from studies.models import Study
from studies.rubric_diff import NamedGap


def read_gaps(study: Study) -> Mapping[int, NamedGap]:
    """The gap of each pair (key) that has one: by a final label that stands and names the rubric
    as its cause, and by the clauses that were asked for while the pair was settled and have not
    been withdrawn."""
    dimensions: dict[int, set[str | None]] = defaultdict(set)
    clauses: dict[int, set[tuple[str, str]]] = defaultdict(set)
    silent = FinalLabel.objects.filter(
        pair__study=study, ended_at__isnull=True, cause=Cause.RUBRIC
    ).order_by()
    for pair, dimension in silent.values_list("pair_id", "decided_by__name"):
        dimensions[pair].add(dimension)
    asked = ClauseProposal.objects.filter(pair__study=study, withdrawn_at__isnull=True).order_by()
    for pair, dimension, clause in asked.values_list("pair_id", "dimension", "clause"):
        dimensions[pair].add(dimension)
        clauses[pair].add((dimension, clause))
    return {
        pair: NamedGap(frozenset(named), frozenset(clauses[pair]))
        for pair, named in dimensions.items()
    }

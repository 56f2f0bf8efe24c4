"""Queries withheld for outcomes that can come no more, because their rounds are closed."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction

from annotation.models import Claim, Judgment
from annotation.services.shortfalls import count_without_missing
from annotation.usage import list_current_labels
from results.models import FinalLabel
from studies.models import Member, Pair, Query, Round, RoundQuery, Study


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A query (key) whose main rounds, by name, are all closed and that was for `planned`
    annotators; the pair with the fewest outcomes has `present` of them. `rows` are the keys of the
    query in those rounds."""

    query: int
    rounds: Sequence[str]
    rows: Sequence[int]
    planned: int
    present: int


@dataclass(frozen=True, slots=True)
class Part:
    """What one person has labelled of a query's pairs in its closed rounds."""

    name: str
    labelled: int
    pairs: int
    has_finished: bool


def find_shortfalls(study: Study, query_ids: Collection[str]) -> Mapping[str, Shortfall]:
    """Of the named queries, by external id, those that wait for outcomes in vain: in three
    statements, however many they are. A dropped pair waits for none."""
    rows = RoundQuery.objects.filter(
        query__study=study, query__external_id__in=query_ids, round__kind=Round.Kind.MAIN
    ).select_related("round", "query")
    by_query: dict[str, list[RoundQuery]] = defaultdict(list)
    for row in rows.order_by("round__position", "pk"):
        by_query[row.query.external_id].append(row)
    closed = {
        name: found
        for name, found in by_query.items()
        if all(row.round.closed_at is not None for row in found)
    }
    present = _count_outcomes(study, [found[0].query_id for found in closed.values()])
    shortfalls = {}
    for name, found in closed.items():
        query = found[0].query_id
        planned = max(row.annotators or row.round.team_size or 1 for row in found)
        if present.get(query, planned) < planned:
            rounds = [row.round.name for row in found]
            keys = [row.pk for row in found]
            shortfalls[name] = Shortfall(query, rounds, keys, planned, present[query])
    return shortfalls


@transaction.atomic
def count_with_present(*, query: Query, present: int, by: Member, reason: str) -> bool:
    """Count a query without those who never finished it, where its pair with the fewest outcomes
    has `present` of them. False, and nothing changed, where that is no longer so: an import into a
    closed round may have brought more. Imports wait for it by the study's row."""
    study = Study.objects.select_for_update(no_key=True).get(pk=query.study_id)
    found = find_shortfalls(study, [query.external_id]).get(query.external_id)
    if found is None or not found.present or found.present != present:
        return False
    count_without_missing(round_queries=found.rows, annotators=present, by=by, reason=reason)
    return True


def _count_outcomes(study: Study, queries: Collection[int]) -> dict[int, int]:
    """The outcomes of people on the pair that has the fewest, by query; pairs that were dropped
    are left out."""
    dropped = FinalLabel.objects.filter(
        pair__query__in=queries, ended_at__isnull=True, grade__isnull=True
    )
    pooled = Pair.objects.filter(query__in=queries, pool_rank__isnull=False)
    pairs = dict(pooled.exclude(pk__in=dropped.values("pair")).values_list("pk", "query"))
    labels = list_current_labels(study).filter(pair__in=pairs, annotator__is_machine=False)
    given = Counter(
        pair for pair, _annotator in set(labels.order_by().values_list("pair", "annotator"))
    )
    fewest: dict[int, int] = {}
    for pair, query in pairs.items():
        fewest[query] = min(fewest.get(query, given[pair]), given[pair])
    return fewest


def list_parts(shortfall: Shortfall) -> list[Part]:
    """Everybody who has begun or labelled the query, by name; who finished it first."""
    pairs = Pair.objects.filter(query=shortfall.query, pool_rank__isnull=False).count()
    labels = Judgment.objects.filter(
        round__round_queries__in=shortfall.rows,
        pair__query=shortfall.query,
        pair__pool_rank__isnull=False,
        annotator__is_machine=False,
    ).order_by()
    labelled = Counter(name for name, _pair in set(labels.values_list("annotator__name", "pair")))
    claims = Claim.objects.filter(round_query__in=shortfall.rows).order_by()
    names = {*labelled, *claims.values_list("annotator__name", flat=True)}
    parts = [Part(name, labelled[name], pairs, labelled[name] == pairs) for name in names]
    return sorted(parts, key=lambda part: (not part.has_finished, part.name))

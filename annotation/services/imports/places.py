"""Places that imported labels take, so that the app hands out only what is still needed."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from annotation.models import Claim
from annotation.services.claims import (
    Changes,
    count_label_changes,
    find_outgrown_claims,
    recount_surplus,
    reopen_grown_claims,
)
from studies.models import Round, RoundQuery, Study
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import fetch

# A control pair outside of the pool is asked in the app only: no file of labels need hold it.
FIND_COMPLETE = """
WITH sizes AS (
    SELECT rq.id, rq.round_id, rq.query_id, count(*) AS pairs
    FROM studies_roundquery rq
    JOIN studies_pair p ON p.query_id = rq.query_id AND p.pool_rank IS NOT NULL
    WHERE rq.id = ANY(%(keys)s)
    GROUP BY rq.id
)
SELECT s.id, j.annotator_id
FROM sizes s
JOIN studies_pair p ON p.query_id = s.query_id AND p.pool_rank IS NOT NULL
JOIN annotation_judgment j ON j.round_id = s.round_id AND j.pair_id = p.id
JOIN studies_member m ON m.id = j.annotator_id AND NOT m.is_machine
GROUP BY s.id, s.pairs, j.annotator_id
HAVING count(*) = s.pairs
ORDER BY s.id, j.annotator_id
"""


def take_up_growth(study: Study, report: ImportReport) -> None:
    """Let people judge on where queries that they had finished gained pairs; the report tells of
    the queries whose places are taken by others, who cannot be asked, or whose round is closed."""
    report.has_reopened |= reopen_grown_claims(study, report.grown) > 0
    outgrown = find_outgrown_claims(study, report.grown).values("round_query").distinct().count()
    if outgrown:
        report.note(
            "pool",
            f"queries with new pairs that were finished by who does not annotate here: {outgrown:,}"
            "; the progress page gives them to others",
        )
    in_main = RoundQuery.objects.filter(
        query__in=report.grown, round__study=study, round__kind=Round.Kind.MAIN
    )
    ended = in_main.exclude(query__in=in_main.filter(round__closed_at=None).values("query"))
    for name, queries in ended.order_by().values_list("round__name").annotate(Count("query")):
        report.note(
            "pool",
            f"the round {name} is closed: nobody judges the new pairs of its queries in it "
            f"({queries:,})",
        )


def take_finished_places(round_query_ids: Iterable[int]) -> int:
    """Give a finished claim to each person who has labelled every pooled pair of a query.

    People in the order of their keys, while places are free; labels beyond them count all the
    same. Returns the number of queries that more people have labelled than planned. Locks the
    rows in the order of their keys.
    """
    locked = RoundQuery.objects.select_for_update(of=("self",)).filter(pk__in=round_query_ids)
    round_queries = list(locked.order_by("pk"))
    keys = [round_query.pk for round_query in round_queries]
    Claim.objects.filter(
        round_query__in=keys, state=Claim.State.HELD, expires_at__lte=timezone.now()
    ).update(state=Claim.State.LAPSED, slot=None)
    complete = _find_complete(keys)
    claims = _claims_of(keys)
    changed = [
        claim
        for round_query in round_queries
        for claim in _finish(round_query, complete[round_query.pk], claims[round_query.pk])
    ]
    _save(changed)
    _set_late_labels_aside(round_queries, changed)
    return sum(
        round_query.annotators is not None
        and len(complete[round_query.pk]) > round_query.annotators
        for round_query in round_queries
    )


def _find_complete(keys: list[int]) -> dict[int, list[int]]:
    """By round query, the people whose outcome every pooled pair of it has."""
    with connection.cursor() as cursor:
        rows = fetch(cursor, FIND_COMPLETE, {"keys": keys})
    complete: dict[int, list[int]] = defaultdict(list)
    for key, annotator in rows:
        complete[key].append(annotator)
    return complete


def _claims_of(keys: list[int]) -> dict[int, dict[int, Claim]]:
    claims: dict[int, dict[int, Claim]] = defaultdict(dict)
    for claim in Claim.objects.filter(round_query__in=keys):
        claims[claim.round_query_id][claim.annotator_id] = claim
    return claims


def _finish(
    round_query: RoundQuery, annotators: list[int], claims: dict[int, Claim]
) -> Iterator[Claim]:
    """Claims to be saved: those of complete annotators, finished, as far as places go."""
    taken = {claim.slot for claim in claims.values() if claim.slot is not None}
    for annotator in annotators:
        claim = claims.get(annotator) or Claim(round_query=round_query, annotator_id=annotator)
        if claim.pk and claim.state in {Claim.State.FINISHED, Claim.State.RELEASED}:
            continue
        if claim.slot is None:
            slot = next(number for number in range(1, len(taken) + 2) if number not in taken)
            if round_query.annotators is not None and slot > round_query.annotators:
                continue
            claim.slot = slot
            taken.add(slot)
        claim.state = Claim.State.FINISHED
        claim.expires_at = timezone.now()
        yield claim


def _save(claims: list[Claim]) -> None:
    Claim.objects.bulk_create([claim for claim in claims if not claim.pk], batch_size=5000)
    Claim.objects.bulk_update(
        [claim for claim in claims if claim.pk], ["state", "slot", "expires_at"], batch_size=1000
    )


def _set_late_labels_aside(round_queries: list[RoundQuery], finished: list[Claim]) -> None:
    """Where a place was just finished, labels of those whose claims had lapsed may be surplus."""
    touched = {claim.round_query_id for claim in finished}
    lapsed = set(
        Claim.objects.filter(round_query__in=touched, slot__isnull=True).values_list(
            "round_query", flat=True
        )
    )
    changes: Changes = Counter()
    for round_query in round_queries:
        if round_query.pk in lapsed:
            changes += recount_surplus(round_query)
    count_label_changes(changes)

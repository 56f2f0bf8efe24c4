"""Rounds opened while a study runs, and pairs given to single people in them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Protocol

from django.db.models import Max
from django.utils import timezone

from annotation.models import Claim, RoundAssignment
from annotation.services.claims import expiry_in
from studies.models import Round, RoundQuery, RubricVersion, Study

BATCH = 2000


class GivenPair(Protocol):
    """Keys of a pair, its query, and the annotator who is to judge it."""

    @property
    def pair(self) -> int: ...
    @property
    def query(self) -> int: ...
    @property
    def annotator(self) -> int: ...


def add_round(
    study: Study,
    name: str,
    *,
    kind: Round.Kind,
    rubric_version: RubricVersion,
    opens_at: datetime | None = None,
) -> Round:
    """A round after all others of the study, numbered where the name is taken; it opens now
    unless a time to come is given.

    The caller holds the study's row, so that no two rounds take one name.
    """
    taken = set(study.rounds.values_list("name", flat=True))
    numbered = (f"{name}-{number}" for number in range(2, len(taken) + 3))
    now = timezone.now()
    last: int | None = study.rounds.aggregate(last=Max("position"))["last"]
    return Round.objects.create(
        study=study,
        name=name if name not in taken else next(one for one in numbered if one not in taken),
        kind=kind,
        rubric_version=rubric_version,
        position=0 if last is None else last + 1,
        opens_at=max(opens_at or now, now),
    )


def assign_pairs(round: Round, given: Iterable[GivenPair]) -> None:
    """Give each pair to its annotator in the round, and hold its query for them."""
    annotators: dict[int, dict[int, None]] = defaultdict(dict)
    rows = []
    for one in given:
        annotators[one.query].setdefault(one.annotator)
        rows.append(RoundAssignment(round=round, pair_id=one.pair, annotator_id=one.annotator))
    RoundAssignment.objects.bulk_create(rows, batch_size=BATCH)
    queries = RoundQuery.objects.bulk_create(
        (
            RoundQuery(round=round, query_id=query, annotators=len(found))
            for query, found in annotators.items()
        ),
        batch_size=BATCH,
    )
    Claim.objects.bulk_create(_hold(round, queries, annotators), batch_size=BATCH)


def _hold(
    round: Round, queries: Iterable[RoundQuery], annotators: dict[int, dict[int, None]]
) -> Iterator[Claim]:
    expires_at = expiry_in(round)
    for round_query in queries:
        for slot, annotator in enumerate(annotators[round_query.query_id], start=1):
            yield Claim(
                round_query=round_query,
                annotator_id=annotator,
                slot=slot,
                expires_at=expires_at,
            )

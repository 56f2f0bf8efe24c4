"""What an annotator could take next in a round, in their own order."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from annotation import statements
from annotation.assigned import is_assigned
from annotation.shuffle import Shuffler
from studies.models import Member, Round, RoundQuery
from studies.rows import prepared_cursor

PAIR_COUNTS_KEPT = 60  # seconds
ORDERS_KEPT = 60 * 60  # seconds


@dataclass(frozen=True, slots=True)
class OpenQueries:
    """The queries of a round that an annotator could take now, in their order.

    `order` holds the keys in the round of all its queries and `sizes` their numbers of pairs;
    `taken` are those that cannot be taken. Read as far as needed: a round has many.
    """

    order: Sequence[int]
    sizes: Mapping[int, int]
    taken: frozenset[int]

    def __iter__(self) -> Iterator[int]:
        return (key for key in self.order if key in self.sizes and key not in self.taken)

    def count_pairs(self) -> int:
        sizes = self.sizes
        return sum(sizes.values()) - sum(sizes[key] for key in self.taken if key in sizes)


def list_open_queries(*, round: Round, annotator: Member, count_anew: bool = False) -> OpenQueries:
    """The queries of the round that the annotator could take now. Where single pairs are given to
    single people, only theirs."""
    if is_assigned(round):
        sizes = count_assigned_pairs(round, annotator)
    else:
        sizes = count_pairs_of_queries(round, anew=count_anew)
    taken = read_value(
        statements.TAKEN_QUERIES, round=round.pk, annotator=annotator.pk, now=timezone.now()
    )
    return OpenQueries(get_order(round, annotator), sizes, frozenset(taken))


def get_order(round: Round, annotator: Member) -> tuple[int, ...]:
    """The keys in the round of all its queries, in this annotator's order.

    It is computed over all of them, the taken ones too: otherwise the overlap, which comes first,
    would come first at every claim. Sorting a large round takes long, so the order is kept until
    the plan of the round changes.
    """
    stamp = read_value(statements.PLAN_STAMP, round=round.pk)
    key = f"query-order:{round.pk}:{annotator.pk}:{stamp}"
    order: tuple[int, ...] | None = cache.get(key)
    if order is None:
        order = compute_order(round, annotator)
        cache.set(key, order, ORDERS_KEPT)
    return order


def compute_order(round: Round, annotator: Member) -> tuple[int, ...]:
    rows = RoundQuery.objects.filter(round=round).order_by()
    slots: dict[str, int | None] = {}
    keys: dict[str, int] = {}
    for key, item, annotators in rows.values_list("pk", "query__external_id", "annotators"):
        keys[item] = key
        slots[item] = annotators
    ordered = shuffle_for(annotator, round).order_queries(slots, find_overlap(slots))
    return tuple(keys[item] for item in ordered)


def shuffle_for(annotator: Member, round: Round) -> Shuffler:
    """This annotator's order in the round. It is keyed by names, and used on external ids, so
    that a study keeps its orders when it moves to another installation."""
    return Shuffler(annotator.study.seed, round.name, annotator.name)


def find_overlap(slots: Mapping[str, int | None]) -> frozenset[str]:
    """The items that more annotators share than the least shared ones do."""
    least = min((count for count in slots.values() if count is not None), default=None)
    return frozenset(item for item, count in slots.items() if count is None or count != least)


def count_pairs_of_queries(round: Round, *, anew: bool = False) -> dict[int, int]:
    """Number of pairs of each query of the round that has any, by the query's key in the round;
    at most a minute old unless asked `anew`."""
    key = f"pairs-of-round-queries:{round.pk}"
    counts: dict[int, int] | None = None if anew else cache.get(key)
    if counts is None:
        with prepared_cursor() as cursor:
            cursor.execute(statements.PAIRS_OF_ROUND_QUERIES, {"round": round.pk})
            counts = dict(cursor.fetchall())
        cache.set(key, counts, PAIR_COUNTS_KEPT)
    return counts


def count_assigned_pairs(round: Round, annotator: Member) -> dict[int, int]:
    """Number of pairs given to the annotator, by their query's key in the round."""
    parameters = {"round": round.pk, "annotator": annotator.pk}
    with prepared_cursor() as cursor:
        cursor.execute(statements.ASSIGNED_PAIRS_OF_ROUND_QUERIES, parameters)
        return dict(cursor.fetchall())


def read_value(statement: str, **parameters: Any) -> Any:
    """The one value of a statement that returns one."""
    with prepared_cursor() as cursor:
        cursor.execute(statement, parameters)
        row = cursor.fetchone()
    return row[0] if row else None

"""Annotators as threads: each with its own connection, through the services or the pages."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import connections

from annotation.services.queue import NextPair
from studies.models import Pair

T = TypeVar("T")


def run_together(works: Iterable[Callable[[], T]]) -> list[T]:
    """Run the works at the same time, each on a connection of its own; errors are raised."""

    def with_own_connection(work: Callable[[], T]) -> T:
        try:
            return work()
        finally:
            connections.close_all()

    works = list(works)
    with ThreadPoolExecutor(max_workers=len(works)) as pool:
        return list(pool.map(with_own_connection, works))


def pair_of(found: NextPair) -> Pair:
    return Pair.objects.get(pk=found.pair_id)

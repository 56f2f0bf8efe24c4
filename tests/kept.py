"""Rows that many tests start from are made once by a process and put back as they were.

Building them row by row took a quarter of the time of all tests. Only rows of the project's own
models are kept: what migrations make is there already.
"""

import pickle
from collections.abc import Callable
from typing import Generic, TypeVar

from django.apps import apps
from django.core.cache import caches
from django.db import connection, transaction

from annotation.rubric_sheet import keep_sheet
from studies.models import RubricVersion
from studies.selectors import keep_published

T = TypeVar("T")


class Kept(Generic[T]):
    """What `make` makes in an empty database, and the rows behind it."""

    def __init__(self, make: Callable[[], T]) -> None:
        self.make = make
        self.made = b""
        self.rows: dict[str, bytes] = {}

    def get(self) -> T:
        """The same as the first time, with the same keys. Belongs into the test's transaction."""
        if self.made:
            forget_rows_of_before()
            with transaction.atomic():  # rows may come before those that they refer to
                copy_in(self.rows)
            restored: T = pickle.loads(self.made)
            return restored
        is_alone = not copy_out()
        made = self.make()
        if is_alone:
            self.made, self.rows = pickle.dumps(made), copy_out()
        return made


def forget_rows_of_before() -> None:
    """Keys come again, so nothing that the process keeps by them may stay."""
    for cache in caches.all():
        cache.clear()
    keep_sheet.cache_clear()
    keep_published.cache_clear()


def copy_out() -> dict[str, bytes]:
    """The rows of every table of ours that has any, as COPY writes them."""
    rows: dict[str, bytes] = {}
    for table in list_tables():
        with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" TO STDOUT') as lines:
            rows[table] = b"".join(bytes(line) for line in lines)
    return {table: lines for table, lines in rows.items() if lines}


def copy_in(rows: dict[str, bytes]) -> None:
    for table, lines in rows.items():
        with connection.cursor() as cursor, cursor.copy(f'COPY "{table}" FROM STDIN') as copy:
            copy.write(lines)


def list_tables() -> list[str]:
    """Rubric versions last: once one is published, the database takes no more parts of it."""
    models = [
        model
        for app in ("studies", "annotation", "results")
        for model in apps.get_app_config(app).get_models(include_auto_created=True)
    ]
    return [
        model._meta.db_table for model in sorted(models, key=lambda model: model is RubricVersion)
    ]

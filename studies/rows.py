"""Between model instances and rows of statements that are built once.

The ORM builds its SQL anew for each query, which costs more than PostgreSQL needs to answer the
small ones. Where a page asks or writes the same thing for every label, the statement is kept, and
its rows become instances here, or instances its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import islice
from typing import Any, Generic, TypeVar

from django.db import NotSupportedError, connection, models
from django.db.backends.postgresql.base import ServerBindingCursor
from django.db.backends.utils import CursorWrapper

M = TypeVar("M", bound=models.Model)


class Columns(Generic[M]):
    """The named columns of a model (attribute names, as `study_id`; all where none is named).

    Instances built from a part of the columns load the others when they are asked for, as those
    of `only()` do. Columns that need a conversion after reading (JSON, say) cannot be named.
    """

    def __init__(self, model: type[M], *names: str) -> None:
        self.model = model
        fields = {field.attname: field for field in model._meta.concrete_fields}
        self.fields = [fields[name] for name in names or fields]
        self.names = [field.attname for field in self.fields]
        needy = [one.attname for one in self.fields if hasattr(one, "from_db_value")]
        if needy:
            raise TypeError(f"{model.__name__}: {', '.join(needy)} must be read by the ORM.")

    def __len__(self) -> int:
        return len(self.names)

    def of(self, alias: str) -> str:
        """The columns for a SELECT list, of the table under this alias."""
        return ", ".join(f'{alias}."{field.column}"' for field in self.fields)

    def build(self, values: Sequence[Any]) -> M:
        return self.model.from_db("default", self.names, values)


@contextmanager
def prepared_cursor() -> Iterator[CursorWrapper]:
    """A cursor for statements that run for every label: after a few times PostgreSQL plans each
    once for the connection, where planning takes longer than answering (docs/performance.md).

    A plan that no longer fits, because a column has become another one under the running server,
    fails for good on its connection: that one is given up, and the next request has a new one.
    """
    connection.ensure_connection()
    wrap = connection.make_debug_cursor if connection.queries_logged else connection.make_cursor
    # The stubs know the cursor of psycopg 2.
    with wrap(ServerBindingCursor(connection.connection)) as cursor:  # type: ignore[call-arg, arg-type]
        try:
            yield cursor
        except NotSupportedError:
            connection.connection.close()
            raise


def build_parts(row: Sequence[Any], *parts: Columns[Any]) -> tuple[Any, ...]:
    """An instance for each part of the row, which holds the columns of the parts one after
    another."""
    values = iter(row)
    return tuple(part.build(list(islice(values, len(part)))) for part in parts)


def insert_row(instance: models.Model) -> None:
    """Insert a new instance and set its key, as `save()` does, but without signals and for a
    model with a key made by the database. Raises what `save()` raises."""
    fields = list_written_fields(type(instance))
    values = [
        field.get_db_prep_save(field.pre_save(instance, add=True), connection) for field in fields
    ]
    with prepared_cursor() as cursor:
        cursor.execute(build_insert(type(instance)), values)
        (instance.pk,) = cursor.fetchone()
    instance._state.adding = False
    instance._state.db = connection.alias


@cache
def list_written_fields(model: type[models.Model]) -> tuple[models.Field[Any, Any], ...]:
    return tuple(field for field in model._meta.concrete_fields if not field.primary_key)


@cache
def build_insert(model: type[models.Model]) -> str:
    fields = list_written_fields(model)
    columns = ", ".join(f'"{field.column}"' for field in fields)
    places = ", ".join(["%s"] * len(fields))
    table, key = model._meta.db_table, model._meta.pk
    assert key is not None
    # Names of columns alone.
    return f'INSERT INTO "{table}" ({columns}) VALUES ({places}) RETURNING "{key.column}"'  # noqa: S608

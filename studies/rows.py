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
    model = type(instance)
    with prepared_cursor() as cursor:
        cursor.execute(f"{build_insert(model)} RETURNING id", read_values(instance))
        (key,) = cursor.fetchone()
    mark_inserted(instance, key)


def mark_inserted(instance: models.Model, key: int) -> None:
    instance.pk = key
    instance._state.adding = False
    instance._state.db = connection.alias


def read_values(instance: models.Model) -> dict[str, Any]:
    """The values of a new instance for the INSERT of its model. They are handed over as they are:
    the instance holds what the database takes."""
    return {
        place: field.get_db_prep_save(field.pre_save(instance, add=True), connection)
        if is_encoded
        else field.pre_save(instance, add=True)
        for place, field, is_encoded in list_places(type(instance))
    }


@cache
def list_places(
    model: type[models.Model],
) -> tuple[tuple[str, models.Field[Any, Any], bool], ...]:
    """The name of each value in the INSERT of the model, its field, and whether it is encoded."""
    return tuple(
        (f"{model._meta.db_table}.{field.column}", field, isinstance(field, models.JSONField))
        for field in model._meta.concrete_fields
        if not field.primary_key
    )


@cache
def build_insert(model: type[models.Model]) -> str:
    """INSERT of one row, whose values `read_values` gives; it can be a part of a larger
    statement."""
    places = list_places(model)
    columns = ", ".join(f'"{field.column}"' for _, field, _ in places)
    values = ", ".join(f"%({name})s" for name, _, _ in places)
    # Names of columns alone.
    return f'INSERT INTO "{model._meta.db_table}" ({columns}) VALUES ({values})'  # noqa: S608

"""Column types used by several models."""

import uuid
from typing import Any

from django.db import models


class ExternalIdField(models.TextField):
    """An id as its owner wrote it, kept byte for byte and compared exactly.

    The collation "C" holds whatever the server's default is, so "Nike" and "nike" stay apart
    and sorting is by code point, which is what readers of qrels expect.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["db_collation"] = "C"
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        del kwargs["db_collation"]
        return name, path, args, kwargs


class PublicIdField(models.UUIDField):
    """A random id for addresses and forms: it tells nothing of order, rank or source."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.update(default=uuid.uuid4, unique=True, editable=False)
        super().__init__(*args, **kwargs)

    def deconstruct(self) -> Any:
        name, path, args, kwargs = super().deconstruct()
        for key in ("default", "unique", "editable"):
            kwargs.pop(key, None)
        return name, path, args, kwargs

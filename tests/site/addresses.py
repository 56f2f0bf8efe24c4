"""Asking for every address of the permission matrix, and what pages read of an address."""

import re
from typing import Any

import pytest
from django.http import HttpResponseBase, QueryDict
from django.test import Client

from tests import factories as make
from tests.cast import Cast


def fill_in(cast: Cast, path: str) -> str:
    return path.format(
        label=cast.pairs[0].public_id,
        pair=cast.pairs[0].public_id,
        job=make.make_job(cast.study).public_id,
        draft=make.make_draft(cast.study).public_id,
    )


def ask(client: Client, url: str) -> HttpResponseBase:
    response = client.get(url)
    if response.streaming:
        b"".join(response)  # a download holds its transaction until it is read
    return response


def watch_parameters(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The names that pages look up in an address or a form, as they do it."""
    seen: set[str] = set()

    def watch(name: str) -> None:
        plain = getattr(QueryDict, name)

        def look_up(self: QueryDict, key: str, *rest: Any) -> Any:
            seen.add(key)
            return plain(self, key, *rest)

        monkeypatch.setattr(QueryDict, name, look_up)

    for name in ("get", "getlist", "__getitem__", "__contains__"):
        watch(name)
    return seen


def find_parameters(client: Client, url: str, parameters: set[str]) -> list[str]:
    """What the page reads from its address: asked plainly, and with something in it. Of the rows
    of a form that repeats itself, the first stands for all."""
    parameters.clear()
    bare = url.partition("?")[0]
    for asked in (url, f"{bare}?something=else"):
        ask(client, asked)
    return sorted(name for name in parameters if not re.search(r"-[1-9]\d*-", name))

"""Typed readers for environment variables.

Each reader names the variable it refuses and says what it would have accepted, so that a
mistake in a deployment is found at start and not at the first request that needs the value.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import parse_qsl, unquote, urlsplit

T = TypeVar("T")

TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off"})


class SettingError(ValueError):
    """A variable of the environment is missing or cannot be read as what it should be."""


def read(name: str, parse: Callable[[str], T], default: T | None = None) -> T:
    """Return the variable `name` parsed, or `default` where it is unset or empty.

    Raises SettingError, naming the variable, when it is missing without a default or when
    `parse` refuses it.
    """
    raw = os.environ.get(name, "").strip()
    if not raw:
        if default is None:
            raise SettingError(f"{name} is not set, and there is no safe default for it.")
        return default
    try:
        return parse(raw)
    except ValueError as error:
        raise SettingError(f"{name}={raw!r} cannot be used: {error}") from error


def read_text(name: str, default: str | None = None) -> str:
    return read(name, str, default)


def read_secret(name: str, minimum_length: int = 32) -> str:
    """Return a secret; its value never appears in the error."""
    secret = os.environ.get(name, "")
    if len(secret) < minimum_length:
        raise SettingError(f"{name} must be set to at least {minimum_length} random characters.")
    return secret


def read_bool(name: str, default: bool | None = None) -> bool:
    return read(name, parse_bool, default)


def read_int(name: str, default: int | None = None, *, minimum: int = 0) -> int:
    def parse(raw: str) -> int:
        value = int(raw)
        if value < minimum:
            raise ValueError(f"it must be a whole number of at least {minimum}")
        return value

    return read(name, parse, default)


def read_path(name: str, default: Path | None = None) -> Path:
    return read(name, lambda raw: Path(raw).expanduser().resolve(), default)


def parse_bool(raw: str) -> bool:
    word = raw.lower()
    if word in TRUE_WORDS:
        return True
    if word in FALSE_WORDS:
        return False
    raise ValueError("it must be one of true, false, yes, no, on, off, 1, 0")


@dataclass(frozen=True, slots=True)
class BaseUrl:
    """Where people reach the site: everything about hosts and cookies follows from it."""

    scheme: str
    host: str
    netloc: str
    path_prefix: str

    @property
    def origin(self) -> str:
        return f"{self.scheme}://{self.netloc}"

    @property
    def is_secure(self) -> bool:
        return self.scheme == "https"


def parse_base_url(raw: str) -> BaseUrl:
    parts = urlsplit(raw)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("it must be an address such as https://judge.example.org or …/prefix")
    if parts.query or parts.fragment or parts.username:
        raise ValueError("it must hold only a scheme, a host, a port and a path")
    return BaseUrl(parts.scheme, parts.hostname, parts.netloc, parts.path.rstrip("/"))


def parse_database_url(raw: str) -> dict[str, Any]:
    """Read `postgresql://user:password@host:port/name?option=value` for Django's DATABASES."""
    parts = urlsplit(raw)
    if parts.scheme not in {"postgres", "postgresql"}:
        raise ValueError("it must begin with postgresql:// (no other database is supported)")
    options = dict(parse_qsl(parts.query))
    name = unquote(parts.path.lstrip("/"))
    if not name:
        raise ValueError("it must end with the name of a database")
    return {
        "NAME": name,
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": options.pop("host", parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options,
    }

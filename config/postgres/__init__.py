"""The PostgreSQL server that runs by itself when no DATABASE_URL is set."""

from config.postgres.client import (
    EmbeddedPostgresError,
    ServerAddress,
    ensure_server,
    find_or_start,
    leave,
    programs_directory,
)

__all__ = [
    "EmbeddedPostgresError",
    "ServerAddress",
    "ensure_server",
    "find_or_start",
    "leave",
    "programs_directory",
]

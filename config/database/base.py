"""The database backend `config.database`: PostgreSQL, embedded unless told otherwise.

With the setting EMBEDDED_POSTGRES_DIR (a Path) each connection is preceded by a look whether the
server there is up, and starts it if not. Without the setting this is Django's own backend.
"""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import base
from django.db.utils import OperationalError

from config import postgres
from config.database.client import DatabaseClient


class DatabaseWrapper(base.DatabaseWrapper):
    """Django's backend with the embedded server's address filled in as late as possible."""

    client_class = DatabaseClient

    def get_connection_params(self) -> dict[str, Any]:
        """Connection parameters; for the embedded server, of one that accepts connections.

        Raises OperationalError, as for any server that cannot be reached.
        """
        self.point_at_embedded_server()
        return super().get_connection_params()

    def point_at_embedded_server(self) -> None:
        """Start or find the embedded server, if there is to be one, and note its address."""
        home: Path | None = getattr(settings, "EMBEDDED_POSTGRES_DIR", None)
        if home is not None:
            try:
                address = postgres.find_or_start(home)
            except postgres.EmbeddedPostgresError as error:
                raise OperationalError(str(error)) from error
            self.settings_dict.update(HOST=address.host, PORT=address.port, USER=address.user)

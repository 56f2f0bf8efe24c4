"""`manage.py dbshell` for a server that may not be running yet."""

from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.db.backends.postgresql import client

from config import postgres


class DatabaseClient(client.DatabaseClient):
    """Django's client, with the embedded server started and its own `psql`."""

    def runshell(self, parameters: Iterable[str]) -> None:
        """Open the shell; `parameters` go to psql."""
        connection: Any = self.connection
        if getattr(settings, "EMBEDDED_POSTGRES_DIR", None) is not None:
            self.executable_name = str(postgres.programs_directory() / "psql")
            connection.point_at_embedded_server()
        super().runshell(parameters)

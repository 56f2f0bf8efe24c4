from django.apps import AppConfig


class ConfigConfig(AppConfig):
    """Wires the rooms together; holds the commands that concern the whole installation."""

    name = "config"
    verbose_name = "Installation"

    def ready(self) -> None:
        from config import celery  # noqa: F401 - tasks must find their app in every process

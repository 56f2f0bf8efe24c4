from django.apps import AppConfig


class StudiesConfig(AppConfig):
    name = "studies"

    def ready(self) -> None:
        from studies import signals  # noqa: F401 - connects the signals

from django.apps import AppConfig


class ResultsConfig(AppConfig):
    name = "results"

    def ready(self) -> None:
        from results import (
            clause_contexts,  # noqa: F401 - tells the editor what was asked for
            usage,  # noqa: F401 - registers what final labels use
        )
        from results.services import proposals  # noqa: F401 - hears of discarded drafts

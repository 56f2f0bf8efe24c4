from django.db import models

from studies.models import Study


class ReleaseReport(models.Model):
    """What a worker counted on the whole of a study's exports, and how its runs score.

    `payload` is made by `results.services.release`; `basis` says what it was counted from
    (`results.selectors.release.read_basis`): where that reads differently now, it is old.
    """

    study = models.OneToOneField(
        Study, models.PROTECT, primary_key=True, related_name="release_report"
    )
    payload = models.JSONField()
    basis = models.JSONField()
    computed_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"release report of {self.study_id}"

from django.db import models

from studies.models import Member, Study


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


class ExportAccount(models.Model):
    """What an export of the consensus, or of one annotator's labels, would hold and leave out, as
    a worker counted it.

    `payload` is made by `results.services.export_accounts`; `basis` says what it was counted from,
    as that of a `ReleaseReport` does.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="export_accounts")
    annotator = models.ForeignKey(
        Member, models.PROTECT, null=True, blank=True, related_name="export_accounts"
    )
    payload = models.JSONField()
    basis = models.JSONField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "annotator"],
                nulls_distinct=False,
                name="export_account_once_per_annotator",
            ),
        ]

    def __str__(self) -> str:
        return f"exports of {self.study_id}"

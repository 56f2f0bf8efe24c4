from django.db import models

from studies.models import Study


class AgreementReport(models.Model):
    """The stored numbers of one scope of a study.

    `scope` is the key of a `results.services.scopes.Scope`; `payload` is what
    `manage.py agreement --format json` prints. `label_changes` is the study's count of label
    changes when the numbers were read: a larger count now means that they are stale.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="agreement_reports")
    scope = models.TextField()
    payload = models.JSONField()
    label_changes = models.PositiveBigIntegerField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["study", "scope"], name="report_once_per_scope"),
        ]

    def __str__(self) -> str:
        return f"{self.scope} of {self.study_id}"


class RevisionAccount(models.Model):
    """The stored account of a change: two rubric versions, or two rounds, of a study.

    `before` and `after` are keys of scopes; `payload` is what `manage.py revision --format json`
    prints, and `basis` tells what it rests on, so that a change of that makes it old.
    """

    study = models.ForeignKey(Study, models.PROTECT, related_name="revision_accounts")
    before = models.CharField(max_length=120)
    after = models.CharField(max_length=120)
    payload = models.JSONField()
    basis = models.JSONField()
    computed_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["study", "before", "after"], name="account_once_per_comparison"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.before} to {self.after} of {self.study_id}"

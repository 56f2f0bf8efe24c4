from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from studies.models.fields import PublicIdField
from studies.models.jobs import Job
from studies.models.people import User
from studies.models.study import Study


class ImportDraft(models.Model):
    """Files uploaded for a study, the report of what they would change, and what came of it.

    uploaded -> read | refused; read -> confirmed | discarded; confirmed -> imported | refused.
    `files` are {name, kind, stored, bytes}; `stored` is the name in the storage, where they stay
    until the draft is over. `options` say how labels are understood and how deep the pool becomes.
    """

    class State(models.TextChoices):
        UPLOADED = "uploaded", _("being read")
        READ = "read", _("waiting for you")
        CONFIRMED = "confirmed", _("being imported")
        IMPORTED = "imported", _("imported")
        REFUSED = "refused", _("refused")
        DISCARDED = "discarded", _("discarded")

    public_id = PublicIdField()
    study = models.ForeignKey(Study, models.PROTECT, related_name="import_drafts")
    created_by = models.ForeignKey(User, models.PROTECT, related_name="+")
    state = models.CharField(max_length=16, choices=State, default=State.UPLOADED)
    files = models.JSONField(default=list)
    options = models.JSONField(default=dict)
    report = models.JSONField(default=dict)
    job = models.ForeignKey(Job, models.PROTECT, null=True, blank=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    state__in=["uploaded", "read", "confirmed", "imported", "refused", "discarded"]
                ),
                name="import_draft_state_known",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.study_id} {self.state}"

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.IMPORTED, self.State.REFUSED, self.State.DISCARDED}

    @property
    def has_expired(self) -> bool:
        return not self.is_over and self.expires_at <= timezone.now()

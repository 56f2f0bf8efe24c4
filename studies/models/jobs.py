from django.db import models
from django.utils.translation import gettext_lazy as _

from studies.models.fields import PublicIdField
from studies.models.people import User
from studies.models.study import Study


class Job(models.Model):
    """Work that outlives a request, as a row a person can watch.

    queued -> running -> done | failed. A job that says it is running but has shown no sign of
    life (`heartbeat_at`) for a while belongs to a worker that died, and is queued again.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("running")
        DONE = "done", _("done")
        FAILED = "failed", _("failed")

    public_id = PublicIdField()
    study = models.ForeignKey(Study, models.PROTECT, related_name="jobs", null=True, blank=True)
    kind = models.CharField(max_length=60)
    arguments = models.JSONField(default=dict, blank=True)
    state = models.CharField(max_length=16, choices=State, default=State.QUEUED)
    progress = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)
    message = models.TextField(blank=True)
    error = models.TextField(blank=True)
    result_file = models.FileField(upload_to="jobs", blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    requested_by = models.ForeignKey(
        User, models.PROTECT, null=True, blank=True, related_name="jobs"
    )
    created_at = models.DateTimeField(auto_now_add=True)
    started_at = models.DateTimeField(null=True, blank=True)
    heartbeat_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        ordering = ["-id"]
        indexes = [models.Index(fields=["state", "kind"], name="job_by_state")]

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"

    @property
    def is_over(self) -> bool:
        return self.state in {self.State.DONE, self.State.FAILED}

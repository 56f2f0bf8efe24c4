from datetime import timedelta

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from studies.models.fields import PublicIdField
from studies.models.people import User
from studies.models.study import Study

# A worker beats every few seconds for a job it runs; one silent for this long has lost its
# worker, and one still waiting has lost its message. Workers look for both, so that silence which
# lasts twice as long tells a page that no worker is there.
SILENCE = timedelta(minutes=1)
LOST_AFTER = 2 * SILENCE


class Job(models.Model):
    """Work that outlives a request, as a row a person can watch.

    queued -> running -> done | failed. `heartbeat_at` is the last sign of life: when the job was
    last sent to the workers, or when its worker last beat for it. `attempts` counts the workers
    that took it, and tells the one at work now from one that was given up.
    """

    class State(models.TextChoices):
        QUEUED = "queued", gettext_lazy("waiting")
        RUNNING = "running", gettext_lazy("running")
        DONE = "done", gettext_lazy("done")
        FAILED = "failed", gettext_lazy("failed")

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

    @property
    def is_lost(self) -> bool:
        """Whether it has been silent for so long that no worker can be at it: to a person it is
        over, and can be started again."""
        last_sign = self.heartbeat_at or self.created_at
        return not self.is_over and last_sign <= timezone.now() - LOST_AFTER

    @property
    def is_at_work(self) -> bool:
        """Whether a worker has it, or one will."""
        return not self.is_over and not self.is_lost

    @property
    def has_failed(self) -> bool:
        """Whether it ended without doing its work, or will not end."""
        return self.state == self.State.FAILED or self.is_lost

    @property
    def fault(self) -> str:
        """Why it has failed, for people; nothing where it has not."""
        if not self.is_lost:
            return _(self.error) if self.error else ""
        if self.state == self.State.QUEUED:
            return _(
                "No worker has taken this up. See that one is running; then start it again here."
            )
        return _(
            "The worker that had this has stopped, and nothing was changed. Start it again here."
        )

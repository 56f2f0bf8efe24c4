"""Jobs: work that outlives a request, as rows that people can watch."""

import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from studies.models import Job, Study, User

logger = logging.getLogger(__name__)

# A running job shows a sign of life at every step; one silent for this long has lost its worker.
SILENCE = timedelta(minutes=2)
MAXIMUM_ATTEMPTS = 3

ReportProgress = Callable[[int, int, str], None]


class Work(Protocol):
    """What a kind of job does: it takes the job and a function that reports progress."""

    def __call__(self, job: Job, report: ReportProgress) -> None: ...


WORKS: dict[str, Work] = {}


class JobRefused(Exception):
    """The work cannot be done, for a reason that a person can act on."""


def register_work(kind: str) -> Callable[[Work], Work]:
    """Name the function that does the jobs of one kind."""

    def register(work: Work) -> Work:
        WORKS[kind] = work
        return work

    return register


def request_job(
    *,
    kind: str,
    study: Study | None = None,
    user: User | None = None,
    arguments: Mapping[str, Any] | None = None,
) -> Job:
    """Return the job that waits to do this, queued anew unless one is waiting already."""
    from studies.tasks import run_job_task

    wanted = dict(arguments or {})
    with transaction.atomic():
        waiting = Job.objects.filter(
            kind=kind, study=study, arguments=wanted, state=Job.State.QUEUED
        ).first()
        if waiting is not None:
            job = waiting
        else:
            job = Job.objects.create(kind=kind, study=study, requested_by=user, arguments=wanted)
        # Sent again for a waiting job too: the broker may have lost the first message.
        run_job_task.delay_on_commit(job.pk)
    return job


def run_job(job_id: int) -> None:
    """Do a queued job once, however often the broker delivers it.

    The row is claimed by a conditional update, so that of two deliveries one finds nothing to
    do. A refusal or an error ends the job as failed, with its reason; it never leaves it running.
    """
    claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
        state=Job.State.RUNNING,
        started_at=timezone.now(),
        heartbeat_at=timezone.now(),
        attempts=F("attempts") + 1,
        error="",
    )
    if not claimed:
        return
    job = Job.objects.select_related("study", "requested_by").get(pk=job_id)

    def report(progress: int, total: int, message: str = "") -> None:
        Job.objects.filter(pk=job.pk).update(
            progress=progress, total=total, message=message, heartbeat_at=timezone.now()
        )

    try:
        WORKS[job.kind](job, report)
    except JobRefused as refusal:
        finish_job(job, Job.State.FAILED, error=str(refusal))
    except Exception:
        logger.exception("Job %s (%s) failed.", job.public_id, job.kind)
        finish_job(
            job,
            Job.State.FAILED,
            error="Something went wrong; nothing was changed. The server's log tells more.",
        )
    else:
        finish_job(job, Job.State.DONE)


def finish_job(job: Job, state: Job.State, *, error: str = "") -> None:
    Job.objects.filter(pk=job.pk).update(state=state, error=error, finished_at=timezone.now())


def requeue_abandoned_jobs() -> int:
    """Send out again what no worker is doing: jobs of workers that died, and queued jobs whose
    message the broker lost. Returns their number. Called when a worker starts."""
    from studies.tasks import run_job_task

    silent = Q(state=Job.State.RUNNING, heartbeat_at__lt=timezone.now() - SILENCE)
    Job.objects.filter(silent, attempts__gte=MAXIMUM_ATTEMPTS).update(
        state=Job.State.FAILED,
        error="The worker died each time it tried. Ask again, or look into the server's log.",
        finished_at=timezone.now(),
    )
    Job.objects.filter(silent).update(state=Job.State.QUEUED)
    waiting = list(Job.objects.filter(state=Job.State.QUEUED).values_list("pk", flat=True))
    for pk in waiting:
        run_job_task.delay(pk)
    return len(waiting)

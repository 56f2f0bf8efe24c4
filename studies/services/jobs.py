"""Jobs: work that outlives a request, as rows that people can watch."""

import json
import logging
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, Protocol

from django.db import connection, transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Coalesce, Now
from django.utils.translation import gettext_noop

from studies.models import Job, Study, User
from studies.models.jobs import SILENCE
from studies.services.heartbeats import Heartbeat

logger = logging.getLogger(__name__)

MAXIMUM_ATTEMPTS = 3

BROKEN = gettext_noop("Something went wrong; nothing was changed. The server's log tells more.")
ABANDONED = gettext_noop("Its worker stopped before it was through, and nothing was changed.")
GIVEN_UP = gettext_noop(
    "Each worker that took this up stopped before it was through, so it is not tried again by "
    "itself; nothing was changed. The server may be short of memory: its log tells more."
)

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
    """Return the job that waits to do this, queued anew unless one is waiting already.

    One whose worker has fallen silent is given up for it.
    """
    wanted = dict(arguments or {})
    same = Job.objects.filter(kind=kind, study=study, arguments=wanted)
    with transaction.atomic():
        take_turns(kind, study.pk if study else None, wanted)
        fail_jobs(find_silent_jobs().filter(pk__in=same, state=Job.State.RUNNING), ABANDONED)
        job = same.filter(state=Job.State.QUEUED).first()
        if job is None:
            job = Job.objects.create(kind=kind, study=study, requested_by=user, arguments=wanted)
        # Sent again for a waiting job too: the broker may have lost the first message.
        Job.objects.filter(pk=job.pk).update(heartbeat_at=Now())
        # A broker that is away fails nobody: a worker finds the row by itself.
        transaction.on_commit(lambda: send_job(job.pk), robust=True)
    return job


def take_turns(*wanted: object) -> None:
    """Let whoever asks for the same at this moment wait until the transaction ends, so that the
    job queued in it is found. No unique index can do this: a job whose worker died waits again,
    although the same may have been asked for while it ran."""
    words = json.dumps(wanted, sort_keys=True)
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", [words])


def send_job(job_id: int) -> None:
    """Tell the workers of a job that waits."""
    from studies.tasks import run_job_task

    run_job_task.delay(job_id)


def run_job(job_id: int) -> None:
    """Do a queued job once, however often the broker delivers it.

    A refusal or an error ends the job as failed, with its reason; it never leaves it running.
    """
    job = claim_job(job_id)
    if job is None:
        return
    error = ""
    with Heartbeat(job) as heart:
        try:
            WORKS[job.kind](job, heart.report)
        except JobRefused as refusal:
            error = str(refusal)
        except Exception:
            logger.exception("Job %s (%s) failed.", job.public_id, job.kind)
            error = BROKEN
    job.progress, job.total, job.message = heart.step
    finish_job(job, Job.State.FAILED if error else Job.State.DONE, error=error)


def claim_job(job_id: int) -> Job | None:
    """Take a job that waits, so that of two deliveries one finds nothing to do (None)."""
    with transaction.atomic():
        claimed = Job.objects.filter(pk=job_id, state=Job.State.QUEUED).update(
            state=Job.State.RUNNING,
            attempts=F("attempts") + 1,
            started_at=Now(),
            heartbeat_at=Now(),
            progress=0,
            total=0,
            message="",
            error="",
        )
        jobs = Job.objects.select_related("study", "requested_by")
        return jobs.get(pk=job_id) if claimed else None


def finish_job(job: Job, state: Job.State, *, error: str = "") -> None:
    """End a job, unless it was given up meanwhile and another worker has it."""
    mine = Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts)
    finished = mine.update(
        state=state,
        error=error,
        progress=job.progress,
        total=job.total,
        message=job.message,
        finished_at=Now(),
    )
    if not finished:
        logger.warning("Job %s ended after it had been given up.", job.public_id)


def take_up_silent_jobs(*, waiting_for: timedelta | None = None) -> int:
    """Send out again what no worker is doing: jobs of workers that died, and jobs that have
    waited so long that the broker must have lost their message. Returns their number.

    A job that has lost its worker too often fails. Of two callers one takes up each job.
    """
    silent = find_silent_jobs(waiting_for=waiting_for)
    fail_jobs(silent.filter(state=Job.State.RUNNING, attempts__gte=MAXIMUM_ATTEMPTS), GIVEN_UP)
    with transaction.atomic():
        taken = list(silent.select_for_update(skip_locked=True).values_list("pk", flat=True))
        Job.objects.filter(pk__in=taken).update(state=Job.State.QUEUED, heartbeat_at=Now())
    for pk in taken:
        send_job(pk)
    return len(taken)


def find_silent_jobs(*, waiting_for: timedelta | None = None) -> QuerySet[Job]:
    """Running jobs without a sign of life for SILENCE, by the database's clock, and those
    waiting for a worker that were last sent `waiting_for` ago (None: as long)."""
    patience = SILENCE if waiting_for is None else waiting_for
    sign = Job.objects.alias(sign=Coalesce("heartbeat_at", "created_at"))
    return sign.filter(
        Q(state=Job.State.RUNNING, sign__lte=Now() - SILENCE)
        | Q(state=Job.State.QUEUED, sign__lte=Now() - patience)
    )


def fail_jobs(jobs: QuerySet[Job], error: str) -> None:
    jobs.update(state=Job.State.FAILED, error=error, finished_at=Now())

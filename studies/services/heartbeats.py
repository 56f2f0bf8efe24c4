"""Signs of life of a running job, and its progress, which show while its transaction is open."""

import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from django.db import DEFAULT_DB_ALIAS, Error, connection, connections
from django.db.models.functions import Now

from studies.models import Job

logger = logging.getLogger(__name__)

BEAT_SECONDS = 5.0
TICK_SECONDS = 0.25


class Heartbeat:
    """Beats for a job from a thread of its own until the block is left.

    The thread has a database connection of its own, so that a beat waits neither for the job's
    steps nor for its transaction; the job must not write its own row within the block. Progress
    is written at the next tick: a job may report as often as it likes.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.step: tuple[int, int, str] = (0, 0, "")
        self._told = self.step
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"heartbeat-{job.pk}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def report(self, progress: int, total: int, message: str = "") -> None:
        self.step = (progress, total, message)

    def _run(self) -> None:
        last = time.monotonic()
        with own_connection():
            while not self._over.wait(TICK_SECONDS):
                if self.step != self._told or time.monotonic() - last >= BEAT_SECONDS:
                    self._beat()
                    last = time.monotonic()

    def _beat(self) -> None:
        step = self.step
        progress, total, message = step
        try:
            mark_alive(self.job, progress=progress, total=total, message=message)
        except Error:
            # The database may be back at the next beat; the job itself finds out soon enough.
            logger.warning("No heartbeat for job %s.", self.job.public_id, exc_info=True)
            connection.close()
        self._told = step


def mark_alive(job: Job, *, progress: int, total: int, message: str) -> None:
    """Write a sign of life, unless another worker has taken the job since."""
    Job.objects.filter(pk=job.pk, state=Job.State.RUNNING, attempts=job.attempts).update(
        progress=progress, total=total, message=message, heartbeat_at=Now()
    )


@contextmanager
def own_connection() -> Iterator[None]:
    """A database connection for this thread alone, and only for the length of the block.

    It stays out of the process's pool: a worker forks, and a pool does not survive that.
    """
    own = connections[DEFAULT_DB_ALIAS].copy()
    own.settings_dict["OPTIONS"] = {
        key: value for key, value in own.settings_dict["OPTIONS"].items() if key != "pool"
    }
    connections[DEFAULT_DB_ALIAS] = own
    try:
        yield
    finally:
        own.close()
        del connections[DEFAULT_DB_ALIAS]

"""Progress of a job that shows while the job's transaction is still open."""

from collections.abc import Iterator
from contextlib import contextmanager

from django.db import connection
from django.utils import timezone

from studies.models import Job
from studies.services.jobs import ReportProgress

SHOW_PROGRESS = """
UPDATE studies_job SET progress = %s, total = %s, message = %s, heartbeat_at = %s WHERE id = %s
"""


@contextmanager
def report_beside(job: Job) -> Iterator[ReportProgress]:
    """Reports on a connection of their own: what the transaction writes is seen only at its end.

    The caller must not write the job's row itself until the block is left.
    """
    side = connection.copy()

    def report(done: int, total: int, message: str = "") -> None:
        with side.cursor() as cursor:
            cursor.execute(SHOW_PROGRESS, [done, total, message, timezone.now(), job.pk])

    try:
        yield report
    finally:
        side.close()

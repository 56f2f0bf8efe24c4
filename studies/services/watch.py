"""The watch that each worker keeps over the jobs of all, and over uploads nobody confirmed."""

import logging
import threading
from datetime import timedelta

from studies.services.heartbeats import own_connection
from studies.services.import_drafts import sweep_drafts
from studies.services.jobs import take_up_silent_jobs

logger = logging.getLogger(__name__)

CHECK_SECONDS = 15.0


class JobWatch:
    """Looks after the jobs now and then, from a thread of its own, until it is stopped.

    The broker is asked nothing and needs no clock beside the workers: the rows tell. At its
    start it takes up every job that waits, for a broker may have been lost with the workers.
    """

    def __init__(self) -> None:
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="job-watch", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._over.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        look_after_jobs(waiting_for=timedelta(0))
        while not self._over.wait(CHECK_SECONDS):
            look_after_jobs()


def look_after_jobs(*, waiting_for: timedelta | None = None) -> None:
    """One look. A database or a broker that is away is logged, and asked again at the next."""
    try:
        with own_connection():
            take_up_silent_jobs(waiting_for=waiting_for)
            sweep_drafts()
    except Exception:
        logger.exception("Jobs could not be looked after.")

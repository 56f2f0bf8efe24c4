"""A worker with one kind of job that lasts until a file appears, and with short patience.

`celery --app tests.config.slow_worker worker`, with SLOW_WORKER_DIR: each attempt at the job adds
the pid of its process to the file `begun` there, and ends once there is a file `go`.
"""

import os
import time
from datetime import timedelta
from pathlib import Path

import django

from config.celery import app

django.setup()

from studies.models import Job  # noqa: E402 - after Django's set-up
from studies.services import heartbeats, jobs, watch  # noqa: E402 - after Django's set-up

__all__ = ["app"]

KIND = "tests.slow"
FOLDER = Path(os.environ["SLOW_WORKER_DIR"])

jobs.SILENCE = timedelta(seconds=2)
jobs.MAXIMUM_ATTEMPTS = 2
heartbeats.BEAT_SECONDS = 0.3
watch.CHECK_SECONDS = 0.5


@jobs.register_work(KIND)
def last_long(job: Job, report: jobs.ReportProgress) -> None:
    with (FOLDER / "begun").open("a") as begun:
        begun.write(f"{os.getpid()}\n")
    while not (FOLDER / "go").exists():
        time.sleep(0.05)

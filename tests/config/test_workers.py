"""Real workers that are killed, and what becomes of the jobs they had."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

import pytest
from django.db import connection
from django.utils import timezone

from studies.models import Job
from tests.config.running import is_running
from tests.conftest import ROOT

KIND = "tests.slow"
ATTEMPTS = 2

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not hasattr(os, "killpg"), reason="process groups: not on this system"),
]


def test_database_url() -> str:
    """The database of the tests, as the variable DATABASE_URL names it to another process."""
    known = connection.settings_dict
    query = urlencode({"host": known["HOST"]} if known["HOST"].startswith("/") else {})
    host = "" if query else known["HOST"]
    password = f":{quote(known['PASSWORD'], safe='')}" if known["PASSWORD"] else ""
    place = f"{quote(known['USER'], safe='')}{password}@{host}:{known['PORT']}"
    return f"postgresql://{place}/{known['NAME']}?{query}"


test_database_url.__test__ = False  # type: ignore[attr-defined]  # pytest's mark


@dataclass
class Workers:
    """Workers of one broker, each with the processes it forks in a group of its own."""

    folder: Path
    broker: str
    running: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start(self) -> subprocess.Popen[bytes]:
        with (self.folder / f"worker-{len(self.running)}.log").open("wb") as log:
            worker = subprocess.Popen(
                [
                    *(sys.executable, "-m", "celery", "--app", "tests.config.slow_worker"),
                    *("--quiet", "worker", "--loglevel", "INFO", "--concurrency", "1"),
                    *("--without-gossip", "--without-mingle", "--without-heartbeat"),
                    *("--hostname", f"worker-{len(self.running)}@%h"),
                ],
                cwd=ROOT,
                env=os.environ
                | {
                    "DJANGO_SETTINGS_MODULE": "config.settings.test",
                    "DATABASE_URL": test_database_url(),
                    "CELERY_BROKER_URL": self.broker,
                    "DISSENSUS_VAR_DIR": str(self.folder),
                    "SLOW_WORKER_DIR": str(self.folder),
                    "PYTHONWARNINGS": "ignore",
                },
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.running.append(worker)
        return worker

    def begun(self) -> list[int]:
        """The process of each attempt at a job, in their order."""
        path = self.folder / "begun"
        return [int(line) for line in path.read_text().split()] if path.exists() else []

    def kill(self) -> None:
        """Kill every worker with all it started, as a machine does that loses its power."""
        for worker in self.running:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()

    def wait_until(self, what: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 90
        while not what():
            assert time.monotonic() < deadline, self.tell()
            time.sleep(0.1)

    def tell(self) -> str:
        logs = [path.read_text() for path in sorted(self.folder.glob("*.log"))]
        return "\n".join([*logs, str(list(Job.objects.values()))])


@pytest.fixture(params=["filesystem", pytest.param("redis", marks=pytest.mark.redis)])
def workers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workers]:
    broker = "filesystem://localhost"
    if request.param == "redis":
        url = urlsplit(os.environ["DISSENSUS_TEST_REDIS_URL"])._replace(path="/8")
        broker = urlunsplit(url)
        empty(broker)
    started = Workers(tmp_path, broker)
    yield started
    for worker in started.running:
        if worker.poll() is None:
            os.killpg(worker.pid, signal.SIGKILL)
            worker.wait()


def empty(broker: str) -> None:
    import redis

    with redis.Redis.from_url(broker) as client:
        client.flushdb()


def state_of(job: Job) -> str:
    return Job.objects.get(pk=job.pk).state


def test_a_job_whose_worker_was_killed_is_done_by_another(workers: Workers) -> None:
    job = Job.objects.create(kind=KIND)
    workers.start()
    workers.wait_until(lambda: len(workers.begun()) == 1)
    workers.kill()
    assert state_of(job) == Job.State.RUNNING
    workers.start()
    workers.wait_until(lambda: len(workers.begun()) == 2)
    (workers.folder / "go").touch()
    workers.wait_until(lambda: state_of(job) == Job.State.DONE)
    assert Job.objects.get(pk=job.pk).attempts == 2


def test_a_job_is_tried_again_in_a_new_process_and_fails_if_it_kills_each(
    workers: Workers,
) -> None:
    job = Job.objects.create(kind=KIND)
    worker = workers.start()
    for attempt in range(1, ATTEMPTS + 1):
        workers.wait_until(lambda number=attempt: len(workers.begun()) == number)
        assert workers.begun()[-1] != worker.pid
        os.kill(workers.begun()[-1], signal.SIGKILL)
    workers.wait_until(lambda: state_of(job) == Job.State.FAILED)
    job.refresh_from_db()
    assert "not tried again by itself" in job.error
    assert job.attempts == ATTEMPTS == len(workers.begun())


def test_two_workers_leave_a_long_quiet_job_to_the_one_that_has_it(workers: Workers) -> None:
    """The job reports nothing, for longer than a silent one is left alone."""
    job = Job.objects.create(kind=KIND)
    workers.start()
    workers.start()
    workers.wait_until(lambda: len(workers.begun()) == 1)
    began = timezone.now()
    workers.wait_until(lambda: (timezone.now() - began).total_seconds() > 5)
    assert len(workers.begun()) == 1
    assert is_running(workers.begun()[0])
    (workers.folder / "go").touch()
    workers.wait_until(lambda: state_of(job) == Job.State.DONE)
    assert Job.objects.get(pk=job.pk).attempts == 1


def test_a_job_whose_message_was_lost_is_sent_again_by_a_running_worker(workers: Workers) -> None:
    (workers.folder / "go").touch()
    first = Job.objects.create(kind=KIND)
    worker = workers.start()
    workers.wait_until(lambda: state_of(first) == Job.State.DONE)
    second = Job.objects.create(kind=KIND)
    workers.wait_until(lambda: state_of(second) == Job.State.DONE)
    assert len(workers.begun()) == 2
    worker.terminate()
    assert worker.wait(60) == 0

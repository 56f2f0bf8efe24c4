"""Jobs: claimed once, kept alive by their worker, found again when it has died."""

import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.db import transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from studies import tasks
from studies.models import Job
from studies.services import heartbeats, jobs, watch
from studies.services.jobs import (
    MAXIMUM_ATTEMPTS,
    WORKS,
    ReportProgress,
    claim_job,
    finish_job,
    register_work,
    request_job,
    run_job,
    take_up_silent_jobs,
)
from tests import factories as make
from tests.annotation.clients import run_together

KIND = "tests.work"
State = Job.State


@pytest.fixture
def done() -> Iterator[list[int]]:
    """The jobs that were done, in their order; the kind is known for the test's length."""
    finished: list[int] = []

    @register_work(KIND)
    def work(job: Job, report: ReportProgress) -> None:
        report(1, 2, "half")
        finished.append(job.pk)

    yield finished
    del WORKS[KIND]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The jobs that were sent to the broker, which loses them."""
    messages: list[int] = []
    monkeypatch.setattr(tasks.run_job_task, "delay", messages.append)
    return messages


def make_job(state: str = State.QUEUED, *, silent_for: float = 0, **fields: object) -> Job:
    sign = timezone.now() - timedelta(seconds=silent_for)
    return Job.objects.create(kind=KIND, state=state, heartbeat_at=sign, **fields)


def states() -> list[str]:
    return list(Job.objects.order_by("pk").values_list("state", flat=True))


@pytest.mark.django_db
def test_a_job_that_is_asked_for_twice_waits_once_and_is_sent_twice(
    sent: list[int], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        first, second = request_job(kind=KIND), request_job(kind=KIND)
    assert first == second
    assert sent == [first.pk, first.pk]


@pytest.mark.django_db(transaction=True)
def test_a_job_that_several_ask_for_at_once_waits_once(sent: list[int]) -> None:
    study = make.make_study()

    def ask() -> int:
        return request_job(kind=KIND, study=study, arguments={"b": 1, "a": 2}).pk

    assert len(set(run_together([ask] * 8))) == 1
    assert Job.objects.count() == 1


@pytest.mark.django_db
def test_a_broker_that_is_away_loses_no_request(
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    def refuse(job_id: int) -> None:
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(tasks.run_job_task, "delay", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        request_job(kind=KIND)
    assert states() == [State.QUEUED]


@pytest.mark.django_db
def test_a_job_that_fell_silent_is_given_up_for_a_new_one(sent: list[int]) -> None:
    silent = make_job(State.RUNNING, silent_for=600, attempts=1)
    fresh = request_job(kind=KIND)
    assert fresh != silent
    assert states() == [State.FAILED, State.QUEUED]


@pytest.mark.django_db
def test_a_job_at_work_is_left_to_its_worker_when_another_is_asked_for(sent: list[int]) -> None:
    make_job(State.RUNNING, attempts=1)
    request_job(kind=KIND)
    assert states() == [State.RUNNING, State.QUEUED]


@pytest.mark.django_db
def test_silent_jobs_are_sent_again_and_lively_ones_are_not(sent: list[int]) -> None:
    dead = make_job(State.RUNNING, silent_for=600, attempts=1)
    make_job(State.RUNNING, silent_for=10, attempts=1)
    lost = make_job(State.QUEUED, silent_for=600)
    make_job(State.QUEUED, silent_for=10)
    make_job(State.DONE, silent_for=600)
    assert take_up_silent_jobs() == 2
    assert sorted(sent) == [dead.pk, lost.pk]
    assert states() == ["queued", "running", "queued", "queued", "done"]
    assert take_up_silent_jobs() == 0


@pytest.mark.django_db
def test_a_worker_that_starts_sends_every_waiting_job(sent: list[int]) -> None:
    waiting = make_job(State.QUEUED)
    make_job(State.RUNNING, attempts=1)
    assert take_up_silent_jobs(waiting_for=timedelta(0)) == 1
    assert sent == [waiting.pk]


@pytest.mark.django_db
def test_a_job_from_before_signs_were_kept_is_sent(sent: list[int]) -> None:
    job = Job.objects.create(kind=KIND)
    Job.objects.update(created_at=timezone.now() - timedelta(hours=1))
    take_up_silent_jobs()
    assert sent == [job.pk]


@pytest.mark.django_db
def test_a_job_that_lost_its_worker_too_often_fails_with_its_reason(sent: list[int]) -> None:
    job = make_job(State.RUNNING, silent_for=600, attempts=MAXIMUM_ATTEMPTS)
    assert take_up_silent_jobs() == 0
    job.refresh_from_db()
    assert (job.state, sent) == (State.FAILED, [])
    assert "not tried again by itself" in job.fault
    assert job.finished_at is not None


@pytest.mark.django_db
def test_progress_of_the_last_step_stays_with_the_job(done: list[int]) -> None:
    job = make_job()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.progress, job.total, job.message) == (State.DONE, 1, 2, "half")
    assert job.attempts == 1


@pytest.mark.django_db
def test_a_worker_given_up_cannot_end_the_job_of_its_follower(sent: list[int]) -> None:
    job = make_job()
    stalled = claim_job(job.pk)
    assert stalled is not None
    Job.objects.update(heartbeat_at=timezone.now() - timedelta(hours=1))
    take_up_silent_jobs()
    finish_job(stalled, State.FAILED, error="too late")
    assert states() == [State.QUEUED]
    follower = claim_job(job.pk)
    assert follower is not None
    heartbeats.mark_alive(stalled, progress=9, total=9, message="too late")
    finish_job(stalled, State.FAILED, error="too late")
    job.refresh_from_db()
    assert (job.state, job.attempts, job.error, job.message) == (State.RUNNING, 2, "", "")


@pytest.mark.django_db(transaction=True)
def test_of_many_deliveries_one_does_the_job(done: list[int]) -> None:
    job = make_job()
    run_together([lambda: run_job(job.pk)] * 8)
    assert done == [job.pk]
    assert Job.objects.get().attempts == 1


@pytest.mark.django_db(transaction=True)
def test_of_many_watches_one_takes_up_each_job(sent: list[int]) -> None:
    expected = [make_job(State.RUNNING, silent_for=600, attempts=1).pk for _ in range(5)]
    run_together([lambda: watch.look_after_jobs()] * 4)
    assert sorted(sent) == expected


@pytest.mark.django_db(transaction=True)
def test_a_job_within_a_long_transaction_shows_signs_of_life_and_its_progress(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(heartbeats, "TICK_SECONDS", 0.05)
    seen: list[tuple[bool, str]] = []
    job = make_job(silent_for=3600)

    def read() -> tuple[bool, str]:
        row = Job.objects.get()
        return row.heartbeat_at > started, row.message

    def look_twice(job: Job, report: ReportProgress) -> None:
        with transaction.atomic():
            report(1, 3, "first")
            for expected in ("first", "second"):
                report(1, 3, expected)
                deadline = time.monotonic() + 60
                while run_together([read])[0] != (True, expected):
                    assert time.monotonic() < deadline
                seen.append((True, expected))

    started = timezone.now()
    monkeypatch.setitem(WORKS, KIND, look_twice)
    run_job(job.pk)
    assert seen == [(True, "first"), (True, "second")]
    assert states() == [State.DONE]


@pytest.mark.django_db(transaction=True)
def test_a_quiet_job_beats_and_its_heart_stops_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeats, "BEAT_SECONDS", 0.1)
    monkeypatch.setattr(heartbeats, "TICK_SECONDS", 0.05)
    signs: set[object] = set()

    def keep_quiet(job: Job, report: ReportProgress) -> None:
        deadline = time.monotonic() + 60
        while len(signs) < 4:
            assert time.monotonic() < deadline
            signs.add(Job.objects.get().heartbeat_at)

    monkeypatch.setitem(WORKS, KIND, keep_quiet)
    run_job(make_job().pk)
    after = Job.objects.get().heartbeat_at
    time.sleep(0.3)
    assert Job.objects.get().heartbeat_at == after


@pytest.mark.django_db(transaction=True)
def test_a_watch_outlives_a_broker_that_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[timedelta | None] = []

    def refuse(*, waiting_for: timedelta | None = None) -> int:
        calls.append(waiting_for)
        raise ConnectionError("the broker is away")

    monkeypatch.setattr(watch, "take_up_silent_jobs", refuse)
    monkeypatch.setattr(watch, "CHECK_SECONDS", 0.01)
    guard = watch.JobWatch()
    guard.start()
    deadline = time.monotonic() + 60
    while len(calls) < 3 and time.monotonic() < deadline:
        time.sleep(0.01)
    guard.stop()
    assert calls[:3] == [timedelta(0), None, None]


@pytest.mark.django_db
def test_an_error_in_the_work_ends_the_job_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def break_down(job: Job, report: ReportProgress) -> None:
        raise ZeroDivisionError

    monkeypatch.setitem(WORKS, KIND, break_down)
    job = make_job()
    run_job(job.pk)
    job.refresh_from_db()
    assert (job.state, job.error) == (State.FAILED, jobs.BROKEN)

"""Celery's entry to jobs: thin shells around services."""

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown

from studies.services import jobs
from studies.services.watch import JobWatch

watch = JobWatch()


@shared_task(name="studies.run_job")
def run_job_task(job_id: int) -> None:
    jobs.run_job(job_id)


@worker_ready.connect
def start_watch(**kwargs: object) -> None:
    watch.start()


@worker_shutdown.connect
def stop_watch(**kwargs: object) -> None:
    watch.stop()

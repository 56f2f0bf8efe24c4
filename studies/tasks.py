"""Celery's entry to jobs: thin shells around services."""

from celery import shared_task
from celery.signals import worker_ready

from studies.services import jobs
from studies.services.import_drafts import sweep_drafts


@shared_task(name="studies.run_job")
def run_job_task(job_id: int) -> None:
    jobs.run_job(job_id)


@worker_ready.connect
def take_up_abandoned_jobs(**kwargs: object) -> None:
    jobs.requeue_abandoned_jobs()
    sweep_drafts()

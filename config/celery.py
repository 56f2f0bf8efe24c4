"""The job system: Redis where a broker is named, a folder under `var/` where none is."""

import os
from pathlib import Path

from celery import Celery
from django.conf import settings

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings.dev")

app = Celery("dissensus")


def filesystem_transport(folder: Path) -> dict[str, object]:
    """Options of Celery's filesystem transport: what one side writes, the other reads."""
    queue, control = folder / "queue", folder / "control"
    for path in (queue, control):
        path.mkdir(parents=True, exist_ok=True)
    return {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(control),
        "store_processed": False,
        "polling_interval": 0.1,
    }


app.conf.update(
    broker_url=settings.CELERY_BROKER_URL,
    broker_connection_retry_on_startup=True,
    task_ignore_result=True,
    task_acks_late=True,
    task_reject_on_worker_lost=True,
    task_serializer="json",
    accept_content=["json"],
    task_default_queue="dissensus",
    worker_prefetch_multiplier=1,
    worker_hijack_root_logger=False,
    worker_send_task_events=False,
    timezone="UTC",
)
if settings.CELERY_BROKER_URL.startswith("filesystem:"):
    app.conf.broker_transport_options = filesystem_transport(Path(settings.CELERY_BROKER_DIR))

app.autodiscover_tasks()

"""The whole report in a process of its own, so that its peak of memory is its own too."""

import resource
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context


@dataclass(frozen=True)
class Spent:
    """Seconds by the clock, seconds of this process's processor time, and its peak in MiB."""

    wall: float
    processor: float
    peak: float


def compute_apart(database: str, study: int, resamples: int) -> Spent:
    """Compute the report of a study (key) of this database in a new process."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_compute, database, study, resamples).result()


def _compute(database: str, study: int, resamples: int) -> Spent:
    import django

    django.setup()
    from django.db import connection

    from results.services.agreement import compute_agreement
    from results.services.scopes import Scope
    from studies.models import Study

    connection.settings_dict["NAME"] = database
    found = Study.objects.get(pk=study)
    wall, processor = time.perf_counter(), time.process_time()
    compute_agreement(found, scope=Scope(), resamples=resamples)
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    connection.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return Spent(wall, processor, peak)

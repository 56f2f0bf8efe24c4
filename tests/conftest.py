"""Fixtures that every test may use. The cast is in `tests/cast.py`, builders in `factories.py`."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import pytest_django
from django.db import connection
from django.utils import translation
from hypothesis import settings

from tests.cast import Cast, make_cast
from tests.kept import Kept

ROOT = Path(__file__).resolve().parent.parent
KEPT_CAST = Kept(make_cast)

# How long an example takes on a busy machine says nothing about what it shows.
settings.register_profile("dissensus", deadline=None)
settings.load_profile("dissensus")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The folder of real data, which the project does not carry."""
    named = os.environ.get("DISSENSUS_TEST_DATA")
    folder = Path(named) if named else ROOT.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("real data: set DISSENSUS_TEST_DATA to the folder that holds it")
    return folder


@pytest.fixture(scope="session")
def django_db_setup(
    django_db_setup: None, django_db_blocker: pytest_django.DjangoDbBlocker
) -> Iterator[None]:
    """The test database, without anybody else in it when it is dropped: a thread that served a test
    may still hold its connection then."""
    yield
    with django_db_blocker.unblock(), connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND usename = current_user "
            "AND backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )


@pytest.fixture(autouse=True)
def own_language() -> None:
    """The language of the last request of one test is not that of the next."""
    translation.deactivate()


@pytest.fixture
def cast(db: None) -> Cast:
    """One small study and the people around it: see `tests/cast.py`."""
    return KEPT_CAST.get()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out, by name, what needs a server that this machine does not offer."""
    needs = {
        "redis": "DISSENSUS_TEST_REDIS_URL",
        "server": "DISSENSUS_TEST_DATABASE_URL",
    }
    for item in items:
        for marker, variable in needs.items():
            if item.get_closest_marker(marker) and not os.environ.get(variable):
                item.add_marker(pytest.mark.skip(reason=f"{marker}: {variable} is not set"))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Where skips are forbidden, a skipped test is a failed one that says so."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]  # pluggy's outcome
    if (
        report.skipped
        and os.environ.get("DISSENSUS_FORBID_SKIPS")
        and not hasattr(report, "wasxfail")
    ):
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} was skipped where no skip is allowed: {reason}"

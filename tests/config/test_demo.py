"""The demo: loaded once, logins made at random and shown again, refused in production."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db.models import Count
from django.test import Client

import results.tasks  # noqa: F401 - registers the work, as a worker does at its start
from annotation.models import Claim, Judgment
from config import demo
from studies.models import Job, QueryClass, Study, User
from studies.services.jobs import run_job
from tests.results.documented import list_undocumented_keys


@pytest.fixture(autouse=True)
def own_var(settings: object, tmp_path: Path) -> None:
    settings.VAR_DIR = tmp_path  # type: ignore[attr-defined]  # settings take any name


def run_demo(*arguments: str) -> str:
    out = StringIO()
    call_command("demo", *arguments, stdout=out)
    return out.getvalue()


def read_login(output: str, name: str) -> str:
    return next(line.split()[2] for line in output.splitlines() if f" {name} " in line)


@pytest.mark.django_db
def test_demo_prints_logins_for_each_role_that_work() -> None:
    output = run_demo()
    for role in ("annotator", "adjudicator", "lead", "admin"):
        assert role in output
    for name in ("ana", "lia"):
        response = Client().post(
            "/login/", {"username": name, "password": read_login(output, name)}
        )
        assert response.status_code == 302


@pytest.mark.django_db
def test_second_time_changes_nothing_and_prints_the_same_logins() -> None:
    first = run_demo()
    counts = (Judgment.objects.count(), Claim.objects.count(), User.objects.count())
    for arguments in ([], ["--if-missing"]):
        assert read_login(run_demo(*arguments), "ana") == read_login(first, "ana")
    assert counts == (Judgment.objects.count(), Claim.objects.count(), User.objects.count())


@pytest.mark.django_db
def test_password_that_was_changed_is_not_printed() -> None:
    first = run_demo()
    ana = User.objects.get(username="ana")
    ana.set_password("something of her own")
    ana.save()
    assert read_login(first, "ana") not in run_demo("--if-missing")


@pytest.mark.django_db
def test_demo_leaves_queries_to_judge_and_asks_for_the_numbers() -> None:
    run_demo()
    study = Study.objects.get(slug="demo")
    judged = Judgment.objects.values("pair__query").distinct().count()
    assert 20 <= judged < study.queries.count()
    for job in Job.objects.all():
        run_job(job.pk)
    assert set(Job.objects.values_list("state", flat=True)) == {Job.State.DONE}
    assert len(study.release_report.payload["systems"]["runs"]) == 2
    payload = study.agreement_reports.get().payload
    assert payload["splits"] > 20
    assert list_undocumented_keys(payload) == []


@pytest.mark.django_db
def test_what_the_demo_asks_for_can_be_done() -> None:
    """Whoever has labelled can be asked again, and no class needs more queries than it has."""
    run_demo()
    assert Judgment.objects.exists()
    assert not Judgment.objects.filter(annotator__user=None).exists()
    risky = QueryClass.objects.filter(is_high_risk=True).annotate(size=Count("queries"))
    assert [(one.name, one.minimum_queries <= one.size) for one in risky] == [("policy", True)]
    assert all(one.minimum_queries for one in risky)


def test_production_refuses_the_demo(settings: object) -> None:
    settings.DEMO_ALLOWED = False  # type: ignore[attr-defined]  # settings take any name
    with pytest.raises(CommandError, match="production"):
        run_demo()


def test_logins_are_kept_for_the_owner_alone(tmp_path: Path) -> None:
    demo.write_private(tmp_path / "private" / "x.json", "{}")
    assert (tmp_path / "private" / "x.json").stat().st_mode & 0o077 == 0
    assert (tmp_path / "private").stat().st_mode & 0o077 == 0

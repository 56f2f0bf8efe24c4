"""The life of an upload: read, confirmed once, imported once, whole or not at all; or it ends."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.utils import timezone

from results.services import import_drafts as worker
from studies.models import (
    Action,
    Document,
    ImportDraft,
    Job,
    Pair,
    Query,
    Role,
    Study,
    User,
)
from studies.services import jobs
from studies.services.import_drafts import confirm_draft, sweep_drafts
from studies.services.jobs import take_up_silent_jobs
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in
from tests.studies.study_folders import QUERIES
from tests.studies.uploads import (
    RUNS,
    STUDY_FILES,
    confirm,
    post_files,
    upload,
    upload_and_read,
    uploads,
    work,
)

pytestmark = pytest.mark.usefixtures("storage")


def test_too_large_an_upload_gets_a_page_and_keeps_nothing(cast: Cast, settings: Any) -> None:
    settings.UPLOAD_LIMIT = 2000
    response = post_files(
        log_in(cast.max), cast.study, study_files=upload("corpus.jsonl", "x" * 3000)
    )
    assert response.status_code == 413
    assert "Nothing was kept" in response.content.decode()
    assert not ImportDraft.objects.exists()
    assert not default_storage.exists("imports")


def test_the_progress_polls_while_a_worker_is_at_it(help_study: Study, admin: Client) -> None:
    post_files(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    url = f"/studies/help/import/{ImportDraft.objects.get().public_id}/"
    page = admin.get(url).content.decode()
    assert 'hx-trigger="every 1s"' in page
    assert "Look again" in page
    part = admin.get(url, headers={"HX-Request": "true"}).content.decode()
    assert "<h1" not in part
    assert "<progress" in part
    work()
    assert admin.get(url, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_a_discarded_upload_leaves_no_file_and_cannot_be_confirmed(
    help_study: Study, admin: Client, django_capture_on_commit_callbacks: Any
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    url = f"/studies/help/import/{draft.public_id}/"
    with django_capture_on_commit_callbacks(execute=True):
        assert admin.post(f"{url}discard/").status_code == 302
    assert not default_storage.exists(draft.files[0]["stored"])
    response = admin.post(f"{url}confirm/")
    assert response.status_code == 409
    assert "can no longer be imported" in response.content.decode()
    assert admin.post(f"{url}discard/").status_code == 409
    assert admin.post(f"{url}retry/").status_code == 409
    assert Query.objects.count() == 0


def test_a_draft_expires_after_a_day_and_is_swept(
    help_study: Study, admin: Client, django_capture_on_commit_callbacks: Any
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    ImportDraft.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    url = f"/studies/help/import/{draft.public_id}/"
    assert admin.post(f"{url}confirm/").status_code == 409
    assert "has expired" in admin.get(url).content.decode()
    with django_capture_on_commit_callbacks(execute=True):
        assert sweep_drafts() == 1
    draft.refresh_from_db()
    assert draft.state == "discarded"
    assert not default_storage.exists(draft.files[0]["stored"])


def test_the_list_of_drafts_takes_the_same_number_of_queries(
    cast: Cast, django_assert_max_num_queries: Any
) -> None:
    client = log_in(cast.max)
    for _ in range(15):
        make.make_draft(cast.study)
    with django_assert_max_num_queries(9):
        client.get("/studies/alpha/import/")


def test_a_worker_that_dies_leaves_nothing_and_the_job_is_run_again(
    help_study: Study, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    admin.post(f"/studies/help/import/{draft.public_id}/confirm/")
    job = Job.objects.get(state=Job.State.QUEUED)

    class Killed(BaseException):
        """Nothing catches a kill."""

    def die(*args: object) -> None:
        assert Pair.objects.count() == 4
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(worker, "tell_report", die)
        with pytest.raises(Killed):
            jobs.run_job(job.pk)
    draft.refresh_from_db()
    assert (draft.state, Pair.objects.count(), Query.objects.count()) == ("confirmed", 0, 0)
    Job.objects.filter(pk=job.pk).update(heartbeat_at=timezone.now() - timedelta(hours=1))
    assert take_up_silent_jobs() == 1
    work()
    draft.refresh_from_db()
    assert (draft.state, Pair.objects.count()) == ("imported", 4)


def test_a_job_that_failed_can_be_tried_again(
    help_study: Study, admin: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    with monkeypatch.context() as patch:
        patch.setattr(worker, "import_into", lambda *args, **kwargs: 1 / 0)
        assert confirm(admin, draft).state == "confirmed"
    url = f"/studies/help/import/{draft.public_id}/"
    assert "could not finish" in admin.get(url).content.decode()
    assert admin.post(f"{url}retry/").status_code == 302
    work()
    draft.refresh_from_db()
    assert draft.state == "imported"


@pytest.mark.parametrize("state", [Job.State.QUEUED, Job.State.RUNNING])
@pytest.mark.parametrize("verb", ["retry", "discard"])
def test_an_import_that_lost_its_worker_can_be_tried_again_and_discarded(
    help_study: Study, admin: Client, state: str, verb: str
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    url = f"/studies/help/import/{draft.public_id}/"
    admin.post(f"{url}confirm/")
    Job.objects.filter(state=Job.State.QUEUED).update(
        state=state, attempts=1, heartbeat_at=timezone.now() - timedelta(hours=1)
    )
    page = admin.get(url).content.decode()
    assert "could not finish" in page
    assert "hx-get" not in page.split('id="import-progress"')[1].split(">")[0]
    assert f'action="{url}{verb}/"' in page
    poll = admin.get(url, headers={"HX-Request": "true"})
    assert poll.headers["HX-Refresh"] == "true"
    assert admin.post(f"{url}{verb}/").status_code == 302
    work()
    draft.refresh_from_db()
    expected = ("imported", 2) if verb == "retry" else ("discarded", 0)
    assert (draft.state, Query.objects.count()) == expected


def test_an_import_at_work_is_neither_tried_again_nor_discarded(
    help_study: Study, admin: Client
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    url = f"/studies/help/import/{draft.public_id}/"
    admin.post(f"{url}confirm/")
    Job.objects.filter(state=Job.State.QUEUED).update(
        state=Job.State.RUNNING, heartbeat_at=timezone.now()
    )
    jobs_before = Job.objects.count()
    assert admin.post(f"{url}retry/").status_code == 302
    assert admin.post(f"{url}discard/").status_code == 409
    draft.refresh_from_db()
    assert (draft.state, Job.objects.count()) == ("confirmed", jobs_before)


@pytest.mark.django_db(transaction=True)
def test_pages_do_not_wait_for_an_import_under_way() -> None:
    study = make.make_study("help")
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    draft = upload_and_read(admin, study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    url = f"/studies/help/import/{draft.public_id}/"
    answers: list[int] = []

    def meanwhile(verb: str) -> int:
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '20s'")
        return admin.post(f"{url}{verb}/").status_code

    real = worker.tell_report

    def look(*args: Any) -> dict[str, Any]:
        for verb in ("confirm", "retry", "discard"):
            answers.extend(run_together([lambda verb=verb: meanwhile(verb)]))
        return real(*args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(worker, "tell_report", look)
        assert confirm(admin, draft).state == "imported"
    assert answers == [302, 302, 409]


def test_a_study_that_changed_meanwhile_refuses_the_import(
    help_study: Study, admin: Client
) -> None:
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", QUERIES))
    make.make_query(help_study, "q1", text="meanwhile another question")
    assert confirm(admin, draft).state == "refused"
    assert Query.objects.count() == 1


def test_another_study_cannot_see_or_touch_the_draft(cast: Cast) -> None:
    draft = make.make_draft(cast.study)
    stranger = log_in(cast.sid)
    for study in ("alpha", "beta"):
        url = f"/studies/{study}/import/{draft.public_id}/"
        assert stranger.get(url).status_code == 404
        for verb in ("confirm", "retry", "discard"):
            assert stranger.post(f"{url}{verb}/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_two_browsers_confirm_and_two_workers_run_but_it_is_imported_once() -> None:
    study = make.make_study("help")
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    draft = upload_and_read(admin, study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    user = User.objects.get(username="max")
    before = Job.objects.count()
    run_together([lambda: confirm_draft(draft=draft, user=user)] * 4)
    assert Job.objects.count() == before + 1
    run_together([lambda: worker.run_draft(draft.pk, lambda *step: None)] * 3)
    draft.refresh_from_db()
    assert (draft.state, study.pairs.count(), Document.objects.count()) == ("imported", 4, 4)
    assert Action.objects.filter(name="study.imported").count() == 1
    assert not default_storage.exists(draft.files[0]["stored"])


@pytest.mark.django_db(transaction=True)
def test_progress_shows_before_the_import_is_through(monkeypatch: pytest.MonkeyPatch) -> None:
    study = make.make_study("help")
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    draft = upload_and_read(admin, study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    seen: list[tuple[str, int]] = []

    def look(*args: object) -> dict[str, Any]:
        def read() -> tuple[str, int]:
            deadline = time.monotonic() + 60
            while (told := Job.objects.get(state=Job.State.RUNNING).message) != "pool":
                assert time.monotonic() < deadline, f"told last: {told}"
                time.sleep(0.05)
            return told, Pair.objects.count()

        seen.extend(run_together([read]))
        return {}

    monkeypatch.setattr(worker, "tell_report", look)
    confirm(admin, draft)
    assert seen == [("pool", 0)]

"""Import on the page: upload, report, confirm, once and whole."""

import time
from datetime import timedelta
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.db import connection
from django.test import Client
from django.utils import timezone

from annotation.models import Judgment
from results.services import import_drafts as worker
from studies.models import (
    Action,
    Document,
    ImportDraft,
    Job,
    Member,
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
from tests.studies.study_folders import QUERIES, RUN_A, RUN_B, corpus
from tests.studies.uploads import (
    FILES,
    confirm,
    list_reasons,
    post_files,
    upload,
    upload_and_read,
    uploads,
    work,
    zipped,
)

STUDY_FILES = {name: text for name, text in FILES.items() if "/" not in name}
RUNS = {"a.run": RUN_A, "b.run": RUN_B}


@pytest.fixture
def help_study(db: None) -> Study:
    return make.make_study("help")


@pytest.fixture
def admin(help_study: Study) -> Client:
    return log_in(make.make_member(help_study, "max", Role.ADMIN))


@pytest.fixture(autouse=True)
def storage(settings: Any, tmp_path: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"


def test_a_new_study_gets_all_it_needs_from_single_files(help_study: Study, admin: Client) -> None:
    draft = upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    assert draft.state == "read"
    assert Query.objects.count() == Pair.objects.count() == 0
    assert confirm(admin, draft).state == "imported"
    assert help_study.pairs.count() == 4
    assert help_study.rounds.get().round_queries.count() == 2


def test_one_zip_is_the_same_as_its_files(help_study: Study, admin: Client) -> None:
    archive = zipped({f"help/{name}": text for name, text in FILES.items()})
    draft = upload_and_read(admin, help_study, study_files=upload("help.zip", archive))
    assert confirm(admin, draft).state == "imported"
    assert help_study.pairs.count() == 4


def test_files_come_one_by_one(help_study: Study, admin: Client) -> None:
    for field, name, text in (
        ("study_files", "queries.tsv", QUERIES),
        ("study_files", "corpus.jsonl", corpus("d1", "d2", "d3", "d4")),
        ("runs", "a.run", RUN_A),
        ("runs", "b.run", RUN_B),
    ):
        draft = upload_and_read(admin, help_study, **{field: upload(name, text)})
        assert confirm(admin, draft).state == "imported"
    assert help_study.pairs.count() == 4
    assert help_study.rounds.get().round_queries.count() == 2


def test_the_report_says_what_each_file_is_and_what_would_change(
    help_study: Study, admin: Client
) -> None:
    draft = upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert "This is what would change" in page
    for sign in ("queries.tsv", "corpus.jsonl", "runs/a.run", "Import all of it"):
        assert sign in page
    assert draft.report["counts"]["queries"] == {
        "read": 2,
        "new": 2,
        "same": 0,
        "conflicting": 0,
        "refused": 0,
    }


def test_a_refused_upload_names_file_line_and_reason(help_study: Study, admin: Client) -> None:
    run = "q1 Q0 d1 1 3.0 a\nq1 Q0 d1 broken\n"
    draft = upload_and_read(
        admin, help_study, **uploads(study_files=STUDY_FILES, runs={"a.run": run})
    )
    assert draft.state == "refused"
    assert list_reasons(draft)[0].startswith("runs/a.run:2: ")
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert "runs/a.run" in page
    assert "Nothing was imported" in page
    assert Query.objects.count() == 0


def test_what_says_otherwise_than_the_study_is_a_conflict(help_study: Study, admin: Client) -> None:
    confirm(admin, upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES)))
    other = "q1\tanother question\tprocedural\n"
    draft = upload_and_read(admin, help_study, study_files=upload("queries.tsv", other))
    assert draft.state == "refused"
    assert draft.report["counts"]["queries"]["conflicting"] == 1
    assert "queries.tsv:1: the query q1 has another text" in list_reasons(draft)[0]


def test_the_same_files_again_are_nothing_new(help_study: Study, admin: Client) -> None:
    fields = {"study_files": STUDY_FILES, "runs": RUNS}
    confirm(admin, upload_and_read(admin, help_study, **uploads(**fields)))
    draft = upload_and_read(admin, help_study, **uploads(**fields))
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert draft.report["new"] == 0
    assert "Nothing in it is new" in page
    assert "confirm-import" not in page


def test_settings_of_another_study_are_refused(help_study: Study, admin: Client) -> None:
    settings_file = upload("study.yaml", "study: other\n")
    draft = upload_and_read(admin, help_study, study_files=settings_file)
    assert list_reasons(draft) == [
        "study.yaml: it is of the study other; this study is help",
    ]
    assert not Study.objects.filter(slug="other").exists()


def test_people_of_an_upload_get_no_account_and_no_role(help_study: Study, admin: Client) -> None:
    text = "study: help\npeople:\n  - {name: eve, roles: [admin]}\n"
    draft = upload_and_read(
        admin, help_study, **uploads(study_files=STUDY_FILES | {"study.yaml": text}, runs=RUNS)
    )
    assert confirm(admin, draft).state == "imported"
    assert not User.objects.filter(username="eve").exists()
    assert not Member.objects.filter(name="eve").exists()
    assert any("people are passed over (eve)" in text for _, _, text in draft.report["notes"])


def test_the_log_of_an_upload_is_not_believed(help_study: Study, admin: Client) -> None:
    files = STUDY_FILES | {"log.jsonl": '{"at": "2020-01-01T00:00:00Z", "name": "x.y"}\n'}
    draft = upload_and_read(admin, help_study, **uploads(study_files=files))
    assert confirm(admin, draft).state == "imported"
    assert not Action.objects.filter(name="x.y").exists()


def test_names_in_labels_become_identities(cast: Cast) -> None:
    labels = "query_id,doc_id,relevance,decided_by\nq1,q1-d1,1,recency\n"
    admin = log_in(cast.max)
    draft = upload_and_read(
        admin, cast.study, judgments=upload("labels.csv", labels), annotator="eve", round="main"
    )
    assert confirm(admin, draft).state == "imported"
    eve = Member.objects.get(study=cast.study, name="eve")
    assert (eve.user, eve.roles, eve.is_machine) == (None, [], False)
    assert Judgment.objects.get().annotator == eve


def test_labels_of_a_machine_may_extend_the_pool(cast: Cast) -> None:
    make.make_document(cast.study, "new")
    admin = log_in(cast.max)
    draft = upload_and_read(
        admin,
        cast.study,
        judgments=upload("labels.qrels", "q1 robot new 1\n"),
        machine="on",
        extend_pool="on",
        annotator_from_iteration="on",
    )
    assert confirm(admin, draft).state == "imported"
    assert Member.objects.get(name="robot").is_machine
    assert Pair.objects.filter(document__external_id="new").exists()


def test_labels_in_an_upload_never_pass_for_labels_given_here(cast: Cast) -> None:
    labels = "query_id,doc_id,annotator,relevance,decided_by,source\nq1,q1-d1,ana,1,recency,app\n"
    admin = log_in(cast.max)
    draft = upload_and_read(admin, cast.study, study_files=upload("judgments.csv", labels))
    assert confirm(admin, draft).state == "imported"
    assert Judgment.objects.get().source == Judgment.Source.IMPORT


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({}, "Choose at least one file"),
        ({"depth": "0"}, "greater than or equal to 1"),
        ({"round": "nowhere"}, "valid choice"),
        ({"annotator": "a", "annotator_from_iteration": "on"}, "or you do"),
    ],
)
def test_an_invalid_form_comes_back(cast: Cast, fields: dict[str, str], sentence: str) -> None:
    response = post_files(log_in(cast.max), cast.study, **fields)
    assert response.status_code == 422
    assert sentence in response.content.decode()
    assert not ImportDraft.objects.exists()


def test_the_first_import_gives_a_new_study_its_depth(help_study: Study, admin: Client) -> None:
    fields = uploads(study_files=STUDY_FILES, runs=RUNS)
    confirm(admin, upload_and_read(admin, help_study, depth="1", **fields))
    help_study.refresh_from_db()
    assert help_study.depth == 1
    pooled = help_study.pairs.values_list("document__external_id", flat=True)
    assert sorted(pooled) == ["d1", "d2", "d3"]


def test_a_shallower_pool_is_refused(help_study: Study, admin: Client) -> None:
    Study.objects.update(depth=5)
    response = post_files(admin, help_study, depth="5")
    assert response.status_code == 422
    assert "never taken away" in response.content.decode()


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


def test_who_still_judges_learns_no_label_by_guessing_in_a_file(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 0, decided_by="recency")
    cast.ben.roles = ["annotator", "admin"]
    cast.ben.save()
    guess = "query_id,doc_id,annotator,relevance,decided_by\nq1,q1-d1,ana,2,recency\n"
    client, labels = log_in(cast.ben), upload("labels.csv", guess)
    draft = upload_and_read(client, cast.study, judgments=labels, round="main")
    page = client.get(f"/studies/alpha/import/{draft.public_id}/").content.decode()
    assert "you still judge in the round main" in page
    assert "ana&#x27;s label" not in page

"""Import on the page: what is uploaded, what is told of it, and what comes in."""

import html
import re

import pytest
from django.test import Client

from annotation.models import Judgment
from studies.models import (
    Action,
    ControlPair,
    ImportDraft,
    Member,
    Pair,
    Query,
    Study,
    User,
)
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.studies.study_folders import QUERIES, RUN_A, RUN_B, corpus
from tests.studies.uploads import (
    FILES,
    RUNS,
    STUDY_FILES,
    confirm,
    list_reasons,
    post_files,
    upload,
    upload_and_read,
    uploads,
    zipped,
)

pytestmark = pytest.mark.usefixtures("storage")


def test_a_new_study_gets_all_it_needs_from_single_files(help_study: Study, admin: Client) -> None:
    draft = upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES, runs=RUNS))
    assert draft.state == "read"
    assert Query.objects.count() == Pair.objects.count() == 0
    assert confirm(admin, draft).state == "imported"
    assert help_study.pairs.count() == 4
    assert help_study.rounds.get().round_queries.count() == 2
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert 'href="/studies/help/">To the study' in page


def test_one_zip_is_the_same_as_its_files(help_study: Study, admin: Client) -> None:
    archive = zipped({f"help/{name}": text for name, text in FILES.items()})
    draft = upload_and_read(admin, help_study, study_files=upload("help.zip", archive))
    assert confirm(admin, draft).state == "imported"
    assert help_study.pairs.count() == 4


def test_what_the_page_says_of_each_file_is_taken(help_study: Study, admin: Client) -> None:
    page = admin.get("/studies/help/import/").content.decode().split("file-names")[1]
    told = re.findall(r"<dd><code>(.*?)</code>", page.split("</dl>")[0])
    query, document, hit, pool_head, control_head, label_head, qrel = map(html.unescape, told)
    labels = f"{label_head}\nq1,d1,1,eve,answerability\n"
    draft = upload_and_read(
        admin,
        help_study,
        study_files=[
            upload("queries.jsonl", query),
            upload("corpus.jsonl", document),
            upload("pool.csv", f"{pool_head}\nq1,d1\n"),
            upload("controls.csv", f"{control_head}\nq1,d1,1,answerability\n"),
        ],
        judgments=upload("labels.csv", labels),
    )
    assert (draft.state, list_reasons(draft)) == ("read", [])
    draft = upload_and_read(
        admin,
        help_study,
        study_files=[upload("queries.jsonl", query), upload("corpus.jsonl", document)],
        runs=upload("NAME.run", hit),
        judgments=upload("labels.qrels", qrel),
        annotator="eve",
    )
    assert (draft.state, list_reasons(draft)) == ("read", [])


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


def test_a_clause_for_a_class_of_no_query_is_refused_by_line(
    help_study: Study, admin: Client
) -> None:
    rubric = {"rubric.yaml": "dimensions:\n  topic: {test: On topic?, polcy_clause: In force?}\n"}
    draft = upload_and_read(admin, help_study, **uploads(study_files=STUDY_FILES | rubric))
    assert draft.state == "refused"
    assert list_reasons(draft)[0].startswith("rubric.yaml:2: the dimension topic: the clause polcy")


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


GUESSES = {
    "controls.csv": "query_id,doc_id,grade,decided_by\nq1,q1-d1,2,recency\n",
    "judgments.csv": (
        "query_id,doc_id,annotator,relevance,decided_by,round\nq1,q1-d1,ana,2,recency,main\n"
    ),
    "final_labels.csv": "query_id,doc_id,grade,reason\nq1,q1-d1,2,guessed\n",
}


@pytest.mark.parametrize("form", ["judgments", *GUESSES, "study.zip"])
def test_who_still_judges_learns_no_label_by_guessing_in_a_file(cast: Cast, form: str) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 0, decided_by="recency")
    make.make_final_label(cast.pairs[0], 1, by=cast.ada)
    ControlPair.objects.create(pair=cast.pairs[0], grade=0, decided_by="authority")
    cast.ben.roles = ["annotator", "admin"]
    cast.ben.save()
    client = log_in(cast.ben)
    fields = {"study_files": upload(form, GUESSES.get(form, ""))}
    if form == "judgments":
        fields = {"judgments": upload("labels.csv", GUESSES["judgments.csv"]), "round": "main"}
    elif form == "study.zip":
        fields = {"study_files": upload(form, zipped(GUESSES))}
    draft = upload_and_read(client, cast.study, **fields)
    told = list_reasons(draft)
    assert len(told) == (3 if form == "study.zip" else 1)
    assert all("you still judge in the round main" in reason for reason in told)
    for kind in {"controls", "judgments", "final labels"} & set(draft.report["counts"]):
        counts = draft.report["counts"][kind]
        assert (counts["new"], counts["same"], counts["conflicting"]) == (0, 0, 0)

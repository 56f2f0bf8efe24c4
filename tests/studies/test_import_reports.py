"""What an import says of itself is true, in a terminal and on the page."""

from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from annotation.models import Claim
from results.services.imports import import_folder
from studies.models import Document, Role, Round, RoundQuery, Study
from studies.services.imports import ImportRefused, ImportReport
from tests import factories as make
from tests.pages import log_in
from tests.studies.study_folders import HELP, QUERIES, STUDY, corpus, help_study, write_folder
from tests.studies.uploads import FILES, confirm, upload, upload_and_read, uploads, zipped

pytestmark = pytest.mark.django_db


@pytest.fixture
def help_centre(tmp_path: Path, settings: Any) -> Study:
    """A study that holds `HELP`."""
    settings.MEDIA_ROOT = tmp_path / "media"
    import_folder(write_folder(tmp_path / "first", HELP))
    return Study.objects.get()


@pytest.fixture
def admin(help_centre: Study) -> Client:
    return log_in(make.make_member(help_centre, "max", Role.ADMIN))


def refuse(folder: Path) -> ImportReport:
    with pytest.raises(ImportRefused) as caught:
        import_folder(folder)
    return caught.value.report


def counts(read: int, new: int, same: int, conflicting: int, refused: int) -> dict[str, int]:
    return {
        "read": read,
        "new": new,
        "same": same,
        "conflicting": conflicting,
        "refused": refused,
    }


ODD_FILES = {
    "queries.tsv": "q1\tanother text\tprocedural\nq2\twhat does it cost?\tfactual\n",
    "corpus.jsonl": corpus("d1", "d2", "d3", "d4").replace("Text of d1.", "Otherwise."),
}
# Two hits elsewhere than in the study's run, one there already, one of no query, one new.
ODD_RUN = "q1 Q0 d2 1 3 a\nq1 Q0 d1 2 2 a\nq2 Q0 d3 1 1 a\nq9 Q0 d1 1 1 a\nq1 Q0 d4 3 0 a\n"
ODD = {
    "queries": counts(2, 0, 1, 1, 0),
    "documents": counts(4, 0, 3, 1, 0),
    "run hits": counts(5, 1, 1, 2, 1),
    "pairs": counts(5, 0, 4, 0, 1),
}


def test_what_conflicts_or_is_refused_is_not_counted_as_the_same(
    help_centre: Study, admin: Client, tmp_path: Path
) -> None:
    files = {"study.yaml": STUDY, "runs/a.run": ODD_RUN, **ODD_FILES}
    report = refuse(write_folder(tmp_path / "odd", files))
    run = {"a.run": ODD_RUN}
    draft = upload_and_read(admin, help_centre, **uploads(study_files=ODD_FILES, runs=run))
    for told in (report.counts(), draft.report["counts"]):
        assert {kind: told[kind] for kind in ODD} == ODD


def test_controls_rounds_and_rubrics_are_not_the_same_where_they_are_refused(
    help_centre: Study, tmp_path: Path
) -> None:
    controls = "query_id,doc_id,grade,decided_by\nq1,d1,1,recency\nq1,d2,7,recency\n"
    rounds = "rounds:\n  - {name: main, kind: relabel, rubric_version: 1}\n"
    folder = write_folder(
        tmp_path / "odd",
        {
            "study.yaml": STUDY + rounds,
            "controls.csv": controls,
            "rubric.yaml": "dimensions:\n  topic: {test: Is it on topic?}\n",
        },
    )
    told = refuse(folder).counts()
    assert told["controls"] == counts(2, 1, 0, 0, 1)
    assert told["rounds"] == counts(1, 0, 0, 1, 0)
    assert told["rubrics"] == counts(1, 0, 0, 1, 0)


def test_a_report_on_bad_settings_names_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = help_study(tmp_path / "help", study_yaml=f"{STUDY}depth: 0\n")
    monkeypatch.chdir(folder)
    assert "Nothing was imported into help, because" in refuse(Path(".")).outcome


def test_the_settings_of_a_zip_are_understood_as_settings(
    help_centre: Study, admin: Client
) -> None:
    archive = zipped({**FILES, "study.yaml": STUDY, "rubric-2.yaml": "note: x\n"})
    draft = upload_and_read(admin, help_centre, study_files=upload("help.zip", archive))
    meanings = {one["file"]: one["meaning"] for one in draft.report["files"]}
    assert meanings["study.yaml"] == "settings"
    assert meanings["rubric-2.yaml"] == "rubric"


def test_a_closed_round_is_told_where_it_takes_no_query_that_is_new(
    help_centre: Study, admin: Client, tmp_path: Path
) -> None:
    Round.objects.update(closed_at="2026-01-01T00:00Z")
    more = {
        "queries.tsv": f"{QUERIES}q3\tanything new?\tother\n",
        "runs/c.run": "q3 Q0 d1 1 1.0 c\n",
    }
    again = upload_and_read(admin, help_centre, study_files=upload("queries.tsv", QUERIES))
    assert again.report["notes"] == []
    run = {"c.run": more["runs/c.run"]}
    queries = {"queries.tsv": more["queries.tsv"]}
    draft = upload_and_read(admin, help_centre, **uploads(study_files=queries, runs=run))
    closed = (
        "the round main is closed: it takes no further queries (1 new); another main round that "
        "study.yaml names takes them"
    )
    assert draft.report["notes"] == [
        ["queries.tsv", None, "classes created that are not declared: other"],
        ["help", None, closed],
    ]
    report = import_folder(write_folder(tmp_path / "first", more))
    assert f"study.yaml: {closed}" in [str(note) for note in report.notes]
    assert not RoundQuery.objects.filter(query__external_id="q3").exists()
    rounds = "rounds:\n- {name: main}\n- {name: main-2, queries: [q3]}\n"
    queries["study.yaml"] = f"{STUDY}{rounds}"
    draft = upload_and_read(admin, help_centre, **uploads(study_files=queries, runs=run))
    assert confirm(admin, draft).state == "imported"
    second = help_centre.rounds.get(name="main-2")
    assert (second.kind, second.closed_at) == ("main", None)
    assert [one.query.external_id for one in second.round_queries.all()] == ["q3"]


def test_a_deeper_pool_asked_for_on_the_page_is_no_word_of_a_file(
    help_centre: Study, admin: Client
) -> None:
    draft = upload_and_read(admin, help_centre, depth="9")
    assert draft.report["notes"] == [["help", None, "the pool grows from depth 5 to 9"]]
    assert draft.report["counts"]["settings"] == counts(1, 1, 0, 0, 0)


def test_documents_known_by_their_id_are_counted(tmp_path: Path, settings: Any) -> None:
    settings.MEDIA_ROOT = tmp_path / "media"
    optional = {"study.yaml": f"{STUDY}documents: optional\n", "corpus.jsonl": corpus("d1", "d2")}
    controls = "query_id,doc_id,grade,decided_by\nq2,d9,1,recency\n"
    folder = write_folder(tmp_path / "help", {**HELP, **optional, "controls.csv": controls})
    assert import_folder(folder).counts()["documents by id"] == counts(3, 3, 0, 0, 0)
    assert import_folder(folder).counts()["documents by id"] == counts(3, 0, 3, 0, 0)
    assert Document.objects.count() == 5
    study = Study.objects.get()
    admin = log_in(make.make_member(study, "max", Role.ADMIN))
    draft = upload_and_read(admin, study, runs=upload("c.run", "q2 Q0 d8 1 1.0 c\n"))
    assert draft.report["counts"]["documents by id"] == counts(1, 1, 0, 0, 0)
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert "documents by id" in page


def test_labels_that_extend_the_pool_count_the_documents_they_bring(
    help_centre: Study, admin: Client
) -> None:
    Study.objects.update(documents_required=False)
    labels = upload("labels.qrels", "q1 0 d8 1\nq1 0 d9 0\n")
    draft = upload_and_read(admin, help_centre, judgments=labels, annotator="eve", extend_pool="on")
    assert draft.report["counts"]["documents by id"] == counts(2, 2, 0, 0, 0)


def test_a_folder_cannot_make_documents_optional_in_a_study_that_requires_them(
    help_centre: Study, tmp_path: Path
) -> None:
    folder = write_folder(
        tmp_path / "more",
        {"study.yaml": f"{STUDY}documents: optional\n", "runs/c.run": "q1 Q0 d9 1 1.0 c\n"},
    )
    (problem,) = refuse(folder).refusals
    assert str(problem).startswith("runs/c.run:1: the document d9 is pooled and not in the folder")


REOPENED = "Queries that gained pairs are open again"


@pytest.mark.parametrize("has_finished", [True, False])
def test_queries_are_said_to_be_open_again_only_where_they_are(
    help_centre: Study, admin: Client, tmp_path: Path, has_finished: bool
) -> None:
    state = Claim.State.FINISHED if has_finished else Claim.State.HELD
    ana = make.make_member(help_centre, "ana", Role.ANNOTATOR)
    make.make_claim(RoundQuery.objects.get(query__external_id="q2"), ana, state=state)
    run = upload("c.run", "q2 Q0 d1 1 1.0 c\n")
    draft = confirm(admin, upload_and_read(admin, help_centre, runs=run))
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert "All of it is in the study." in page
    assert (REOPENED in page) == has_finished
    Claim.objects.update(state=state)
    files = {"study.yaml": STUDY, "runs/d.run": "q2 Q0 d2 1 1.0 d\n"}
    report = import_folder(write_folder(tmp_path / "more", files))
    assert (REOPENED in report.outcome) == has_finished


def test_what_is_new_but_no_pair_opens_nothing_again(help_centre: Study, admin: Client) -> None:
    corpus_file = upload("corpus.jsonl", corpus("d7"))
    draft = confirm(admin, upload_and_read(admin, help_centre, study_files=corpus_file))
    page = admin.get(f"/studies/help/import/{draft.public_id}/").content.decode()
    assert REOPENED not in page

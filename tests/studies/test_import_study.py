"""A study comes in from its files, whole or not at all, and twice is the same as once."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.storage import default_storage
from PIL import Image

from results.services.imports import import_folder
from studies.models import (
    Action,
    ControlPair,
    Document,
    Member,
    Pair,
    Query,
    Ranking,
    Role,
    Round,
    RoundQuery,
    Study,
    User,
)
from studies.services.imports import ImportRefused, ImportReport, import_study, read_study
from tests.studies.study_folders import HELP, STUDY, corpus, help_study, write_folder

pytestmark = pytest.mark.django_db

COUNTED = (Action, ControlPair, Document, Member, Pair, Query, Round, RoundQuery, Ranking, Study)


def run_import(folder: Path, **options: bool) -> ImportReport:
    return import_study(read_study(folder), **options)


def row_counts() -> dict[str, int]:
    return {model.__name__: model.objects.count() for model in COUNTED}


def ranks(query: str) -> dict[str, int | None]:
    pairs = Pair.objects.filter(query__external_id=query)
    return dict(pairs.values_list("document__external_id", "pool_rank"))


def test_a_study_comes_in_with_its_queries_documents_runs_pool_and_round(tmp_path: Path) -> None:
    report = run_import(help_study(tmp_path))
    study = Study.objects.get()
    assert (study.slug, study.title, study.documents_required) == ("help", "Help centre", True)
    assert Query.objects.get(external_id="q1").query_class.name == "procedural"
    assert Document.objects.get(external_id="d3").body.text == "Text of d3."
    assert ranks("q1") == {"d1": 1, "d2": 2, "d4": 3}
    assert sum(len(ranking.document_ids) for ranking in Ranking.objects.all()) == 5
    main = Round.objects.get()
    assert (main.name, main.kind, main.rubric_version.number) == ("main", "main", 1)
    assert list(main.round_queries.values_list("annotators", flat=True)) == [2, 2]
    assert report.tally("pairs").new == 4


def test_importing_again_changes_nothing_and_says_so(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    run_import(folder)
    before = row_counts()
    report = run_import(folder)
    assert row_counts() == before
    assert report.new == 0
    assert report.outcome == "Nothing is new: help is unchanged."
    assert report.tally("documents").same == 4


def test_a_dry_run_reports_the_same_and_writes_nothing(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    dry = run_import(folder, dry_run=True)
    assert not Study.objects.exists()
    assert dry.counts() == run_import(folder).counts()


def test_a_further_run_adds_pairs_and_leaves_the_ranks_that_are_there(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    folder = write_folder(tmp_path, {"runs/0.run": "q1 Q0 d3 1 2.0 z\nq1 Q0 d4 2 1.0 z\n"})
    report = run_import(folder)
    assert ranks("q1") == {"d1": 1, "d2": 2, "d4": 3, "d3": 1}
    assert (report.tally("pairs").new, report.tally("run hits").new) == (1, 2)


def test_a_folder_with_the_new_run_only_is_enough(tmp_path: Path) -> None:
    run_import(help_study(tmp_path / "all"))
    files = {"study.yaml": STUDY, "runs/c.run": "q2 Q0 d1 1 1.0 c\n"}
    run_import(write_folder(tmp_path / "more", files))
    assert ranks("q2") == {"d3": 1, "d1": 1}


def test_new_runs_are_pooled_with_those_of_the_study(tmp_path: Path) -> None:
    import_folder(help_study(tmp_path / "all"))
    files = {"study.yaml": STUDY, "runs/c.run": "q2 Q0 d1 1 1.0 c\nq1 Q0 d1 1 1.0 c\n"}
    import_folder(write_folder(tmp_path / "more", files))
    assert ranks("q2") == {"d3": 1, "d1": 2}
    assert ranks("q1") == {"d1": 1, "d2": 2, "d4": 3}


def test_a_deeper_pool_takes_up_what_the_stored_runs_rank_next(tmp_path: Path) -> None:
    import_folder(help_study(tmp_path / "all", study_yaml=f"{STUDY}depth: 1\n"))
    import_folder(write_folder(tmp_path / "deeper", {"study.yaml": f"{STUDY}depth: 2\n"}))
    assert ranks("q1") == {"d1": 1, "d2": 2, "d4": 3}


def test_new_queries_join_the_open_rounds_over_the_whole_pool(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    more = {
        "queries.tsv": f"{HELP['queries.tsv']}q3\tanything new?\n",
        "runs/c.run": "q3 Q0 d1 1 1.0 c\n",
    }
    run_import(write_folder(tmp_path, more))
    assert RoundQuery.objects.filter(query__external_id="q3", annotators=2).exists()


def test_a_closed_round_takes_no_new_queries(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    Round.objects.update(closed_at="2026-01-01T00:00Z")
    more = {
        "queries.tsv": f"{HELP['queries.tsv']}q3\tanything new?\n",
        "runs/c.run": "q3 Q0 d1 1 1.0 c\n",
    }
    report = run_import(write_folder(tmp_path, more))
    assert not RoundQuery.objects.filter(query__external_id="q3").exists()
    assert any("closed" in note.text for note in report.notes)


CLOSED = '{"closed_rounds": {"main": "2026-03-01T00:00:00+00:00"}}'


def test_a_folder_that_says_a_round_is_closed_closes_the_one_that_is_there(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    report = run_import(write_folder(tmp_path, {"state.json": CLOSED}))
    assert Round.objects.get().closed_at is not None
    assert any("takes no labels any more" in note.text for note in report.notes)
    assert Action.objects.get(name="round.closed").data == {"round": "main"}
    again = run_import(tmp_path)
    assert again.new == 0
    assert Action.objects.filter(name="round.closed").count() == 1


@pytest.mark.parametrize(("told", "size"), [({"team_sizes": {"main": 5}}, 5), ({}, 1)])
def test_a_closed_round_of_a_study_that_moves_here_keeps_its_team(
    tmp_path: Path, told: dict[str, object], size: int
) -> None:
    state = json.dumps(json.loads(CLOSED) | told)
    run_import(help_study(tmp_path, state_json=state))
    assert Round.objects.get().team_size == size


def test_a_dry_run_tells_that_a_round_would_be_closed_and_leaves_it_open(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    report = run_import(write_folder(tmp_path, {"state.json": CLOSED}), dry_run=True)
    assert report.tally("rounds closed").new == 1
    assert Round.objects.get().closed_at is None


def test_a_deeper_pool_is_taken_over(tmp_path: Path) -> None:
    run_import(help_study(tmp_path, study_yaml=f"{STUDY}depth: 1\n"))
    assert ranks("q1") == {"d1": 1, "d2": 2}
    run_import(help_study(tmp_path, study_yaml=f"{STUDY}depth: 2\n"))
    assert ranks("q1") == {"d1": 1, "d2": 2, "d4": 3}
    assert Study.objects.get().depth == 2


def test_rounds_name_their_queries_and_may_ask_everybody(tmp_path: Path) -> None:
    rounds = (
        "rounds:\n  - {name: main, kind: main, annotators_per_query: 3}\n"
        "  - {name: calibration, kind: calibration, queries: [q2], annotators_per_query: all}\n"
    )
    run_import(help_study(tmp_path, study_yaml=STUDY + rounds))
    slots = RoundQuery.objects.values_list("round__name", "query__external_id", "annotators")
    assert set(slots) == {
        ("main", "q1", 3),
        ("main", "q2", 3),
        ("calibration", "q2", None),
    }


def test_people_get_accounts_without_password_and_never_lose_roles(tmp_path: Path) -> None:
    people = "people:\n  - {name: ana, roles: [annotator]}\n"
    run_import(help_study(tmp_path, study_yaml=STUDY + people))
    ana = Member.objects.get(name="ana")
    assert ana.user is not None
    assert not ana.user.has_usable_password()
    ana.roles = [Role.ANNOTATOR, Role.LEAD]
    ana.save()
    more = "people:\n  - {name: ana, roles: [adjudicator]}\n"
    run_import(help_study(tmp_path, study_yaml=STUDY + more))
    ana.refresh_from_db()
    assert set(ana.roles) == {Role.ANNOTATOR, Role.LEAD, Role.ADJUDICATOR}
    assert User.objects.count() == 1


def test_an_identity_of_the_same_name_is_linked(tmp_path: Path) -> None:
    run_import(help_study(tmp_path))
    Member.objects.create(study=Study.objects.get(), name="ana")
    people = "people:\n  - {name: ana, roles: [annotator]}\n"
    run_import(help_study(tmp_path, study_yaml=STUDY + people))
    assert Member.objects.get(name="ana").user is not None


def test_a_round_opens_when_study_yaml_says(tmp_path: Path) -> None:
    rounds = "rounds:\n  - {name: main, kind: main, opens_at: 2999-05-01T09:30+02:00}\n"
    import_study(read_study(help_study(tmp_path, study_yaml=STUDY + rounds)))
    assert Round.objects.get().opens_at == datetime(2999, 5, 1, 7, 30, tzinfo=UTC)


def test_classes_that_are_not_declared_are_created_and_reported(tmp_path: Path) -> None:
    declared = "classes:\n  - {name: procedural, high_risk: true, title: How do I}\n"
    report = run_import(help_study(tmp_path, study_yaml=STUDY + declared))
    classes = Study.objects.get().query_classes.values_list("name", "is_high_risk")
    assert list(classes) == [("procedural", True), ("factual", False)]
    assert any("factual" in note.text for note in report.notes)


def test_documents_may_be_known_by_their_id_and_described_later(tmp_path: Path) -> None:
    folder = help_study(tmp_path, study_yaml=f"{STUDY}documents: optional\n")
    (folder / "corpus.jsonl").unlink()
    run_import(folder)
    assert Document.objects.filter(body=None).count() == 4
    report = run_import(write_folder(folder, {"corpus.jsonl": corpus("d1", url="https://x.test")}))
    document = Document.objects.get(external_id="d1")
    assert (document.title, document.url) == ("Title of d1", "https://x.test")
    assert document.body.text == "Text of d1."
    assert report.tally("documents").new == 1


def test_metadata_that_is_known_has_its_place_and_the_rest_is_kept(tmp_path: Path) -> None:
    lines = corpus(
        "d1", effective_date="2025-03-01", superseded_by="d2", format="markdown", product="Pump"
    )
    run_import(help_study(tmp_path, corpus_jsonl=lines + corpus("d2", "d3", "d4")))
    document = Document.objects.get(external_id="d1")
    assert (str(document.effective_date), document.superseded_by, document.format) == (
        "2025-03-01",
        "d2",
        "markdown",
    )
    assert document.metadata == {"product": "Pump"}


def test_a_control_pair_outside_of_the_pool_has_no_rank(tmp_path: Path) -> None:
    controls = "query_id,doc_id,grade,decided_by,purpose\nq2,d1,irrelevant,recency,old\n"
    run_import(help_study(tmp_path, controls_csv=controls))
    control = ControlPair.objects.get()
    assert (control.grade, control.decided_by, control.purpose) == (0, "recency", "old")
    assert control.pair.pool_rank is None


def test_a_control_pair_that_a_run_returns_later_joins_the_pool(tmp_path: Path) -> None:
    controls = "query_id,doc_id,grade,decided_by\nq2,d1,0,recency\n"
    run_import(help_study(tmp_path, controls_csv=controls))
    run_import(write_folder(tmp_path, {"runs/c.run": "q2 Q0 d1 1 1.0 c\n"}))
    assert ranks("q2")["d1"] is not None


def png(colour: str = "red") -> bytes:
    stream = BytesIO()
    Image.new("RGB", (4, 4), colour).save(stream, "PNG")
    return stream.getvalue()


def test_an_image_is_stored_under_a_name_that_tells_nothing_of_its_id(tmp_path: Path) -> None:
    line = json.dumps({"_id": "d4", "title": "A pump"}) + "\n"
    folder = help_study(tmp_path, corpus_jsonl=corpus("d1", "d2", "d3") + line)
    report = run_import(write_folder(folder, {"images/d4.png": png()}))
    document = Document.objects.get(external_id="d4")
    assert (document.title, document.format) == ("A pump", "image")
    assert "d4" not in Path(document.body.image.name).stem.split("/")
    with default_storage.open(document.body.image.name) as stored:
        assert stored.read() == png()
    assert report.tally("documents").new == 4
    assert run_import(folder).new == 0


def test_the_import_is_logged_once(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    run_import(folder)
    run_import(folder)
    action = Action.objects.get(name="study.imported")
    assert action.data["counts"]["pairs"]["new"] == 4


def test_progress_goes_up_to_the_end(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []

    def watch(done: int, total: int, message: str) -> None:
        seen.append((done, total))

    plan = read_study(help_study(tmp_path), progress=watch)
    import_study(plan, progress=watch)
    assert seen
    assert all(0 <= done <= total for done, total in seen)


def test_documents_come_in_as_they_were_when_they_were_checked(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    plan = read_study(folder)
    write_folder(folder, {"corpus.jsonl": "no JSON at all\n"})
    assert import_study(plan).tally("documents").new == 4
    assert Document.objects.get(external_id="d3").body.text == "Text of d3."


def test_a_plan_can_be_tried_before_it_is_imported(tmp_path: Path) -> None:
    plan = read_study(help_study(tmp_path))
    import_study(plan, dry_run=True)
    assert not Document.objects.exists()
    import_study(plan)
    assert Document.objects.count() == 4


def test_an_image_that_changes_before_it_is_stored_is_refused(tmp_path: Path) -> None:
    folder = help_study(tmp_path, corpus_jsonl=corpus("d1", "d2", "d3"))
    plan = read_study(write_folder(folder, {"images/d4.png": png()}))
    write_folder(folder, {"images/d4.png": png("blue")})
    with pytest.raises(ImportRefused) as caught:
        import_study(plan)
    assert [str(p) for p in caught.value.report.refusals] == [
        "images/d4.png: the file changed while the study was imported"
    ]
    assert not Study.objects.exists()

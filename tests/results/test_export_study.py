"""A whole study as files: nothing that it is made of gets lost."""

import json
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path

import pytest
from django.core.files.base import ContentFile

from results.services.exports import describe_export, write_export
from studies.formats.controls import read_controls
from studies.formats.documents import read_corpus_jsonl
from studies.formats.folder import find_study_files
from studies.formats.pools import read_pool_csv
from studies.formats.problems import Problems
from studies.formats.queries import read_queries_jsonl
from studies.formats.rubrics import read_rubric
from studies.formats.runs import read_run
from studies.formats.study import read_study_file
from studies.models import ControlPair, DocumentText, Round, Unblinding
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import UNSURE, judge, judge_all, read_manifest

PNG = b"\x89PNG\r\n\x1a\n" + bytes(20)


@pytest.fixture
def full(cast: Cast, settings, tmp_path) -> Cast:
    """The cast's study with something of everything."""
    settings.MEDIA_ROOT = tmp_path / "media"
    image = make.make_document(cast.study, "picture", text=None, format="image", title="A map")
    body = DocumentText(document=image)
    body.image.save("picture.png", ContentFile(PNG))
    cast.pairs.append(make.make_pair(cast.pairs[0].query, image, pool_rank=7))
    ControlPair.objects.create(pair=cast.pairs[1], grade=1, decided_by="recency", purpose="=drift")
    make.make_run(cast.study, "bm25.v2", {"q1": ["q1-d2", "elsewhere", "q1-d1"]})
    machine = make.make_member(cast.study, "judge-llm", with_account=False, is_machine=True)
    make.make_rubric(cast.study, grades={0: "no", 1: "yes"})
    judge_all(cast, ana=[2, UNSURE, 0], ben=[1, 1, 1])
    judge(cast.main, cast.pairs[:1], machine, [0])
    judge(cast.main, cast.pairs[:1], cast.uma, [0], is_surplus=True)
    return cast


def export_study(cast: Cast, tmp_path: Path) -> Path:
    write_export(cast.study, "study", tmp_path / "out")
    return tmp_path / "out"


def read(reader, path: Path, **options):
    """What a reader makes of a file that it must find nothing wrong with."""
    problems = Problems()
    found = reader(BytesIO(path.read_bytes()), file=path.name, problems=problems, **options)
    found = list(found) if hasattr(found, "__next__") else found
    problems.raise_if_any()
    return found


def test_every_file_is_one_that_an_import_knows(full: Cast, tmp_path):
    folder = find_study_files(export_study(full, tmp_path))
    assert folder.notes == []
    assert [number for number, _ in folder.rubrics] == [1, 2]
    assert [path.name for path in folder.runs] == ["bm25.v2.run"]
    for name in ("study", "queries", "pool", "controls", "judgments", "final_labels", "log"):
        assert getattr(folder, name) is not None, name


def test_pool_ranks_survive_exactly(full: Cast, tmp_path):
    pool = read(read_pool_csv, export_study(full, tmp_path) / "pool.csv")
    stored = full.study.pairs.values_list(
        "query__external_id", "document__external_id", "pool_rank"
    )
    assert {(p.query_id, p.doc_id, p.pool_rank) for p in pool} == set(stored)
    assert pool[3].pool_rank == 7


def test_queries_documents_and_images_survive(full: Cast, tmp_path):
    full.study.queries.filter(external_id="q1").update(context="at work", metadata={"by": "x"})
    folder = export_study(full, tmp_path)
    first = read(read_queries_jsonl, folder / "queries.jsonl")[0]
    assert (first.query_id, first.query_class, first.context) == ("q1", "procedural", "at work")
    assert first.metadata == {"by": "x"}
    documents = {d.doc_id: d for d in read(read_corpus_jsonl, folder / "corpus.jsonl")}
    assert len(documents) == full.study.documents.count()
    assert documents["picture"].text is None
    assert documents["picture"].format == "image"
    assert (folder / "images" / "picture.png").read_bytes() == PNG


def test_an_image_missing_in_the_storage_is_told_and_the_rest_exported(full: Cast, tmp_path):
    body = DocumentText.objects.exclude(image="").get()
    body.image.storage.delete(body.image.name)
    folder = export_study(full, tmp_path)
    assert not (folder / "images").exists()
    assert read_manifest(folder)["problems"] == ["The image of picture is missing in the storage."]


def test_runs_keep_order_scores_and_documents_outside_of_the_study(full: Cast, tmp_path):
    run = read(read_run, export_study(full, tmp_path) / "runs" / "bm25.v2.run")
    assert (run.name, run.tag) == ("bm25.v2", "bm25.v2")
    assert [(h.doc_id, h.rank, h.score) for h in run.hits] == [
        ("q1-d2", 1, 1.0),
        ("elsewhere", 2, 0.5),
        ("q1-d1", 3, 1 / 3),
    ]


def test_rubrics_and_controls_survive(full: Cast, tmp_path):
    folder = export_study(full, tmp_path)
    first = read(read_rubric, folder / "rubric.yaml", version=1)
    assert [(grade.value, grade.name) for grade in first.grades] == [
        (0, "irrelevant"),
        (1, "partial"),
        (2, "answers"),
    ]
    assert first.dimensions[0].clauses[0].classes == ["procedural"]
    second = read(read_rubric, folder / "rubric-2.yaml", version=2)
    assert len(second.grades) == 2
    assert second.note == "No note was kept."
    (control,) = read(read_controls, folder / "controls.csv")
    assert (control.doc_id, control.grade, control.purpose) == ("q1-d2", 1, "=drift")


def test_settings_people_and_rounds_survive(full: Cast, tmp_path):
    full.main.round_queries.filter(query__external_id="q3").update(annotators=None)
    some = Round.objects.create(
        study=full.study, name="calibration-1", kind="calibration", rubric_version=full.rubric
    )
    some.round_queries.create(query=full.pairs[0].query, annotators=None)
    folder = export_study(full, tmp_path)
    settings = read(read_study_file, folder / "study.yaml")
    assert (settings.study, settings.title) == ("alpha", "Alpha help centre")
    assert [(p.name, p.roles) for p in settings.people][:2] == [
        ("ada", ["adjudicator"]),
        ("ana", ["annotator"]),
    ]
    rounds = {spec.name: spec for spec in settings.rounds}
    assert rounds["main"].queries is None
    assert rounds["main"].annotators_per_query == 2
    assert rounds["main"].rubric_version == 1
    assert rounds["calibration-1"].queries == ["q1"]
    assert rounds["calibration-1"].annotators_per_query == "all"
    assert json.loads((folder / "state.json").read_text())["planned"] == {"main": {"q3": "all"}}


def test_the_state_holds_what_no_other_file_has_a_place_for(full: Cast, tmp_path):
    full.main.closed_at = datetime(2026, 3, 1, tzinfo=UTC)
    full.main.save()
    make.make_claim(full.main.round_queries.first(), full.ana)
    full.ben.is_active = False
    full.ben.save()
    Unblinding.objects.create(member=full.ana, round=full.main, at=full.main.closed_at)
    state = json.loads((export_study(full, tmp_path) / "state.json").read_text())
    assert state["seed"] == "a" * 32
    assert state["closed_rounds"] == {"main": "2026-03-01T00:00:00+00:00"}
    assert state["team_sizes"] == {"main": 2}
    assert state["machines"] == ["judge-llm"]
    assert state["inactive"] == ["ben"]
    assert state["unblinded"] == [
        {"annotator": "ana", "round": "main", "at": "2026-03-01T00:00:00+00:00"}
    ]
    assert state["surplus"] == [
        {"round": "main", "query_id": "q1", "doc_id": "q1-d1", "annotator": "uma"}
    ]
    (claim,) = state["claims"]
    assert (claim["query_id"], claim["annotator"], claim["slot"]) == ("q1", "ana", 1)


def test_a_round_without_queries_is_told(full: Cast, tmp_path):
    make.make_round(full.study, "empty", position=5)
    folder = export_study(full, tmp_path)
    assert read_manifest(folder)["problems"] == ["The round empty has no query; it is left out."]


def test_the_counts_told_before_are_those_of_the_files(full: Cast, tmp_path):
    told = describe_export(full.study, "study").counts
    folder = export_study(full, tmp_path)
    assert read_manifest(folder)["counts"] == dict(told)
    assert told["judgments"] == len((folder / "judgments.csv").read_text().splitlines()) - 1 == 8
    assert told["pairs"] == len((folder / "pool.csv").read_text().splitlines()) - 1 == 10
    assert told["run_hits"] == 3

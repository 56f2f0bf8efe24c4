"""Real studies come in from the files their owners published."""

import json
import shutil
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Claim, Judgment
from studies.models import Action, Document, Pair, Query, Ranking, Round, Study
from studies.services.imports import import_study, read_study
from tests.studies.study_folders import help_study, write_folder

pytestmark = pytest.mark.django_db

THREE_GRADES = (
    "grades:\n  - {value: 0, name: no}\n  - {value: 1, name: partly}\n  - {value: 2, name: yes}\n"
)


def copy(data: Path, folder: Path, names: dict[str, str]) -> Path:
    for source, target in names.items():
        (folder / target).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(data / source, folder / target)
    return folder


def import_folder(folder: Path, *options: str) -> str:
    out = StringIO()
    call_command("import_study", str(folder), *options, stdout=out)
    return out.getvalue()


def test_kozynear_comes_in_from_its_original_files(tmp_path: Path, shared_data: Path) -> None:
    folder = write_folder(
        tmp_path,
        {
            "study.yaml": "study: kozynear\ndocuments: optional\nannotators_per_query: 3\n",
            "rubric.yaml": THREE_GRADES.replace("name: yes", "name: 'yes'").replace(
                "name: no", "name: 'no'"
            ),
        },
    )
    data = shared_data / "kozynear" / "original"
    copy(
        data,
        folder,
        {"queries.json": "queries.json", "annotation_pool.json": "pool.json"},
    )
    import_folder(folder)
    assert Query.objects.count() == 30
    assert Query.objects.filter(query_class=None).count() == 0
    pool = json.loads((data / "annotation_pool.json").read_text())
    first = Pair.objects.filter(query__external_id="q01").order_by("pool_rank")
    assert list(first.values_list("document__external_id", flat=True)) == pool["q01"]
    for name in "ABC":
        file = str(data / f"annotations_annotator_{name}.csv")
        call_command("import_judgments", "kozynear", file, annotator=name, stdout=StringIO())
    published = json.loads((shared_data / "kozynear" / "expected.json").read_text())["stats"]
    for name, shares in published["label_distribution_per_annotator"].items():
        own = Judgment.objects.filter(annotator__name=name)
        assert {str(g): own.filter(grade=g).count() for g in (0, 1, 2)} == shares
    assert Claim.objects.filter(state="finished").count() == 90


def test_acordar_pools_two_runs_and_takes_the_third_later(
    tmp_path: Path, shared_data: Path
) -> None:
    folder = write_folder(tmp_path, {"study.yaml": "study: acordar\ndocuments: optional\n"})
    data = shared_data / "acordar"
    names = {"all_queries.txt": "queries.tsv"}
    names |= {f"runs/{run}.txt": f"runs/{run}.txt" for run in ("BM25F", "FSDM")}
    import_folder(copy(data, folder, names))
    assert Pair.objects.count() == 3891
    before = dict(Pair.objects.values_list("pk", "pool_rank"))
    import_folder(copy(data, folder, {"runs/FSDM [d].txt": "runs/FSDM [d].txt"}))
    assert dict(Pair.objects.filter(pk__in=before).values_list("pk", "pool_rank")) == before
    assert Pair.objects.count() > 3891
    assert Study.objects.get().runs.get(name="FSDM [d]").tag == "FSDM [d]"
    assert "unchanged" in import_folder(folder)


def test_icecat_comes_in_with_titles_brands_and_three_runs(
    tmp_path: Path, shared_data: Path
) -> None:
    runs = ("no-vector", "with-vector", "vector-2")
    names = {"docs.jsonl": "corpus.jsonl", "queries.tsv": "queries.tsv"}
    names |= {f"{run}.run": f"runs/{run}.run" for run in runs}
    folder = copy(shared_data / "icecat", tmp_path, names)
    # Some pooled products are missing in its documents: they are known by their id only.
    write_folder(folder, {"study.yaml": "study: icecat\ndocuments: optional\n"})
    import_folder(folder)
    assert Query.objects.count() == 137
    assert Document.objects.exclude(title="").count() == 1558
    assert Document.objects.get(external_id="47471").metadata["brand"] == "HP"
    doubles = Ranking.objects.get(run__name="with-vector", query__external_id="q002").document_ids
    assert len(doubles) == len(set(doubles))
    write_folder(folder, {"study.yaml": "study: icecat-2\n"})
    with pytest.raises(CommandError, match="is pooled and not in the folder"):
        import_folder(folder)
    assert not Study.objects.filter(slug="icecat-2").exists()


def test_labels_in_the_folder_come_in_with_it_or_nothing_does(tmp_path: Path) -> None:
    labels = "query_id,doc_id,relevance,annotator\nq1,d1,2,cara\n"
    folder = help_study(tmp_path, judgments_csv=labels + "q1,d9,2,cara\n")
    with pytest.raises(CommandError, match=r"judgments.csv:3: the pair q1 d9 is not in the pool"):
        import_folder(folder)
    assert not Study.objects.exists()
    import_folder(help_study(tmp_path, judgments_csv=labels))
    assert Judgment.objects.count() == 1
    assert "unchanged" in import_folder(folder)


def test_the_state_of_a_study_moves_with_it(tmp_path: Path) -> None:
    state = {
        "seed": "c" * 32,
        "claim_minutes": 30,
        "closed_rounds": {"main": "2026-01-02T03:04:05+00:00"},
        "machines": ["bot"],
        "inactive": ["cara"],
        "planned": {"main": {"q1": "all"}},
        "surplus": [
            {"round": "main", "query_id": "q1", "doc_id": "d1", "annotator": "cara"},
        ],
        "claims": [
            {
                "round": "main",
                "query_id": "q1",
                "annotator": "cara",
                "state": "lapsed",
                "slot": None,
                "claimed_at": "2026-01-01T00:00:00+00:00",
                "expires_at": "2026-01-01T04:00:00+00:00",
            }
        ],
    }
    log = {"at": "2026-01-01T01:00:00+00:00", "name": "judgment.recorded", "member": "cara"}
    files = {
        "state.json": json.dumps(state),
        "log.jsonl": json.dumps({**log, "data": {"grade": 2}}) + "\n",
        "judgments.csv": "query_id,doc_id,relevance,annotator,source,decided_by\n"
        "q1,d1,2,cara,app,recency\nq1,d1,1,bot,import,\n",
    }
    folder = write_folder(help_study(tmp_path), files)
    import_folder(folder)
    study = Study.objects.get()
    assert (study.seed, study.claim_minutes) == ("c" * 32, 30)
    main = Round.objects.get()
    assert main.closed_at is not None
    assert main.round_queries.get(query__external_id="q1").annotators is None
    label = Judgment.objects.get(annotator__name="cara")
    assert (label.source, label.is_surplus, label.annotator.is_active) == ("app", True, False)
    assert Judgment.objects.get(annotator__name="bot").annotator.is_machine
    assert Claim.objects.get().state == "lapsed"
    actions = [action.name for action in Action.objects.order_by("id")]
    assert actions[0] == "judgment.recorded"
    assert "judgment.imported" not in actions
    assert "unchanged" in import_folder(folder)


def test_state_that_contradicts_the_study_is_refused(tmp_path: Path) -> None:
    claim = {
        "round": "main",
        "query_id": "q1",
        "annotator": "nobody",
        "state": "held",
        "slot": 1,
        "claimed_at": "2026-01-01T00:00:00Z",
        "expires_at": "2026-01-01T00:00:00Z",
    }
    folder = help_study(tmp_path, state_json=json.dumps({"claims": [claim]}))
    with pytest.raises(
        CommandError, match=r"state.json: claims that name what the study has not: 1"
    ):
        import_folder(folder)
    write_folder(folder, {"state.json": json.dumps({"claims": [{"state": "lost"}]})})
    with pytest.raises(CommandError, match=r"state.json: a claim is 'lost'"):
        import_folder(folder)


def test_a_folder_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="is not a folder") as caught:
        import_folder(tmp_path / "none")
    assert caught.value.returncode == 1


def test_the_studies_service_alone_imports_without_labels(tmp_path: Path) -> None:
    labels = "query_id,doc_id,relevance,annotator\nq1,d1,2,cara\n"
    import_study(read_study(help_study(tmp_path, judgments_csv=labels)))
    assert not Judgment.objects.exists()

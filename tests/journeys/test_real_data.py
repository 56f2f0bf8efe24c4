"""The way through the product on real data, by the commands that a team would type."""

import csv
import json
import shutil
from io import StringIO
from pathlib import Path
from typing import Any

import ir_measures
import pytest
from django.core.management import call_command
from ir_measures import P, nDCG

from annotation.models import Judgment
from studies.models import Member, Pair, Ranking, Study

KOZYNEAR_STUDY = """\
study: kozynear
annotators_per_query: 3
documents: optional
"""
KOZYNEAR_RUBRIC = """\
grades:
  - {value: 0, name: none, definition: Meets no main constraint., relevant: false}
  - {value: 1, name: some, definition: Meets part of the constraints.}
  - {value: 2, name: all, definition: Meets all or nearly all constraints.}
dimensions:
  fit:
    test: The listing meets the constraints that the query names.
"""


def run_command(*arguments: str) -> str:
    out = StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def import_kozynear(data: Path, folder: Path) -> None:
    original = data / "kozynear" / "original"
    (folder / "study.yaml").write_text(KOZYNEAR_STUDY)
    (folder / "rubric.yaml").write_text(KOZYNEAR_RUBRIC)
    shutil.copy(original / "queries.json", folder / "queries.json")
    shutil.copy(original / "annotation_pool.json", folder / "pool.json")
    run_command("import_study", str(folder))
    for name in "ABC":
        file = original / f"annotations_annotator_{name}.csv"
        run_command("import_judgments", "kozynear", str(file), "--annotator", name)


@pytest.fixture
def kozynear(db: None, shared_data: Path, tmp_path: Path) -> Path:
    import_kozynear(shared_data, tmp_path)
    return shared_data / "kozynear"


def test_kozynear_gives_the_published_agreement(kozynear: Path) -> None:
    expected = json.loads((kozynear / "expected.json").read_text())["stats"]
    report = json.loads(run_command("agreement", "kozynear", "--format", "json"))

    assert report["pairs"] == report["pairs_labelled_twice"] == 900
    assert report["judgments"] == 2700
    assert report["queries"] == report["queries_fully_judged"] == 30
    assert report["labels"] == expected["label_distribution_overall"]
    found = {(row["a"], row["b"]): row for row in report["cohen_kappa"]}
    assert len(found) == 3
    for row in expected["pairwise"]:
        kappa = found[row["a"], row["b"]]
        assert kappa["pairs"] == 900
        assert kappa["observed"] == pytest.approx(row["agreement"], abs=1e-6)
        assert kappa["nominal"] == pytest.approx(row["kappa"], abs=1e-6)
        assert kappa["linear"] == pytest.approx(row["kappa_linear"], abs=1e-6)
        assert kappa["quadratic"] == pytest.approx(row["kappa_quadratic"], abs=1e-6)
        assert kappa["confusion"] == row["confusion_rows_a_cols_b"]
        low, high = kappa["interval95"]
        assert low < kappa["nominal"] < high
    for level, value in expected["alpha"].items():
        assert report["krippendorff_alpha"][level]["value"] == pytest.approx(value, abs=1e-6)
    assert report["raw_agreement"]["value"] == pytest.approx(
        expected["raw_agreement_pairwise_pooled"], abs=1e-6
    )


def test_kozynear_gives_the_published_splits_by_class(kozynear: Path) -> None:
    expected = json.loads((kozynear / "expected.json").read_text())["stats"]["per_class"]
    report = json.loads(run_command("agreement", "kozynear", "--format", "json"))
    found = {row["class"]: row for row in report["classes"]}
    assert set(found) == set(expected)
    for name, row in expected.items():
        assert found[name]["pairs"] == row["n_pairs"]
        assert found[name]["splits"] == row["n_split"]
        assert found[name]["rate"] == pytest.approx(row["split_rate"], abs=1e-6)
        assert found[name]["rest_pairs"] == 900 - row["n_pairs"]


def test_kozynear_shows_leniency_and_no_hole_in_class_any(kozynear: Path) -> None:
    report = json.loads(run_command("agreement", "kozynear", "--format", "json"))
    any_class = next(row for row in report["classes"] if row["class"] == "any")
    assert (any_class["splits"], any_class["pairs"]) == (91, 270)
    assert any_class["fisher_p"] < 0.001
    assert any_class["verdict"] == "noise"
    assert report["study_verdict"] != "hole"
    found = {(row["a"], row["b"]): row for row in report["leniency"]}
    assert (found["A", "B"]["a_higher"], found["A", "B"]["b_higher"]) == (0, 156)
    assert found["A", "B"]["lenient"] == "B"


def test_demo_has_a_hole_in_its_procedural_class_and_slips_where_it_is_harder(
    db: None, settings: Any, tmp_path: Path
) -> None:
    settings.VAR_DIR = tmp_path
    run_command("demo")
    report = json.loads(run_command("agreement", "demo", "--format", "json"))
    verdicts = {row["class"]: row["verdict"] for row in report["classes"]}
    assert verdicts == {"procedural": "hole", "policy": "slips", "factual": "noise"}
    assert report["study_verdict"] == "hole"


def test_kozynear_ground_truth_is_reproduced(kozynear: Path, tmp_path: Path) -> None:
    target = tmp_path / "ours.csv"
    run_command("export", "kozynear", "ground-truth", "-o", str(target))
    published = read_rows(kozynear / "original" / "ground_truth.csv")
    assert len(published) == 900
    assert sorted(read_rows(target)) == sorted(published)
    manifest = json.loads((tmp_path / "ours.csv.manifest.json").read_text())
    assert manifest["withheld"] == []


def test_kozynear_imported_again_changes_nothing(
    kozynear: Path, shared_data: Path, tmp_path: Path
) -> None:
    before = Judgment.objects.count()
    import_kozynear(shared_data, tmp_path)
    assert Judgment.objects.count() == before == 2700
    assert set(Member.objects.values_list("name", "user")) == {
        ("A", None),
        ("B", None),
        ("C", None),
    }


def read_rows(path: Path) -> list[tuple[str, ...]]:
    with path.open(newline="") as lines:
        return [tuple(row) for row in list(csv.reader(lines))[1:]]


def import_acordar(data: Path, folder: Path, runs: list[str]) -> Study:
    source = data / "acordar"
    (folder / "study.yaml").write_text("study: acordar\ndepth: 5\ndocuments: optional\n")
    shutil.copy(source / "all_queries.txt", folder / "queries.tsv")
    (folder / "runs").mkdir(exist_ok=True)
    for run in runs:
        shutil.copy(source / "runs" / f"{run}.txt", folder / "runs" / f"{run}.txt")
    run_command("import_study", str(folder))
    return Study.objects.get(slug="acordar")


def test_acordar_pools_two_runs_to_depth_five(db: None, shared_data: Path, tmp_path: Path) -> None:
    study = import_acordar(shared_data, tmp_path, ["BM25F", "FSDM"])
    assert study.pairs.count() == 3891
    assert study.queries.count() == 493


def test_acordar_takes_a_run_whose_tag_holds_a_blank_and_grows(
    db: None, shared_data: Path, tmp_path: Path
) -> None:
    study = import_acordar(shared_data, tmp_path, ["BM25F", "FSDM"])
    ranks = dict(study.pairs.values_list("pk", "pool_rank"))
    import_acordar(shared_data, tmp_path, ["FSDM [d]"])
    assert study.runs.get(name="FSDM [d]").tag == "FSDM [d]"
    assert study.pairs.count() > 3891
    assert ranks == dict(study.pairs.filter(pk__in=ranks).values_list("pk", "pool_rank"))
    assert Ranking.objects.filter(run__name="FSDM [d]").exists()


def import_icecat(data: Path, folder: Path) -> Study:
    source = data / "icecat"
    (folder / "study.yaml").write_text("study: icecat\ndepth: 5\ndocuments: optional\n")
    shutil.copy(source / "docs.jsonl", folder / "corpus.jsonl")
    shutil.copy(source / "queries.tsv", folder / "queries.tsv")
    (folder / "runs").mkdir()
    for run in source.glob("*.run"):
        shutil.copy(run, folder / "runs" / run.name)
    run_command("import_study", str(folder))
    return Study.objects.get(slug="icecat")


def test_icecat_imports_with_titles_and_contexts(
    db: None, shared_data: Path, tmp_path: Path
) -> None:
    study = import_icecat(shared_data, tmp_path)
    assert study.queries.count() == 137
    assert study.runs.count() == 3
    query = study.queries.get(external_id="q001")
    assert query.text == "projector screen"
    assert query.context.startswith("I am looking for a screen")
    document = study.documents.get(external_id="325961")
    assert document.title.startswith("Projecta ProScreen")
    assert document.metadata["brand"] == "Projecta"


def score(qrels: str, run: str) -> dict[str, float]:
    measured: dict[Any, float] = ir_measures.calc_aggregate(
        [nDCG @ 5, P @ 5],
        list(ir_measures.read_trec_qrels(qrels)),
        list(ir_measures.read_trec_run(run)),
    )
    return {str(measure): value for measure, value in measured.items()}


def test_demo_qrels_score_the_demo_runs(db: None, tmp_path: Path, settings: Any) -> None:
    settings.VAR_DIR = tmp_path
    run_command("demo")
    target = tmp_path / "demo.qrels"
    run_command("export", "demo", "consensus-qrels", "-o", str(target))
    lines = [line.split(" ") for line in target.read_text().splitlines()]
    assert lines
    assert all(len(line) == 4 and line[1] == "0" for line in lines)
    folder = settings.BASE_DIR / "studies" / "demo" / "study" / "runs"
    scores = {path.stem: score(str(target), str(path)) for path in folder.glob("*.run")}
    assert set(scores) == {"bm25", "ngram"}
    assert all(0 < value <= 1 for one in scores.values() for value in one.values())
    queries = {line[0] for line in lines}
    manifest = json.loads((tmp_path / "demo.qrels.manifest.json").read_text())
    withheld = {row["query_id"] for row in manifest["withheld"]}
    assert queries.isdisjoint(withheld)
    study = Study.objects.get(slug="demo")
    assert queries | withheld == set(study.queries.values_list("external_id", flat=True))
    assert len(lines) <= Pair.objects.filter(study=study).count()

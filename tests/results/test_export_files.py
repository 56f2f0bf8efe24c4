"""Writing exports: complete or not at all; and the command."""

import json
import os
import subprocess
import sys
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from results.services.exports import ExportRefused, write_export
from studies.models import Action
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import judge_all, read_manifest, sha256


@pytest.fixture
def judged(cast: Cast) -> Cast:
    judge_all(cast, ana=[1, 1, 0, 0], ben=[1, 1, 0, 1])
    return cast


def names(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def spoil(cast: Cast) -> None:
    """An id that no import lets in and no qrels can carry, in a query that is exported."""
    document = cast.pairs[2].document
    document.external_id = "two words"
    document.save()


def test_the_manifest_is_named_after_the_whole_output(judged: Cast, tmp_path):
    write_export(judged.study, "consensus-qrels", tmp_path / "v1.final.qrels")
    assert names(tmp_path) == {"v1.final.qrels", "v1.final.qrels.manifest.json"}


def test_a_failed_export_leaves_nothing(judged: Cast, tmp_path):
    spoil(judged)
    for kind, name in [("consensus-qrels", "a.qrels"), ("beir", "a.zip"), ("beir", "folder")]:
        with pytest.raises(ExportRefused, match=r"two words.*white space"):
            write_export(judged.study, kind, tmp_path / name)
    assert list(tmp_path.iterdir()) == []
    assert not Action.objects.exists()


def test_a_failed_export_leaves_the_earlier_one(judged: Cast, tmp_path):
    path = tmp_path / "a.qrels"
    write_export(judged.study, "consensus-qrels", path)
    before = path.read_bytes(), read_manifest(path)
    spoil(judged)
    with pytest.raises(ExportRefused):
        write_export(judged.study, "consensus-qrels", path)
    assert (path.read_bytes(), read_manifest(path)) == before


def test_beir_is_a_folder_unless_the_name_ends_in_zip(judged: Cast, tmp_path):
    write_export(judged.study, "beir", tmp_path / "folder")
    write_export(judged.study, "beir", tmp_path / "beir.zip")
    files = {"corpus.jsonl", "queries.jsonl", "qrels/test.tsv"}
    assert names(tmp_path / "folder") == files
    with zipfile.ZipFile(tmp_path / "beir.zip") as archive:
        assert set(archive.namelist()) == files
        for name in files:
            assert archive.read(name) == (tmp_path / "folder" / name).read_bytes()
    assert read_manifest(tmp_path / "beir.zip")["sha256"] == sha256(tmp_path / "beir.zip")


def test_the_manifest_of_a_folder_holds_the_checksum_of_each_file(judged: Cast, tmp_path):
    write_export(judged.study, "beir", tmp_path / "folder")
    told = read_manifest(tmp_path / "folder")
    assert {file["name"]: file["sha256"] for file in told["files"]} == {
        name: sha256(tmp_path / "folder" / name) for name in names(tmp_path / "folder")
    }
    assert told["bytes"] == sum(file["bytes"] for file in told["files"])


def test_a_folder_that_holds_something_is_never_written_over(judged: Cast, tmp_path):
    (tmp_path / "mine").mkdir()
    write_export(judged.study, "beir", tmp_path / "mine")
    with pytest.raises(ExportRefused, match="exists already"):
        write_export(judged.study, "beir", tmp_path / "mine")


def test_a_missing_parent_folder_is_refused(judged: Cast, tmp_path):
    with pytest.raises(ExportRefused, match="does not exist"):
        write_export(judged.study, "consensus-qrels", tmp_path / "none" / "a.qrels")


def run_export(*arguments: str) -> str:
    out = StringIO()
    call_command("export", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_prints_counts_what_is_withheld_and_the_manifest(judged: Cast, tmp_path):
    path = tmp_path / "a.qrels"
    printed = run_export("alpha", "consensus-qrels", "-o", str(path))
    assert f"{path}: 3 lines" in printed
    assert "queries exported: 1" in printed
    assert "withheld q2: Outcomes missing: 4 of 6, on 2 pairs. Tied votes on 1 pair." in printed
    assert printed.endswith(f"manifest: {path}.manifest.json\n")
    assert path.read_text() == "q1 0 q1-d1 1\nq1 0 q1-d2 1\nq1 0 q1-d3 0\n"


def test_the_command_says_in_one_line_that_the_gate_is_red(judged: Cast, tmp_path):
    told = {}
    for kind in ("consensus-qrels", "judgments"):
        err = StringIO()
        call_command(
            "export", "alpha", kind, "-o", str(tmp_path / kind), stdout=StringIO(), stderr=err
        )
        told[kind] = err.getvalue()
    assert told["judgments"] == ""
    assert told["consensus-qrels"].startswith("The release gate is red (")
    assert told["consensus-qrels"].count("\n") == 1


def test_an_archive_has_no_lines_and_its_texts_do(judged: Cast, tmp_path):
    printed = run_export("alpha", "beir", "-o", str(tmp_path / "b.zip"))
    assert "b.zip: 3 files" in printed
    told = read_manifest(tmp_path / "b.zip")
    assert told["lines"] is None
    assert all(file["lines"] for file in told["files"])


def test_the_command_writes_one_annotators_qrels_and_triplets(judged: Cast, tmp_path):
    run_export("alpha", "annotator-qrels", "--annotator", "ana", "-o", str(tmp_path / "ana.qrels"))
    assert len((tmp_path / "ana.qrels").read_text().splitlines()) == 3
    run_export("alpha", "training-pairs", "--with-texts", "-o", str(tmp_path / "t.jsonl"))
    lines = (tmp_path / "t.jsonl").read_text().splitlines()
    assert [list(json.loads(line)) for line in lines] == [["query", "positive", "negative"]] * 2


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["nowhere", "consensus-qrels"], 1),
        (["alpha", "annotator-qrels", "--annotator", "zoe"], 1),
        (["alpha", "annotator-qrels"], 2),
        (["alpha", "consensus-qrels", "--annotator", "ana"], 2),
        (["alpha", "consensus-qrels", "--with-texts"], 2),
    ],
)
def test_the_command_tells_a_refusal_from_wrong_usage(judged: Cast, tmp_path, arguments, status):
    with pytest.raises(CommandError) as refused:
        run_export(*arguments, "-o", str(tmp_path / "out"))
    assert refused.value.returncode == status
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("arguments", [["alpha", "nonsense", "-o", "x"], ["alpha", "beir"]])
def test_an_unknown_kind_or_a_missing_path_ends_with_status_2(arguments):
    ended = subprocess.run(
        [sys.executable, "manage.py", "export", *arguments], capture_output=True, text=True
    )
    assert ended.returncode == 2
    assert "usage:" in ended.stderr


def test_a_written_file_can_be_read_like_any_other(judged: Cast, tmp_path):
    path = tmp_path / "a.qrels"
    write_export(judged.study, "consensus-qrels", path)
    plain = tmp_path / "plain"
    plain.write_text("")
    assert path.stat().st_mode == plain.stat().st_mode


def test_an_empty_export_is_written_and_its_manifest_says_why(cast: Cast, tmp_path):
    write_export(cast.study, "consensus-qrels", tmp_path / "a.qrels")
    told = read_manifest(tmp_path / "a.qrels")
    assert told["lines"] == 0
    assert [query["reason"] for query in told["withheld"]] == ["incomplete"] * 3


def test_queries_without_a_pair_are_no_part_of_the_counts(cast: Cast, tmp_path):
    make.make_query(cast.study, "q9")
    manifest = write_export(cast.study, "consensus-qrels", tmp_path / "a.qrels")
    assert manifest.counts["queries"] == 3


@pytest.mark.parametrize("name", ["a.qrels", "a.qrels.manifest.json"])
@pytest.mark.parametrize("kind", ["link", "link to nothing", "pipe", "folder"])
def test_nothing_but_an_ordinary_file_is_replaced(judged: Cast, tmp_path, name: str, kind: str):
    place = tmp_path / name
    target = tmp_path / "elsewhere"
    if kind == "pipe":
        os.mkfifo(place)
    elif kind == "folder":
        place.mkdir()
    else:
        place.symlink_to(target)
        if kind == "link":
            target.write_text("kept")
    before = {path: os.lstat(path).st_ino for path in tmp_path.iterdir()}
    with pytest.raises(CommandError, match=f"{name} is a ") as refused:
        call_command("export", "alpha", "consensus-qrels", "-o", str(tmp_path / "a.qrels"))
    assert refused.value.returncode == 1
    assert {path: os.lstat(path).st_ino for path in tmp_path.iterdir()} == before
    assert not Action.objects.filter(name="export.made").exists()


def test_standard_output_is_refused_and_stays(judged: Cast):
    before = os.lstat("/dev/stdout")
    with pytest.raises(CommandError, match=r"/dev/stdout.* is a link"):
        call_command("export", "alpha", "consensus-qrels", "-o", "/dev/stdout")
    assert os.lstat("/dev/stdout") == before


@pytest.mark.parametrize("kind", ["consensus-qrels", "beir"])
def test_a_path_without_a_name_is_refused(judged: Cast, tmp_path, monkeypatch, kind: str):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CommandError, match="name a new one"):
        call_command("export", "alpha", kind, "-o", ".")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_not_written_through_a_link(judged: Cast, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(ExportRefused, match="exists already"):
        write_export(judged.study, "beir", tmp_path / "link")
    assert names(tmp_path) == set()


@pytest.mark.parametrize("failing", ["a.qrels", "a.qrels.manifest.json"])
@pytest.mark.parametrize("is_second", [False, True])
def test_export_and_manifest_are_put_in_place_both_or_neither(
    judged: Cast, tmp_path, monkeypatch, failing: str, is_second: bool
):
    path = tmp_path / "a.qrels"
    if is_second:
        write_export(judged.study, "consensus-qrels", path)
    before = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    logged = Action.objects.filter(name="export.made").count()
    replace = os.replace

    def refuse(source, target):
        if Path(target).name == failing and Path(source).suffix == ".part":
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(CommandError, match="Nothing was written"):
        call_command("export", "alpha", "consensus-qrels", "-o", str(path))
    assert {file.name: file.read_bytes() for file in tmp_path.iterdir()} == before
    assert Action.objects.filter(name="export.made").count() == logged

"""What cannot come in is refused with its file, line and reason, and nothing is written."""

import shutil
from pathlib import Path

import pytest

from results.services.imports import import_folder
from studies.models import Document, Pair, Query, Study
from studies.services.imports import ImportRefused, ImportReport, import_study, read_study
from tests.studies.study_folders import (
    QUERIES,
    RUN_A,
    STUDY,
    corpus,
    help_study,
    write_folder,
)

pytestmark = pytest.mark.django_db


def refused(folder: Path) -> ImportReport:
    with pytest.raises(ImportRefused) as caught:
        import_study(read_study(folder))
    return caught.value.report


def reasons(folder: Path) -> list[str]:
    return [str(problem) for problem in refused(folder).refusals]


def test_problems_of_several_files_are_listed_together(tmp_path: Path) -> None:
    folder = help_study(
        tmp_path,
        queries_tsv=f"{QUERIES}q 3\tblank in the id\n",
        runs__a_run="q1 Q0 d1 1 high a\n",
    )
    found = reasons(folder)
    assert any(text.startswith("queries.tsv:3:") for text in found)
    assert any(text.startswith("runs/a.run:1:") for text in found)
    assert not Study.objects.exists()


def test_bad_settings_hide_nothing_that_is_wrong_elsewhere(tmp_path: Path) -> None:
    folder = help_study(
        tmp_path,
        study_yaml=f"{STUDY}depth: 0\n",
        queries_tsv=f"{QUERIES}q 3\tblank in the id\n",
        runs__a_run="q1 Q0 d1 1 high a\n",
    )
    assert [text.split(":")[0] for text in reasons(folder)] == [
        "study.yaml",
        "queries.tsv",
        "runs/a.run",
    ]


def test_a_refused_record_hides_nothing_that_is_absent(tmp_path: Path) -> None:
    folder = help_study(
        tmp_path,
        queries_tsv=f"{QUERIES}q 3\tblank in the id\n",
        runs__a_run=f"{RUN_A}q9 Q0 d1 1 1.0 a\nq2 Q0 d9 2 0.5 a\n",
    )
    with pytest.raises(ImportRefused) as caught:
        import_folder(folder)
    found = [str(problem) for problem in caught.value.report.refusals]
    assert len(found) == 3
    assert found[1] == "runs/a.run:4: the query q9 is unknown"
    assert found[2].startswith("runs/a.run:5: the document d9 is pooled and not in the folder")


def test_a_refused_record_hides_nothing_that_a_study_of_before_lacks_too(tmp_path: Path) -> None:
    import_folder(help_study(tmp_path / "first"))
    folder = help_study(
        tmp_path / "second",
        queries_tsv="q 3\tblank in the id\n",
        corpus_jsonl=corpus("d1"),
        runs__a_run=f"{RUN_A}q9 Q0 d1 1 1.0 a\nq2 Q0 d9 2 0.5 a\n",
    )
    with pytest.raises(ImportRefused) as caught:
        import_folder(folder)
    found = [str(problem) for problem in caught.value.report.refusals]
    assert len(found) == 3
    assert found[1] == "runs/a.run:4: the query q9 is unknown"
    assert found[2].startswith("runs/a.run:5: the document d9 is pooled and not in the folder")


def test_a_folder_without_study_yaml_is_refused(tmp_path: Path) -> None:
    (help_study(tmp_path) / "study.yaml").unlink()
    assert reasons(tmp_path) == ["study.yaml: the folder has none; it names the study"]


@pytest.mark.parametrize(
    ("file", "content", "expected"),
    [
        ("runs/a.run", f"{RUN_A}q9 Q0 d1 1 1.0 a\n", "runs/a.run:4: the query q9 is unknown"),
        (
            "runs/a.run",
            f"{RUN_A}q2 Q0 d9 2 0.5 a\n",
            "runs/a.run:4: the document d9 is pooled and not in the folder",
        ),
        (
            "controls.csv",
            "query_id,doc_id,grade,decided_by\nq1,d1,7,recency\n",
            "controls.csv:2: 7 is no grade of rubric 1",
        ),
        (
            "controls.csv",
            "query_id,doc_id,grade,decided_by\nq1,d1,1,taste\n",
            "controls.csv:2: 'taste' is no dimension of rubric 1",
        ),
        (
            "controls.csv",
            "query_id,doc_id,grade,decided_by\nq8,d1,1,recency\n",
            "controls.csv:2: the query q8 is unknown",
        ),
        (
            "study.yaml",
            f"{STUDY}rounds:\n  - {{name: main, kind: main, rubric_version: 2}}\n",
            "study.yaml: the round main names rubric 2, which is missing",
        ),
        (
            "study.yaml",
            f"{STUDY}rounds:\n  - {{name: main, kind: main, queries: [q7]}}\n",
            "study.yaml: the query q7 is unknown",
        ),
        (
            "study.yaml",
            f"{STUDY}people:\n  - {{name: 'a b', roles: [lead]}}\n",
            "study.yaml: people: 'a b' cannot be the name of an account",
        ),
        (
            "study.yaml",
            f"{STUDY}classes:\n  - {{name: {'c' * 81}}}\n",
            "study.yaml: the class",
        ),
        ("images/d9.png", b"\x89PNG\r\n\x1a\nand no more", "images/d9.png: the image cannot"),
        ("documents/d1.txt", "Another text.", "corpus.jsonl:1: the document d1 has a text here"),
    ],
)
def test_what_does_not_fit_together_is_refused_where_it_stands(
    tmp_path: Path, file: str, content: str | bytes, expected: str
) -> None:
    folder = write_folder(help_study(tmp_path), {file: content})
    assert any(text.startswith(expected) for text in reasons(folder))
    assert not Study.objects.exists()


def test_all_conflicts_with_the_study_are_listed_and_nothing_is_written(tmp_path: Path) -> None:
    import_study(read_study(help_study(tmp_path)))
    folder = help_study(
        tmp_path,
        queries_tsv="q1\tanother text\tprocedural\nq2\twhat does it cost?\tother\nq3\tnew\n",
        corpus_jsonl=corpus("d1", "d5") + corpus("d2", colour="red"),
    )
    report = refused(folder)
    assert [str(problem) for problem in report.refusals] == [
        "queries.tsv:1: the query q1 has another text in the study",
        "queries.tsv:2: the query q2 has another class in the study",
        "corpus.jsonl:3: the document d2 has another metadata in the study",
    ]
    assert report.tally("queries").conflicting == 2
    assert report.tally("documents").conflicting == 1
    assert not Query.objects.filter(external_id="q3").exists()
    assert not Document.objects.filter(external_id="d5").exists()


def test_a_text_that_is_gone_is_a_conflict_too(tmp_path: Path) -> None:
    import_study(read_study(help_study(tmp_path)))
    line = '{"_id": "d1", "title": "Title of d1"}\n'
    folder = help_study(tmp_path, corpus_jsonl=line + corpus("d2", "d3", "d4"))
    assert reasons(folder) == ["corpus.jsonl:1: the document d1 has another text in the study"]


@pytest.mark.parametrize(
    ("run", "line", "count"),
    [
        ("q1 Q0 d2 1 3.0 a\nq1 Q0 d1 2 2.0 a\n", 1, 2),
        ("q1 Q0 d1 1 3.0 a\nq1 Q0 d2 2 2.5 a\nq1 Q0 d3 3 1.0 a\n", 2, 1),
        # The last of them stands where the study's ranking has nothing yet.
        ("q1 Q0 d2 1 3.0 a\nq1 Q0 d4 2 2.0 a\nq1 Q0 d1 3 1.0 a\n", 1, 3),
    ],
)
def test_a_run_of_the_same_name_cannot_rank_otherwise(
    tmp_path: Path, run: str, line: int, count: int
) -> None:
    import_study(read_study(help_study(tmp_path)))
    with pytest.raises(ImportRefused) as refused:
        import_study(read_study(help_study(tmp_path, runs__a_run=run)))
    report = refused.value.report
    (found,) = map(str, report.refusals)
    told = f"the study's run of this name ranks {count} of the hits for the query q1 otherwise"
    assert found.startswith(f"runs/a.run:{line}: {told}")
    assert report.counts()["run hits"]["conflicting"] == count
    assert report.counts()["run hits"]["new"] == run.count("d3")


def test_a_run_may_grow_at_its_end(tmp_path: Path) -> None:
    import_study(read_study(help_study(tmp_path)))
    folder = help_study(tmp_path, runs__a_run=f"{RUN_A}q1 Q0 d3 3 1.0 a\n")
    report = import_study(read_study(folder))
    assert report.tally("run hits").new == 1
    assert Pair.objects.filter(query__external_id="q1", document__external_id="d3").exists()


def test_a_published_rubric_cannot_be_changed_by_its_file(tmp_path: Path) -> None:
    rubric = "dimensions:\n  topic: {test: Is it on topic?}\n"
    import_study(read_study(help_study(tmp_path, rubric_yaml=rubric)))
    folder = help_study(tmp_path, rubric_yaml=rubric.replace("on topic", "about it"))
    (found,) = reasons(folder)
    assert found.startswith("rubric.yaml: version 1 is published and says otherwise")
    assert "rubric-2.yaml" in found


def test_a_round_keeps_its_kind(tmp_path: Path) -> None:
    import_study(read_study(help_study(tmp_path)))
    rounds = "rounds:\n  - {name: main, kind: calibration}\n"
    folder = help_study(tmp_path, study_yaml=STUDY + rounds)
    assert reasons(folder) == ["study.yaml: the round main is of the kind main in the study"]


def test_settings_that_differ_are_kept_and_told(tmp_path: Path) -> None:
    import_study(read_study(help_study(tmp_path)))
    folder = help_study(tmp_path, study_yaml="study: help\ntitle: Another title\n")
    report = import_study(read_study(folder))
    assert Study.objects.get().title == "Help centre"
    assert any("title is 'Help centre'" in note.text for note in report.notes)


def test_two_corpora_may_not_hold_the_same_document(tmp_path: Path) -> None:
    folder = help_study(tmp_path, corpus_csv="doc_id,title,text\nd1,x,y\n")
    assert any(text.startswith("corpus.csv:2: the document d1") for text in reasons(folder))


@pytest.mark.parametrize(
    "name",
    [
        "study.yaml", "rubric.yaml", "queries.tsv", "corpus.jsonl", "controls.csv",
        "judgments.csv", "final_labels.csv", "runs", "runs/c.run", "runs/notes", "documents",
        "documents/d9.txt", "images", "images/d9.png",
    ],
)  # fmt: skip
@pytest.mark.parametrize("target", ["there", "nothing", "itself"])
def test_a_link_that_leads_out_of_the_folder_is_refused_by_name(
    tmp_path: Path, name: str, target: str
) -> None:
    folder = help_study(tmp_path / "help")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("not for anybody")
    place = folder / name
    if place.is_dir():
        shutil.rmtree(place)
    place.unlink(missing_ok=True)
    place.parent.mkdir(exist_ok=True)
    where = {"there": outside / "secret", "nothing": outside / "none", "itself": place}
    if target == "there" and "/" not in name and "." not in name:
        where["there"] = outside
    place.symlink_to(where[target])
    found = [line for line in reasons(folder) if "is a link out of the study's folder" in line]
    assert len(found) == 1
    assert found[0].startswith(f"{name}:")
    assert not Study.objects.exists()


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    folder = help_study(tmp_path / "help")
    (folder / "kept").mkdir()
    (folder / "queries.tsv").rename(folder / "kept" / "queries-2.tsv")
    (folder / "queries.tsv").symlink_to("kept/queries-2.tsv")
    (folder / "runs" / "again.run").symlink_to("a.run")
    link = tmp_path / "link"
    link.symlink_to(folder)
    import_study(read_study(link))
    assert Query.objects.count() == 2
    assert Study.objects.get().runs.count() == 3

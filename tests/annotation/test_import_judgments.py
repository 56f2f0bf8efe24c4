"""Labels come in from CSV or qrels, keep their source, and take the places they fill."""

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.services.imports import (
    ImportRefused,
    ImportReport,
    JudgmentOptions,
    import_judgments,
)
from annotation.services.offers import list_open_queries
from annotation.usage import count_label_changes
from studies.models import Action, Document, Member, Pair, RoundQuery
from tests import factories as make
from tests.cast import Cast

HEADER = "query_id,doc_id,relevance,annotator,decided_by,clause,notes\n"


def write(folder: Path, text: str, name: str = "labels.csv") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def run_import(cast: Cast, path: Path, *, dry_run: bool = False, **options: object) -> ImportReport:
    return import_judgments(
        study=cast.study,
        path=path,
        options=JudgmentOptions(**options),  # type: ignore[arg-type]  # the options of each case
        dry_run=dry_run,
    )


def refusals(cast: Cast, path: Path, **options: object) -> list[str]:
    with pytest.raises(ImportRefused) as caught:
        run_import(cast, path, **options)
    assert not Judgment.objects.filter(source="import").exists()
    return [str(problem) for problem in caught.value.report.refusals]


def whole_query(query: str, annotator: str, grade: str = "1") -> str:
    return "".join(f"{query},{query}-d{n},{grade},{annotator},,,\n" for n in (1, 2, 3))


def test_a_csv_brings_grades_names_unsure_and_what_decided(cast: Cast, tmp_path: Path) -> None:
    path = write(
        tmp_path,
        HEADER
        + "q1,q1-d1,2,cara,answerability,procedural,the steps are there\n"
        + "q1,q1-d2,partial,cara,recency,,\n"
        + "q1,q1-d3,UNSURE,cara,,,\n"
        + "q2,q2-d1,,cara,,,\n",
    )
    report = run_import(cast, path)
    first, second, third = Judgment.objects.order_by("pair__document__external_id")
    assert (first.grade, first.decided_by.name, first.clause.name) == (
        2,
        "answerability",
        "procedural",
    )
    assert (first.note, first.source) == ("the steps are there", "import")
    assert (second.grade, third.grade, third.is_unsure) == (1, None, True)
    assert report.tally("judgments").new == 3
    assert any("rows without a label, counted as missing: 1" in note.text for note in report.notes)


def test_an_unknown_name_becomes_an_identity_without_account(cast: Cast, tmp_path: Path) -> None:
    run_import(cast, write(tmp_path, HEADER + whole_query("q1", "cara")))
    cara = Member.objects.get(name="cara")
    assert (cara.user, cara.roles, cara.is_machine) == (None, [], False)


def test_qrels_take_their_annotator_from_the_option(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, "q1 0 q1-d1 2\nq1 0 q1-d2 0\n", "a.qrels")
    run_import(cast, path, annotator="cara")
    labels = Judgment.objects.values_list("annotator__name", "grade", "decided_by")
    assert set(labels) == {("cara", 2, None), ("cara", 0, None)}


def test_qrels_take_their_annotators_from_the_second_column(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, "q1 cara q1-d1 2\nq1 dirk q1-d1 0\n", "a.qrels")
    run_import(cast, path, annotator_from_iteration=True)
    labels = Judgment.objects.values_list("annotator__name", "grade")
    assert set(labels) == {("cara", 2), ("dirk", 0)}


def test_importing_again_changes_nothing(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + whole_query("q1", "cara"))
    run_import(cast, path)
    before = (Action.objects.count(), count_label_changes(cast.study.rounds.all()))
    report = run_import(cast, path)
    assert (report.new, report.tally("judgments").same) == (0, 3)
    assert (Action.objects.count(), count_label_changes(cast.study.rounds.all())) == before


def test_a_dry_run_writes_nothing(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + whole_query("q1", "cara"))
    report = run_import(cast, path, dry_run=True)
    assert report.tally("judgments").new == 3
    assert not Judgment.objects.exists()
    assert not Member.objects.filter(name="cara").exists()


def test_other_labels_for_the_same_pairs_are_conflicts_all_of_them(
    cast: Cast, tmp_path: Path
) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, None)
    path = write(
        tmp_path,
        HEADER
        + "q1,q1-d1,2,ana,,,\n"
        + "q1,q1-d2,0,ana,,,\n"
        + "q1,q1-d3,0,ana,,,\n"
        + "q1,q1-d3,1,ana,,,\n",
    )
    assert refusals(cast, path) == [
        "labels.csv:2: ana's label of q1 q1-d1 in the round main is 1 decided by answerability "
        "in the study",
        "labels.csv:3: ana's label of q1 q1-d2 in the round main is unsure decided by "
        "answerability in the study",
        "labels.csv:5: ana's label of q1 q1-d3 in the round main is 0 in line 4",
    ]


def test_faults_and_conflicts_are_listed_by_line_and_a_row_only_once(
    cast: Cast, tmp_path: Path
) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, 1)
    rows = "q1,q1-d1,2,ana,,,\nq9,q1-d1,2,ana,,,\nq1,q1-d2,7,ana,,,\n"
    found = refusals(cast, write(tmp_path, HEADER + rows))
    assert [text.split(": ")[0] for text in found] == [f"labels.csv:{line}" for line in (2, 3, 4)]
    assert "is no grade" in found[2]


def test_another_dimension_is_a_conflict_and_silence_on_it_is_none(
    cast: Cast, tmp_path: Path
) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 1)
    assert refusals(cast, write(tmp_path, f"{HEADER}q1,q1-d1,1,ana,recency,,\n"))
    report = run_import(cast, write(tmp_path, f"{HEADER}q1,q1-d1,1,ana,,,\n"))
    assert report.tally("judgments").same == 1


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q9,q1-d1,1,cara,,,", "the query q9 is unknown"),
        ("q1,q2-d1,1,cara,,,", "the pair q1 q2-d1 is not in the pool (--extend-pool adds it)"),
        ("q1,q1-d1,3,cara,,,", "'3' is no grade of rubric 1"),
        ("q1,q1-d1,1.0,cara,,,", "'1.0' is no grade of rubric 1"),
        ("q1,q1-d1,great,cara,,,", "'great' is no grade of rubric 1"),
        ("q1,q1-d1,1,cara,taste,,", "'taste' is no dimension of rubric 1"),
        ("q1,q1-d1,1,cara,recency,procedural,", "'procedural' is no clause of recency in rubric 1"),
        ("q1,q1-d1,1,cara,,procedural,", "the clause procedural needs its dimension in decided_by"),
        ("q1,q1-d1,1,,,,", "no annotator is named: add a column annotator, or --annotator NAME"),
    ],
)
def test_a_row_that_cannot_stand_is_refused_by_line(
    cast: Cast, tmp_path: Path, row: str, reason: str
) -> None:
    path = write(tmp_path, f"{HEADER}q1,q1-d2,1,cara,,,\n{row}\n")
    assert refusals(cast, path) == [f"labels.csv:3: {reason}"]
    assert not Member.objects.filter(name="cara").exists()


def test_an_annotator_named_twice_must_be_the_same(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}q1,q1-d1,1,cara,,,\n")
    assert refusals(cast, path, annotator="dirk") == [
        "labels.csv:2: the row names the annotator cara, --annotator says dirk"
    ]


def test_the_round_can_be_named_and_must_exist(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}q1,q1-d1,1,cara,,,\n")
    assert refusals(cast, path, round_name="later") == ["labels.csv:2: there is no round later"]
    later = make.make_round(cast.study, "later", kind="calibration")
    RoundQuery.objects.create(round=later, query=cast.pairs[0].query)
    run_import(cast, path, round_name="later")
    assert Judgment.objects.get().round == later


def test_labels_go_to_a_main_round_that_is_open_rather_than_to_one_to_come(
    cast: Cast, tmp_path: Path
) -> None:
    later = make.make_round(
        cast.study, "main-2", position=9, opens_at=timezone.now() + timedelta(days=9)
    )
    RoundQuery.objects.create(round=later, query=cast.pairs[0].query)
    run_import(cast, write(tmp_path, f"{HEADER}q1,q1-d1,1,cara,,,\n"))
    assert Judgment.objects.get().round == cast.main
    close(cast)
    run_import(cast, write(tmp_path, f"{HEADER}q1,q1-d2,1,cara,,,\n"))
    assert Judgment.objects.latest("pk").round == later


def test_pairs_outside_of_the_pool_join_it_on_request(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}q1,q2-d1,1,cara,,,\nq1,elsewhere,0,cara,,,\n")
    assert refusals(cast, path, extend_pool=True)[0] == (
        "labels.csv:3: the document elsewhere is not in the study, which requires documents"
    )
    cast.study.documents_required = False
    cast.study.save()
    report = run_import(cast, path, extend_pool=True)
    ranks = Pair.objects.filter(query__external_id="q1", judgments__isnull=False)
    assert list(ranks.values_list("document__external_id", "pool_rank")) == [
        ("q2-d1", 4),
        ("elsewhere", 5),
    ]
    assert not hasattr(Document.objects.get(external_id="elsewhere"), "body")
    assert report.tally("pairs").new == 2


def close(cast: Cast) -> None:
    cast.main.closed_at = timezone.now()
    cast.main.save()


def test_a_closed_round_takes_no_new_labels_and_knows_those_it_has(
    cast: Cast, tmp_path: Path
) -> None:
    known = f"{HEADER}q1,q1-d1,1,cara,,,\n"
    run_import(cast, write(tmp_path, known))
    close(cast)
    report = run_import(cast, write(tmp_path, known))
    assert (report.new, report.tally("judgments").same) == (0, 1)
    path = write(tmp_path, f"{known}q1,q1-d2,1,cara,,,\nq1,q1-d1,1,dirk,,,\n")
    with pytest.raises(ImportRefused) as caught:
        run_import(cast, path)
    late = "the round main is closed: it takes no further labels"
    assert [str(problem) for problem in caught.value.report.refusals] == [
        f"labels.csv:3: {late}",
        f"labels.csv:4: {late}",
    ]
    assert Judgment.objects.count() == 1


def test_the_pool_of_a_closed_round_is_not_extended(cast: Cast, tmp_path: Path) -> None:
    close(cast)
    path = write(tmp_path, f"{HEADER}q1,q2-d1,1,cara,,,\n")
    assert refusals(cast, path, extend_pool=True) == [
        "labels.csv:2: the round main is closed: it takes no further labels"
    ]
    some = make.make_round(cast.study, "some", kind="calibration")
    RoundQuery.objects.create(round=some, query=cast.pairs[0].query)
    assert refusals(cast, path, round_name="some", extend_pool=True) == [
        "labels.csv:2: the pair q1 q2-d1 is not in the pool, whose rounds are closed"
    ]


def test_a_finished_claim_is_held_again_when_its_query_gains_pairs(
    cast: Cast, tmp_path: Path
) -> None:
    """For who judges here; a name without an account cannot be asked for the new pairs."""
    labels = HEADER + whole_query("q1", "ana") + whole_query("q1", "cara")
    run_import(cast, write(tmp_path, labels))
    path = write(tmp_path, f"{HEADER}q1,q2-d1,1,dirk,,,\n")
    run_import(cast, path, extend_pool=True)
    states = dict(Claim.objects.values_list("annotator__name", "state"))
    assert states == {"ana": "held", "cara": "finished"}


def test_a_wholly_labelled_query_takes_a_place_and_a_partly_labelled_one_does_not(
    cast: Cast, tmp_path: Path
) -> None:
    rows = whole_query("q1", "cara") + whole_query("q1", "dirk") + "q2,q2-d1,1,cara,,,\n"
    run_import(cast, write(tmp_path, HEADER + rows))
    claims = Claim.objects.values_list(
        "round_query__query__external_id", "annotator__name", "slot", "state"
    )
    assert set(claims) == {("q1", "cara", 1, "finished"), ("q1", "dirk", 2, "finished")}
    left = list_open_queries(round=cast.main, annotator=cast.ana)
    ids = RoundQuery.objects.filter(pk__in=left).values_list("query__external_id", flat=True)
    assert set(ids) == {"q2", "q3"}


def test_a_control_pair_outside_of_the_pool_keeps_nobody_from_a_place(
    cast: Cast, tmp_path: Path
) -> None:
    make.make_pair(cast.pairs[0].query, pool_rank=None)
    run_import(cast, write(tmp_path, HEADER + whole_query("q1", "cara")))
    assert Claim.objects.get().state == "finished"


def test_labels_beyond_the_plan_count_and_are_told(cast: Cast, tmp_path: Path) -> None:
    rows = "".join(whole_query("q1", name) for name in ("cara", "dirk", "emil"))
    report = run_import(cast, write(tmp_path, HEADER + rows))
    assert Claim.objects.count() == 2
    assert Judgment.objects.filter(is_surplus=False).count() == 9
    assert any("more people than planned: 1;" in note.text for note in report.notes)


def test_a_held_claim_is_finished_and_an_expired_one_gives_way(cast: Cast, tmp_path: Path) -> None:
    round_query = RoundQuery.objects.get(query__external_id="q1")
    past = timezone.now() - timedelta(hours=1)
    make.make_claim(round_query, cast.ana, slot=1)
    make.make_claim(round_query, cast.ben, slot=2, expires_at=past)
    rows = whole_query("q1", "ana") + whole_query("q1", "cara")
    run_import(cast, write(tmp_path, HEADER + rows))
    claims = Claim.objects.values_list("annotator__name", "state", "slot")
    assert set(claims) == {
        ("ana", "finished", 1),
        ("ben", "lapsed", None),
        ("cara", "finished", 2),
    }


def test_a_machine_fills_no_place(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + whole_query("q1", "judge-model"))
    run_import(cast, path, machine=True)
    assert Member.objects.get(name="judge-model").is_machine
    assert not Claim.objects.exists()
    run_import(cast, write(tmp_path, HEADER + whole_query("q2", "judge-model")))
    assert not Claim.objects.exists()


def test_a_person_cannot_be_imported_as_a_machine(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, HEADER + whole_query("q1", "ana"))
    assert refusals(cast, path, machine=True) == [
        "labels.csv: ana is a person in this study, not a machine"
    ]


def test_the_time_of_judging_is_kept_beside_the_time_of_importing(
    cast: Cast, tmp_path: Path
) -> None:
    before = timezone.now()
    text = (
        "query_id,doc_id,relevance,annotator,source,active_seconds,judged_at,decided_by\n"
        "q1,q1-d1,1,cara,app,12.5,2025-05-01T10:00:00+00:00,recency\n"
    )
    run_import(cast, write(tmp_path, text))
    label = Judgment.objects.get()
    assert label.judged_at == datetime(2025, 5, 1, 10, tzinfo=UTC)
    assert label.recorded_at >= before
    assert (label.active_seconds, label.source) == (12.5, "import")


def test_a_label_without_a_time_has_an_unknown_one_not_zero(cast: Cast, tmp_path: Path) -> None:
    text = (
        "query_id,doc_id,relevance,annotator,active_seconds\nq1,q1-d1,1,cara,\nq1,q1-d2,1,cara,0\n"
    )
    run_import(cast, write(tmp_path, text))
    times = Judgment.objects.order_by("pair").values_list("active_seconds", flat=True)
    assert list(times) == [None, 0.0]


def test_each_label_and_the_import_itself_are_logged(cast: Cast, tmp_path: Path) -> None:
    path = write(tmp_path, f"{HEADER}q1,q1-d1,2,cara,answerability,procedural,why\n")
    run_import(cast, path)
    label = Action.objects.get(name="judgment.imported")
    judgment = Judgment.objects.get()
    assert label.member.name == "cara"
    assert label.data == {
        "grade": 2,
        "decided_by": "answerability",
        "clause": "procedural",
        "note": "why",
        "query_id": "q1",
        "doc_id": "q1-d1",
        "round": "main",
        "rubric_version": 1,
        "judgment": str(judgment.public_id),
    }
    summary = Action.objects.get(name="judgments.imported").data
    assert (summary["file"], summary["annotators"]) == ("labels.csv", ["cara"])
    assert summary["counts"]["judgments"]["new"] == 1


def test_label_changes_grow_by_the_labels_that_are_new(cast: Cast, tmp_path: Path) -> None:
    run_import(cast, write(tmp_path, HEADER + whole_query("q1", "ana")))
    changes = cast.ana.label_changes.get()
    assert (changes.round, changes.count) == (cast.main, 3)


def test_the_command_reports_and_refuses(cast: Cast, tmp_path: Path) -> None:
    path = str(write(tmp_path, HEADER + whole_query("q1", "cara")))
    out = StringIO()
    call_command("import_judgments", "alpha", path, "--dry-run", stdout=out)
    assert "nothing was written" in out.getvalue()
    call_command("import_judgments", "alpha", path, stdout=out)
    assert Judgment.objects.count() == 3
    bad = str(write(tmp_path, f"{HEADER}q1,q1-d1,9,cara,,,\n"))
    with pytest.raises(CommandError, match=r"labels.csv:2: '9' is no grade") as caught:
        call_command("import_judgments", "alpha", bad, stdout=out)
    assert caught.value.returncode == 1
    with pytest.raises(CommandError, match="There is no study"):
        call_command("import_judgments", "nowhere", path)
    with pytest.raises(CommandError, match="exclude each other") as usage:
        call_command(
            "import_judgments", "alpha", path, "--annotator", "x", "--annotator-from-iteration"
        )
    assert usage.value.returncode == 2
    with pytest.raises(CommandError, match="is for qrels") as usage:
        call_command("import_judgments", "alpha", path, "--annotator-from-iteration")
    assert usage.value.returncode == 2


def test_a_file_that_is_not_there_is_refused(cast: Cast, tmp_path: Path) -> None:
    assert refusals(cast, tmp_path / "none.csv") == ["none.csv: No such file or directory"]

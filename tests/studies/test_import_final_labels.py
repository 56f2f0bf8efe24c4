"""Final labels from a study's folder: all of them or nothing, twice is once."""

from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from results.models import FinalLabel
from results.services.final_labels import Decision, settle_pair
from studies.models import Action, Member, Pair, Study
from tests.studies.study_folders import help_study, write_folder

pytestmark = pytest.mark.django_db

HEADER = "query_id,doc_id,relevance,decided_by,cause,reason,rubric_version,by,decided_at\n"
ROWS = (
    "q1,d1,2,answerability,rubric_ambiguity,It has every step.,1,lia,2026-03-01T10:00:00Z\n"
    "q1,d2,dropped,,chunking,No rule decides.,1,lia,\n"
    "q2,d3,1,,,Settled by the old team.,,,\n"
)


def import_folder(folder: Path, *options: str) -> str:
    out = StringIO()
    call_command("import_study", str(folder), *options, stdout=out)
    return out.getvalue()


def with_finals(folder: Path, rows: str, header: str = HEADER) -> Path:
    return write_folder(help_study(folder), {"final_labels.csv": header + rows})


def test_final_labels_come_in_with_all_they_say(tmp_path: Path) -> None:
    import_folder(with_finals(tmp_path, ROWS))
    steps, dropped, old = FinalLabel.objects.order_by("pk")
    assert (steps.grade, steps.decided_by.name, steps.cause) == (
        2,
        "answerability",
        "rubric_ambiguity",
    )
    assert (steps.by.name, steps.by.user) == ("lia", None)
    assert steps.decided_at.isoformat() == "2026-03-01T10:00:00+00:00"
    assert (dropped.grade, dropped.is_dropped, dropped.reason) == (None, True, "No rule decides.")
    assert (old.grade, old.decided_by, old.by, old.source) == (1, None, None, "import")
    assert Action.objects.filter(name="final_label.imported").count() == 3


def test_importing_them_again_changes_nothing(tmp_path: Path) -> None:
    import_folder(with_finals(tmp_path, ROWS))
    assert "unchanged" in import_folder(tmp_path)
    assert FinalLabel.objects.count() == 3


def test_a_dry_run_writes_none(tmp_path: Path) -> None:
    folder = help_study(tmp_path)
    import_folder(folder)
    assert "final labels" in import_folder(with_finals(tmp_path, ROWS), "--dry-run")
    assert not FinalLabel.objects.exists()


def test_a_pair_that_was_settled_otherwise_is_a_conflict(tmp_path: Path) -> None:
    import_folder(help_study(tmp_path))
    study = Study.objects.get()
    pair = Pair.objects.get(query__external_id="q1", document__external_id="d1")
    decision = Decision(grade=0, reason="No steps.", decided_by="answerability")
    settle_pair(
        pair=pair,
        member=Member.objects.create(study=study, name="lia"),
        rubric_version=study.rubric_versions.get(),
        decision=decision,
        shown="",
        key="6f9619ff-8b86-d011-b42d-00cf4fc964ff",
    )
    with pytest.raises(CommandError, match=r"final_labels.csv:2: the pair q1 d1 has another final"):
        import_folder(with_finals(tmp_path, ROWS))
    assert FinalLabel.objects.get().grade == 0


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("q1,d9,1,,,x,1,,", "the pair q1 d9 is not in the study"),
        ("q1,d1,7,,,x,1,,", "'7' is no grade of rubric 1, and not dropped"),
        ("q1,d1,1,charm,,x,1,,", "'charm' is no dimension of rubric 1"),
        ("q1,d1,1,,,x,4,,", "there is no rubric 4"),
        ("q1,d1,1,,bad luck,x,1,,", "the cause 'bad luck' is not one of rubric_ambiguity"),
        ("q1,d1,1,,, ,1,,", "the reason is blank; a final label has one"),
    ],
)
def test_what_cannot_be_a_final_label_is_refused_by_line(
    tmp_path: Path, row: str, reason: str
) -> None:
    with pytest.raises(CommandError, match=f"final_labels.csv:2: {reason}"):
        import_folder(with_finals(tmp_path, f"{row}\n"))
    assert not Study.objects.exists()


def test_a_machine_decides_no_final_label(tmp_path: Path) -> None:
    import_folder(help_study(tmp_path))
    Member.objects.create(study=Study.objects.get(), name="bot", is_machine=True)
    with pytest.raises(CommandError, match="bot is a machine"):
        import_folder(with_finals(tmp_path, "q1,d1,1,,,x,1,bot,\n"))


def test_clause_and_citation_are_read_where_the_columns_are(tmp_path: Path) -> None:
    header = HEADER.replace("\n", ",clause,citation\n")
    import_folder(with_finals(tmp_path, "q1,d1,1,,,x,1,,,,same_reading\n", header))
    assert FinalLabel.objects.get().citation == "same_reading"
    with pytest.raises(CommandError, match="the clause deep needs its dimension"):
        import_folder(with_finals(tmp_path, "q1,d2,1,,,x,1,,,deep,\n", header))

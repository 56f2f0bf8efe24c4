"""What every command does with arguments that cannot be meant: exit status 2, and no traceback."""

import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest
from django.core.management import CommandError, call_command, get_commands, load_command_class

from studies.models import Action, Member
from tests.cast import Cast
from tests.conftest import ROOT

LATIN_1 = "caf\udce9"
"""`café` in Latin-1, as Python hands over an argument that is not UTF-8."""


def exit_status(name: str, *arguments: str) -> int:
    """How the command ends when it is called from a command line."""
    command = load_command_class(get_commands()[name], name)
    with pytest.raises(SystemExit) as ended:
        command.run_from_argv(["manage.py", name, *arguments])
    status = ended.value.code
    assert isinstance(status, int)
    return status


@pytest.mark.parametrize(
    "arguments",
    [
        ["import_study", LATIN_1],
        ["import_judgments", "alpha", LATIN_1],
        ["import_judgments", LATIN_1, "labels.csv"],
        ["import_judgments", "alpha", "labels.csv", "--annotator", LATIN_1],
        ["import_judgments", "alpha", "labels.csv", "--round", LATIN_1],
        ["agreement", LATIN_1],
        ["agreement", "alpha", "--round", LATIN_1],
        ["export", LATIN_1, "consensus-qrels", "-o", "a.qrels"],
        ["export", "alpha", "consensus-qrels", "-o", LATIN_1],
        ["export", "alpha", "annotator-qrels", "--annotator", LATIN_1, "-o", "a.qrels"],
        ["revision", LATIN_1, "--from", "1", "--to", "2"],
        ["revision", "alpha", "--from-round", LATIN_1, "--to-round", "main"],
        ["set_password", LATIN_1],
        ["backup", LATIN_1],
        ["restore", LATIN_1, "--replace"],
    ],
    ids=" ".join,
)
def test_a_name_that_is_not_utf_8_is_wrong_usage(
    cast: Cast, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = (Action.objects.count(), Member.objects.count())
    assert exit_status(*arguments) == 2
    assert "caf\N{REPLACEMENT CHARACTER} is not UTF-8" in capsys.readouterr().err
    assert (Action.objects.count(), Member.objects.count()) == before


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["import_study", "{folder}/none"], "is not a folder"),
        (["import_study", "{folder}/file"], "is not a folder"),
        (["import_judgments", "alpha", "{folder}/none"], "No such file"),
        (["import_judgments", "alpha", "{folder}"], "Is a directory"),
        (["restore", "{folder}/none", "--replace"], "none"),
        (["import_judgments", "none", "{folder}/file"], "no study 'none'"),
        (["agreement", "none"], "no study 'none'"),
        (["export", "none", "consensus-qrels", "-o", "{folder}/a"], "no study 'none'"),
        (["revision", "none", "--from", "1", "--to", "2"], "no study 'none'"),
        (["export", "alpha", "consensus-qrels", "-o", "{folder}/none/a"], "does not exist"),
    ],
)
def test_what_is_not_there_is_refused_with_its_name(
    cast: Cast, tmp_path: Path, arguments: list[str], words: str
) -> None:
    (tmp_path / "file").write_text("q1 0 d1 1\n")
    with pytest.raises(CommandError) as refused:
        call_command(*(argument.format(folder=tmp_path) for argument in arguments))
    assert refused.value.returncode == 1
    assert words in str(refused.value)


def test_a_reader_that_has_seen_enough_ends_a_command_quietly() -> None:
    command = [sys.executable, str(ROOT / "manage.py"), "diffsettings", "--all"]
    with Popen(command, stdout=PIPE, stderr=PIPE, cwd=ROOT) as running:
        assert running.stdout is not None
        running.stdout.close()
        assert running.stderr is not None
        assert running.stderr.read() == b""
    assert running.returncode == 141

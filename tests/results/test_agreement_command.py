"""`manage.py agreement`: the report on a terminal, with honest exit statuses."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command, execute_from_command_line

from results.models import AgreementReport
from studies.models import Round
from tests import factories as make
from tests.cast import Cast
from tests.results.labelled import label, label_cast


def run(*arguments: str) -> str:
    out = StringIO()
    call_command("agreement", *arguments, stdout=out)
    return out.getvalue()


def test_json_is_the_report(cast: Cast) -> None:
    label_cast(cast)
    report = json.loads(run("alpha"))
    assert (report["study"], report["judgments"], report["splits"]) == ("alpha", 18, 2)


def test_json_keeps_names_as_they_are(cast: Cast) -> None:
    zoe = make.make_member(cast.study, "蔡佳慧", with_account=False)
    label(cast.main, zoe, cast.pairs[:1], [0])
    assert "蔡佳慧" in run("alpha")


def test_markdown_is_a_document(cast: Cast) -> None:
    label_cast(cast)
    text = run("alpha", "--format", "md")
    assert text.startswith("# Agreement: Alpha help centre")
    assert text.endswith("\n")
    assert not text.endswith("\n\n")


def test_nothing_is_stored(cast: Cast) -> None:
    run("alpha")
    assert not AgreementReport.objects.exists()


def test_round_and_rubric_narrow_the_report(cast: Cast) -> None:
    label_cast(cast)
    calibration = make.make_round(cast.study, "calibration-1", kind=Round.Kind.CALIBRATION)
    make.RoundQuery.objects.create(round=calibration, query=cast.pairs[0].query, annotators=2)
    label(calibration, cast.ana, cast.pairs[:3], [2, 2, 2])
    make.make_rubric(cast.study)
    report = json.loads(run("alpha", "--round", "calibration-1"))
    assert (report["rounds"], report["judgments"], report["queries"]) == (["calibration-1"], 3, 1)
    assert json.loads(run("alpha", "--rubric", "2"))["judgments"] == 0


def test_surplus_counts_when_asked_for(cast: Cast) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 2, is_surplus=True)
    assert json.loads(run("alpha"))["surplus"] == 1
    assert json.loads(run("alpha", "--with-surplus"))["judgments"] == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nowhere"], "Studies: alpha, beta"),
        (["alpha", "--round", "nope"], "Its rounds: main"),
        (["alpha", "--rubric", "9"], "Its versions: 1"),
        (["beta"], "no rubric"),
    ],
)
def test_refusal_says_what_there_is(cast: Cast, arguments: list[str], words: str) -> None:
    with pytest.raises(CommandError, match=words) as refused:
        run(*arguments)
    assert refused.value.returncode == 1


@pytest.mark.parametrize(
    "arguments", [["alpha", "--format", "pdf"], ["alpha", "--rubric", "two"], []]
)
def test_wrong_usage_exits_with_two(
    db: None, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        execute_from_command_line(["manage.py", "agreement", *arguments])
    assert left.value.code == 2
    assert "usage:" in capsys.readouterr().err

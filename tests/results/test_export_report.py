"""The agreement report as an export."""

import pytest
from django.core.management import call_command

from results.services.exports import ExportRefused, stream_export, write_export
from results.services.reports import render_markdown, run_agreement
from results.services.scopes import Scope
from tests.cast import Cast
from tests.results.exported import judge_all, read_manifest


def test_the_command_computes_the_report_of_today_and_writes_it(cast: Cast, tmp_path):
    judge_all(cast, ana=[1, 1, 0], ben=[1, 0, 0])
    path = tmp_path / "agreement.md"
    call_command("export", "alpha", "agreement-report", "-o", str(path))
    assert path.read_text(encoding="utf-8") == render_markdown(cast.study)
    assert read_manifest(path)["counts"]["judgments"] == 6


def test_ac1_stands_with_its_interval(cast: Cast):
    judge_all(cast, ana=[1, 1, 0], ben=[1, 0, 0])
    report = run_agreement(cast.study, scope=Scope())
    report.payload["gwet_ac1"]["interval95"] = [0.5, 0.75]
    report.save()
    (row,) = [line for line in render_markdown(cast.study).splitlines() if "AC1 |" in line]
    assert "| 0.500 … 0.750 |" in row


def test_without_a_stored_report_there_is_nothing_to_export(cast: Cast, tmp_path):
    with pytest.raises(ExportRefused, match="No agreement has been computed"):
        write_export(cast.study, "agreement-report", tmp_path / "a.md")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ExportRefused):
        list(stream_export(cast.study, "agreement-report"))

"""A study moves whole: what is exported comes in as an equal study."""

import json
from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.utils import timezone
from PIL import Image

from annotation.models import CarriedLabel, ProblemReport, RoundAssignment, RubricTold
from results.models import AgreementTarget, CalibrationNote
from studies.models import DocumentText, Quota, Round, RoundQuery, Unblinding
from studies.services.log import record_action
from tests import factories as make
from tests.cast import Cast

pytestmark = pytest.mark.django_db


def export(slug: str, folder: Path) -> dict[str, str]:
    """Export a study as a folder; returns its text files by name."""
    call_command("export", slug, "study", "-o", str(folder), stdout=StringIO())
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".png"
    }


def fill(cast: Cast) -> None:
    """Something of everything that a study can hold."""
    study, (first, second, third, *_) = cast.study, cast.pairs
    make.make_run(study, "alpha run", {"q1": ["q1-d1", "q1-d2"], "q2": ["q2-d3", "far-away"]})
    image = make.make_document(study, "pump", text=None, title="A pump", format="image")
    stream = BytesIO()
    Image.new("RGB", (3, 3)).save(stream, "PNG")
    name = default_storage.save("documents/some.png", ContentFile(stream.getvalue()))
    DocumentText.objects.create(document=image, image=name)
    make.make_pair(first.query, image)
    make.make_document(
        study, "old", metadata={"n": [1, "ü"]}, effective_date="2025-01-02", superseded_by="new"
    )
    make.make_judgment(cast.main, first, cast.ana, 2, clause="procedural", note="=1+1")
    make.make_judgment(cast.main, second, cast.ana, None, active_seconds=4.25)
    bot = make.make_member(study, "bot", with_account=False, is_machine=True)
    make.make_judgment(cast.main, third, bot, 0, source="import", decided_by=None)
    make.make_judgment(cast.main, third, cast.ben, 0, is_surplus=True)
    make.make_final_label(
        first,
        1,
        by=cast.ada,
        clause="procedural",
        cause="rubric_ambiguity",
        citation="different_readings",
        reason="=the clause says so",
    )
    make.make_final_label(second, None, by=cast.max, decided_by=None, cause="chunking")
    study.consensus = study.Consensus.UNANIMOUS
    study.settle_own_pairs = True
    study.judges_read_results = True
    study.save()
    AgreementTarget.objects.create(study=study, weights="linear", at_least="0.65")
    query = RoundQuery.objects.get(query=first.query)
    make.make_claim(query, cast.ana, expires_at=timezone.now() - timedelta(hours=3))
    RoundQuery.objects.filter(query__external_id="q3").update(annotators=5)
    record_action(study, "judgment.recorded", member=cast.ana, user=cast.ana.user, data={"a": 1})
    Quota.objects.create(round=cast.main, member=cast.ana, queries=7, is_fixed=True)
    Unblinding.objects.create(member=cast.ben, round=cast.main)
    ProblemReport.objects.create(pair=second, annotator=cast.ben, kind="broken", note="=cut off")
    RubricTold.objects.create(annotator=cast.ana, rubric_version=cast.rubric)
    Round.objects.filter(pk=cast.main.pk).update(opens_at=timezone.now() + timedelta(days=3))
    for name, data in (("rubric.published", {"number": 1}), ("member.linked", {"member": "ana"})):
        record_action(study, name, data=data)
    add_recheck(cast)
    add_calibration_note(cast)


def add_recheck(cast: Cast) -> None:
    """A later rubric version, under which one pair is judged again and another label counts."""
    again, carried = cast.pairs[3], cast.pairs[4]
    later = make.make_rubric(cast.study)
    label = make.make_judgment(cast.main, carried, cast.ana, 1)
    recheck = make.make_round(cast.study, "recheck", kind="recheck", rubric_version=later)
    RoundQuery.objects.create(round=recheck, query=again.query, annotators=1)
    RoundAssignment.objects.create(round=recheck, pair=again, annotator=cast.ana)
    CarriedLabel.objects.create(judgment=label, rubric_version=later, why="kept", by=cast.max)


def add_calibration_note(cast: Cast) -> None:
    pair = cast.pairs[5]
    round = make.make_round(cast.study, "calibration", kind="calibration")
    RoundQuery.objects.create(round=round, query=pair.query, annotators=None)
    CalibrationNote.objects.create(
        round=round, pair=pair, kind="undecided", note="No rule\ndecides.", by=cast.lia
    )


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"kind": "odd"}, "a split is noted as 'odd', not one of slip"),
        ({"doc_id": "nowhere"}, "notes twice on one split, or on what the study has not: 1"),
    ],
)
def test_a_note_that_fits_nothing_is_refused(
    cast: Cast, tmp_path: Path, changes: dict[str, str], reason: str
) -> None:
    add_calibration_note(cast)
    export("alpha", tmp_path / "study")
    settings, state = tmp_path / "study" / "study.yaml", tmp_path / "study" / "state.json"
    settings.write_text(settings.read_text().replace("study: alpha", "study: moved"))
    found = json.loads(state.read_text())
    found["calibration_notes"][0] |= changes
    state.write_text(json.dumps(found))
    with pytest.raises(CommandError, match=reason):
        call_command("import_study", str(tmp_path / "study"), stdout=StringIO())
    assert not CalibrationNote.objects.filter(round__study__slug="moved").exists()


def test_a_study_that_moved_exports_the_same_files(cast: Cast, tmp_path: Path) -> None:
    fill(cast)
    before = export("alpha", tmp_path / "before")
    settings = tmp_path / "before" / "study.yaml"
    settings.write_text(settings.read_text().replace("study: alpha", "study: moved"))
    out = StringIO()
    call_command("import_study", str(tmp_path / "before"), stdout=out)
    assert RoundAssignment.objects.filter(round__study__slug="moved").count() == 1
    assert CarriedLabel.objects.filter(rubric_version__study__slug="moved").count() == 1
    after = export("moved", tmp_path / "after")
    assert after.keys() == before.keys()
    log = [json.loads(line) for line in before.pop("log.jsonl").splitlines()]
    moved = [json.loads(line) for line in after.pop("log.jsonl").splitlines()]
    assert [line for line in moved if line in log] == log
    added = [line["name"] for line in moved if line not in log]
    assert added == ["judgments.imported", "study.imported"]
    assert Quota.objects.filter(round__study__slug="moved", is_fixed=True).count() == 1
    assert ProblemReport.objects.filter(pair__study__slug="moved").count() == 1
    assert CalibrationNote.objects.get(round__study__slug="moved").by.name == "lia"
    assert str(AgreementTarget.objects.get(study__slug="moved")) == "linear 0.65"
    assert RubricTold.objects.filter(rubric_version__study__slug="moved").count() == 1
    before["study.yaml"] = settings.read_text()
    assert after == before
    images = [
        (tmp_path / name / "images" / "pump.png").read_bytes() for name in ("before", "after")
    ]
    assert images[0] == images[1]
    call_command("import_study", str(tmp_path / "before"), stdout=out)
    assert "moved is unchanged" in out.getvalue()


def test_a_study_that_is_there_keeps_its_target_and_the_report_says_so(
    cast: Cast, tmp_path: Path
) -> None:
    AgreementTarget.objects.create(study=cast.study, weights="linear", at_least="0.65")
    export("alpha", tmp_path / "study")
    AgreementTarget.objects.update(at_least="0.80")
    out = StringIO()
    call_command("import_study", str(tmp_path / "study"), stdout=out)
    assert "target is linear 0.80 in the study and stays so (here: linear 0.65)" in out.getvalue()
    assert str(AgreementTarget.objects.get()) == "linear 0.80"

"""Majority is no cure: holes stand in every manifest and on the page of exports."""

import pytest

from results.services.exports import describe_export, stream_export
from results.services.reports import OpenHoles, find_open_holes, run_agreement
from studies.models import Study
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.labelled import label, label_cast
from tests.results.silent import add_class, make_silent

MARKED = "Consensus by majority in class <bdi>procedural</bdi> is marked: the rubric is silent"


@pytest.fixture
def silent(db: None) -> Study:
    study = make_silent()
    run_agreement(study)
    return study


def read_exports(study: Study) -> str:
    client = log_in(study.members.get(name="lia"))
    page = client.get(f"/studies/{study.slug}/results/exports/").content.decode()
    return " ".join(page.split())


def test_manifest_names_the_classes_with_a_hole(silent: Study) -> None:
    told = describe_export(silent, "consensus-qrels").as_json()
    assert (told["open_holes"], told["open_holes_stale"]) == (["procedural"], False)
    assert told["open_holes_reason"] is None


def test_manifest_of_a_download_names_them_too(silent: Study) -> None:
    stream = stream_export(silent, "training-pairs")
    assert list(stream)
    assert stream.manifest.open_holes == OpenHoles(("procedural",), is_stale=False)


def test_labels_that_changed_since_make_the_holes_stale(silent: Study) -> None:
    add_class(silent, "policy", 4, 0)
    told = describe_export(silent, "consensus-qrels").as_json()
    assert (told["open_holes"], told["open_holes_stale"]) == (["procedural"], True)
    assert "Labels have changed since the diagnosis" in read_exports(silent)


def test_study_without_numbers_has_no_holes_to_tell_of_and_says_so(cast: Cast) -> None:
    label_cast(cast)
    assert find_open_holes(cast.study) is None
    told = describe_export(cast.study, "consensus-qrels").as_json()
    assert (told["open_holes"], told["open_holes_stale"]) == (None, None)
    assert told["open_holes_reason"].startswith("no numbers")
    assert "Nobody has computed the diagnosis yet" in read_exports(cast.study)


def test_diagnosis_without_a_hole_marks_nothing(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study)
    told = describe_export(cast.study, "consensus-qrels").as_json()
    assert told["open_holes"] == []
    assert "is marked" not in read_exports(cast.study)


def test_page_of_exports_marks_consensus_where_the_rubric_is_silent(silent: Study) -> None:
    page = read_exports(silent)
    assert MARKED in page
    assert 'href="/studies/silent/results/splits/pairs/?class=procedural"' in page


def test_majorities_in_open_holes_are_counted_in_the_manifest(silent: Study) -> None:
    zoe = make.make_member(silent, "zoe", with_account=False)
    split = [
        pair
        for pair in silent.pairs.filter(query__query_class__name="procedural")
        if len(set(pair.judgments.values_list("grade", flat=True))) > 1
    ]
    grades = [pair.judgments.order_by("pk").values_list("grade", flat=True)[0] for pair in split]
    label(silent.rounds.get(), zoe, split[:3], grades[:3])
    # What is exported has every pair decided, so the other splits are settled.
    for pair in split[3:]:
        make.make_final_label(pair, 0)
    for pair in silent.pairs.exclude(query__query_class__name="procedural"):
        if len(set(pair.judgments.values_list("grade", flat=True))) > 1:
            make.make_final_label(pair, 0)
    told = describe_export(silent, "consensus-qrels").as_json()
    assert told["open_holes"] == ["procedural"]
    assert (told["counts"]["majority"], told["majority_in_open_holes"]) == (3, 3)

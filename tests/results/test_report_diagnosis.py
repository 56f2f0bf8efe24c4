"""The diagnosis in the report: its keys, its words, and a hole that one must find."""

import pytest

from results import diagnosis_wording
from results.findings import read_diagnosis
from results.markdown import render_payload
from results.services.agreement import compute_agreement
from results.services.scopes import Scope
from results.statistics.diagnosis import diagnose, sentences
from studies.models import Study
from tests.cast import Cast
from tests.pure.statistics.diagnosis_tables import (
    AGREED,
    DIMENSIONS,
    UNCITED_FIRST_HIGHER,
    Part,
    build_study,
)
from tests.results.documented import list_undocumented_keys
from tests.results.labelled import label_cast
from tests.results.silent import make_silent

CLASS_KEYS = {
    "class", "queries", "pairs", "splits", "rate", "interval95", "rest_pairs", "rest_splits",
    "rest_rate", "rest_interval95", "ratio", "p_value", "p_adjusted", "fisher_p", "direction",
    "direction_against_others", "citation", "grades", "apart_p", "verdict", "advice", "sentences",
    "more_pairs", "more_queries", "more_rest_pairs",
}  # fmt: skip


def compute(study: Study) -> dict:
    return compute_agreement(study, scope=Scope())


def find(payload: dict, name: str) -> dict:
    return next(row for row in payload["classes"] if row["class"] == name)


@pytest.fixture
def silent(db: None) -> Study:
    return make_silent()


def test_class_carries_rates_and_diagnosis_in_one_entry(cast: Cast) -> None:
    label_cast(cast)
    payload = compute(cast.study)
    assert set(find(payload, "procedural")) >= CLASS_KEYS
    assert payload["study_verdict"] == "too_little_data"
    assert payload["decided_by"] == {"answerability": 18, "recency": 0, "authority": 0}
    assert payload["decided_by_on_splits"] == [["answerability", "answerability", 2]]


def test_unclassified_queries_have_rates_and_no_verdict(cast: Cast) -> None:
    label_cast(cast)
    # No class at all.
    assert "verdict" not in find(compute(cast.study), None)  # type: ignore[arg-type]


def test_published_figures_are_a_hole_in_the_class_that_has_it(silent: Study) -> None:
    payload = compute(silent)
    assert payload["study_verdict"] == "hole"
    verdicts = {row["class"]: row["verdict"] for row in payload["classes"]}
    assert verdicts["procedural"] == "hole"
    assert "hole" not in {verdicts["factual"], verdicts["policy"]}
    row = find(payload, "procedural")
    assert (row["splits"], row["pairs"]) == (27, 76)
    assert (row["rest_splits"], row["rest_pairs"]) == (4, 124)
    (direction,) = row["direction"]
    assert (direction["a_higher"], direction["b_higher"]) == (27, 0)
    assert "27 of 76 pairs of class procedural split (36%), against 4 of 124" in row["advice"]
    assert "elsewhere (3%)" in row["advice"]
    assert list_undocumented_keys(payload) == []


def test_labels_turned_round_take_the_hole_away(silent: Study) -> None:
    """Half of the splits the other way: still more of them, but in no direction."""
    ana, ben = silent.members.filter(name__in=("ana", "ben")).order_by("name")
    labels = {judgment.pair_id: judgment for judgment in ben.judgments.all()}
    differing = [own for own in ana.judgments.all() if own.grade != labels[own.pair_id].grade]
    for own in differing[::2]:
        other = labels[own.pair_id]
        own.grade, other.grade = other.grade, own.grade
        own.save()
        other.save()
    payload = compute(silent)
    assert find(payload, "procedural")["verdict"] == "slips"
    assert payload["study_verdict"] == "slips"


def test_document_says_the_verdicts_in_sentences(silent: Study) -> None:
    text = render_payload(compute(silent))
    assert "The rubric is silent in procedural: mend it there before anything else." in text
    assert (
        "**procedural: hole.** 27 of 76 pairs of class procedural split (35.5%), "
        "against 4 of 124 elsewhere (3.2%): more than chance gives "
        "(p < 0.001 over 19 and 31 queries)."
    ) in text
    assert "recheck its pairs, of which 76 are labelled twice or more." in text


def test_findings_stand_by_gravity_with_evidence_and_advice_apart(silent: Study) -> None:
    diagnosis = read_diagnosis(compute(silent))
    assert (diagnosis.verdict, diagnosis.holes) == ("hole", ["procedural"])
    hole = diagnosis.findings[0]
    assert (hole.name, hole.tag, len(hole.advice)) == ("procedural", "hole", 1)
    assert diagnosis.leading == hole
    assert not any(entry.lenient for entry in diagnosis.leniency)


def test_class_that_splits_more_leads_also_where_it_cannot_be_told_what_it_is() -> None:
    uncited = [UNCITED_FIRST_HIGHER, UNCITED_FIRST_HIGHER[::-1]]
    calm = Part("calm", [*uncited * 2, *[AGREED] * 116], 24)
    harder = Part("harder", [*uncited * 14, *[AGREED] * 52], 16)
    found = diagnose(build_study(calm, harder), dimension_names=DIMENSIONS)
    shown = read_diagnosis(found.to_json())
    assert shown.verdict == "too_little_data"
    assert shown.headline.startswith("harder split more than the rest")
    assert shown.leading is not None
    assert shown.leading.name == "harder"
    assert "only 0 of its 28 splits are known" in " ".join(shown.leading.advice)


def test_every_sentence_of_the_statistics_can_be_translated() -> None:
    from results.statistics.diagnosis import sentences
    from results.statistics.diagnosis.verdict import Verdict

    assert diagnosis_wording.TEXTS == sentences._TEXTS
    assert diagnosis_wording.ONE == sentences._ONE
    assert set(diagnosis_wording.VERDICTS) == set(Verdict.__args__)
    assert set(diagnosis_wording.TEXTS) >= diagnosis_wording.ADVICE


def test_sentence_with_an_unknown_code_keeps_its_text() -> None:
    assert diagnosis_wording.say({"code": "new", "values": {}, "text": "As it was."}) == (
        "As it was."
    )


@pytest.mark.parametrize(("splits", "words"), [(1, "the one split"), (2, "the 2 splits")])
def test_one_split_is_told_as_one(splits: int, words: str) -> None:
    sentence = sentences.Sentence("adjudicate", {"splits": splits}).to_json()
    assert words in sentence["text"]
    assert words in diagnosis_wording.say(sentence)

"""One label changed in a large study: every figure that must move moves, and no other does."""

from typing import Any

import pytest

from annotation.models import Judgment
from benchmarks.scratch import make_scratch_study
from results.services.agreement import compute_agreement
from results.services.scopes import Scope
from studies.models import Study

Json = dict[str, Any]


@pytest.fixture
def study(db: None) -> Study:
    """20,000 judgments of four annotators on 1,000 queries of four classes."""
    return make_scratch_study(queries=1000, depth=10).study


def compute(study: Study) -> Json:
    return compute_agreement(study, scope=Scope(), resamples=200)


def find_agreeing(study: Study) -> tuple[Judgment, Judgment]:
    """Both labels of a pair on which the two agree at the lowest grade."""
    for judgment in Judgment.objects.filter(pair__study=study, grade=0).order_by("pk"):
        other = judgment.pair.judgments.exclude(pk=judgment.pk).get()
        if other.grade == 0:
            return judgment, other
    raise AssertionError("Nobody agrees in this study.")


def test_one_changed_label_moves_every_figure_that_rests_on_it(study: Study) -> None:
    changed, other = find_agreeing(study)
    before = compute(study)
    changed.grade = 3
    changed.decided_by = changed.rubric_version.dimensions.exclude(pk=other.decided_by_id).first()
    changed.save()
    after = compute(study)
    moved = {
        "labels", "raw_agreement", "splits", "krippendorff_alpha", "gwet_ac1", "cohen_kappa",
        "classes", "annotators", "split_kinds", "split_grades", "dimensions", "directions",
        "decided_by", "decided_by_on_splits", "by_dimension", "by_rubric_version", "over_time",
        "decided_by_annotator", "decided_by_class", "leniency",
    }  # fmt: skip
    stay = {
        "queries", "queries_fully_judged", "pairs", "pairs_labelled_twice", "pairs_labelled",
        "judgments", "unsure", "missing", "active_seconds", "timed", "time", "rubric_versions",
    }  # fmt: skip
    assert {key for key in moved if before[key] == after[key]} == set()
    assert {key for key in stay if before[key] != after[key]} == set()
    check_two(before, after, {changed.annotator.name, other.annotator.name})
    check_classes(before, after, str(changed.pair.query.query_class))


def check_two(before: Json, after: Json, names: set[str]) -> None:
    """Only the kappa of the two who labelled the pair moves, with all of its parts."""
    for old, new in zip(before["cohen_kappa"], after["cohen_kappa"], strict=True):
        if {old["a"], old["b"]} != names:
            assert old == new
            continue
        for key in ("observed", "expected", "nominal", "linear", "quadratic", "interval95",
                    "linear_interval95", "quadratic_interval95", "confusion"):  # fmt: skip
            assert old[key] != new[key], key


def check_classes(before: Json, after: Json, name: str) -> None:
    """The class itself moves, and as part of the rest of each other class."""
    for old, new in zip(before["classes"], after["classes"], strict=True):
        keys = (
            ("splits", "rate", "interval95", "alpha", "alpha_interval95", "observed", "fisher_p")
            if old["class"] == name
            else ("rest_splits", "rest_rate", "rest_interval95", "ratio")
        )
        for key in keys:
            assert old[key] != new[key], (old["class"], key)
        if old["class"] != name:
            assert (old["splits"], old["alpha"]) == (new["splits"], new["alpha"])

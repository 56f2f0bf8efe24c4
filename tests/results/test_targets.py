"""The target of a study's agreement: set by admins, judged at once, with what to talk about."""

from typing import Any

import pytest

from results.models import AgreementTarget
from results.services.agreement import compute_agreement
from results.services.reports import run_agreement
from results.services.scopes import Scope
from results.targets import Target, judge_targets
from studies.models import Action
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import label_cast

URL = "/studies/alpha/results/agreement/"


def kappa(a: str, b: str, value: float | None, pairs: int = 9, **more: Any) -> dict[str, Any]:
    discuss = [{"query_id": "q1", "splits": 2}, {"query_id": "q2", "splits": 1}]
    return {"a": a, "b": b, "pairs": pairs, "quadratic": value, "discuss": discuss, **more}


def test_every_two_pass_or_fail_and_queries_of_those_who_fail_are_named() -> None:
    rows = [
        kappa("a", "b", 0.7),
        kappa("a", "c", 0.6999),
        kappa("b", "c", None),
        kappa("c", "d", None, pairs=0),
    ]
    (found,) = judge_targets(rows, Target("quadratic", 0.7))
    assert [row["outcome"] for row in found["pairs"]] == ["pass", "fail", "undefined"]
    assert (found["met"], found["queries"]) == (False, ["q1", "q2"])


def test_nobody_to_measure_is_neither_met_nor_missed() -> None:
    (found,) = judge_targets([kappa("a", "b", None)], Target("quadratic", 0.7))
    assert found["met"] is None
    assert judge_targets([kappa("a", "b", 0.1)], None) == []


def test_target_is_not_met_while_the_kappa_of_any_two_is_undefined() -> None:
    rows = [kappa("a", "b", 0.9), kappa("a", "c", None)]
    (found,) = judge_targets(rows, Target("quadratic", 0.7))
    assert [row["outcome"] for row in found["pairs"]] == ["pass", "undefined"]
    assert found["met"] is False


def test_admin_sets_a_target_and_the_stored_numbers_are_judged_by_it(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    client = log_in(cast.max)
    form = read_forms(client.get(URL))["target-form"]
    response = post_form(client, form, URL, weights="nominal", at_least="0.70")
    assert response.status_code == 302
    page = " ".join(client.get(URL).content.decode().split())
    assert "not reached" in page
    assert "Every two annotators reach nominal κ of 0.70 or more." in page
    assert 'pairs/?query=q1" dir="auto">q1</a>' in page
    assert Action.objects.filter(name="target.set").get().data == {
        "weights": "nominal",
        "at_least": 0.7,
    }
    (target,) = compute_agreement(cast.study, scope=Scope(), resamples=10)["targets"]
    assert (target["met"], target["pairs"][0]["outcome"]) == (False, "fail")


def test_target_that_is_reached_is_said_so_and_can_be_removed(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    AgreementTarget.objects.create(study=cast.study, weights="nominal", at_least="0.60")
    client = log_in(cast.max)
    response = client.get(URL)
    assert '<span class="tag good">reached</span>' in response.content.decode()
    form = read_forms(response)["target-form"]
    post_form(client, form, URL, remove="1")
    assert not AgreementTarget.objects.exists()
    assert "No target is set" in client.get(URL).content.decode()


@pytest.mark.parametrize("value", ["1.5", "-0.1", "much", ""])
def test_target_that_no_kappa_can_be_is_refused(cast: Cast, value: str) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    response = log_in(cast.max).post(f"{URL}target/", {"weights": "linear", "at_least": value})
    assert response.status_code == 422
    assert not AgreementTarget.objects.exists()


def test_lead_reads_the_target_and_cannot_set_it(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    client = log_in(cast.lia)
    assert "target-form" not in read_forms(client.get(URL))
    assert client.post(f"{URL}target/", {"weights": "linear", "at_least": "0.7"}).status_code == 404

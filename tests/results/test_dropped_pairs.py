"""Dropped pairs are told wherever the study's numbers are."""

import pytest

from results.services.agreement import compute_agreement
from results.services.reports import render_markdown, run_agreement
from results.services.scopes import Scope
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.exported import describe_json
from tests.results.settling import contest


def test_the_report_counts_final_labels_with_causes_and_share(cast: Cast) -> None:
    contest(cast)
    before = compute_agreement(cast.study, scope=Scope(), resamples=10)
    make.make_final_label(cast.pairs[0], None, cause="chunking")
    make.make_final_label(cast.pairs[1], 1, cause="chunking")
    report = compute_agreement(cast.study, scope=Scope(), resamples=10)
    told = report["final_labels"]
    assert (told["graded"], told["dropped"], told["causes"]["chunking"]) == (1, 1, 2)
    assert (told["dropped_share"], told["dropped_warning"]) == (1 / 9, "warning")
    for key in ("splits", "raw_agreement", "krippendorff_alpha", "labels"):
        assert report[key] == before[key]


def test_the_report_of_a_round_has_none(cast: Cast) -> None:
    contest(cast)
    report = compute_agreement(cast.study, scope=Scope(round="main"), resamples=10)
    assert report["final_labels"] is None


@pytest.mark.parametrize(("dropped", "level"), [(0, None), (1, "warning"), (2, "error")])
def test_pages_and_manifests_warn_of_what_was_dropped(
    cast: Cast, dropped: int, level: str | None
) -> None:
    contest(cast, pairs=0)
    for pair in cast.pairs[:dropped]:
        make.make_final_label(pair, None)
    run_agreement(cast.study)
    client = log_in(cast.lia)
    for path in ("results/", "results/exports/"):
        page = client.get(f"/studies/alpha/{path}").content.decode()
        assert ("without its hardest pairs" in page) == (level is not None)
        assert (f"message {level}" in page) == (level is not None)
    warning = {None: None, "warning": "warning", "error": "alarm"}[level]
    assert describe_json(cast.study, "consensus-qrels")["dropped_warning"] == warning


def test_the_markdown_report_tells_it(cast: Cast) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], None)
    run_agreement(cast.study)
    report = render_markdown(cast.study)
    assert "of the pool), more than a few" in report


def test_a_withheld_query_leads_to_its_pairs(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.lia)
    page = client.get("/studies/alpha/results/exports/").content.decode()
    url = "/studies/alpha/results/final-labels/?query=q1"
    assert f'href="{url}"' in page
    rows = client.get(url).context["page"].rows
    assert {row.pair.public_id for row in rows} == {pair.public_id for pair in cast.pairs[:3]}

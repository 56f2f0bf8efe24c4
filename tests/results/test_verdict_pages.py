"""What the results pages say of the diagnosis: the verdict first, each class with its evidence."""

import re

import pytest
from django.test import Client

from results.models import AgreementReport
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import Study
from tests.cast import Cast
from tests.pages import log_in
from tests.results.labelled import label_cast, label_in_many_ways
from tests.results.silent import make_silent

OVERVIEW = "/studies/silent/results/"
SPLITS = f"{OVERVIEW}splits/"
HEADLINE = "The rubric is silent in procedural: mend it there before anything else."


@pytest.fixture
def silent(db: None) -> Study:
    study = make_silent()
    run_agreement(study, scope=Scope())
    return study


@pytest.fixture
def lead(silent: Study) -> Client:
    return log_in(silent.members.get(name="lia"))


def read(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("url", [OVERVIEW, SPLITS])
def test_verdict_stands_before_every_table_with_both_rates(lead: Client, url: str) -> None:
    page = read(lead, url)
    assert page.index(HEADLINE) < page.index("<table")
    assert (
        "27 of 76 pairs of class procedural split (35.5%), against 4 of 124 elsewhere (3.2%)"
    ) in page
    assert "write a clause for class procedural and recheck its pairs, of which 76 are" in page


def test_verdict_leads_to_the_pairs_behind_it(lead: Client) -> None:
    page = read(lead, OVERVIEW)
    link = f'<a class="button" href="{SPLITS}pairs/?class=procedural">'
    assert f"{link}Read the 27 pairs side by side</a>" in page


def test_link_to_the_pairs_keeps_the_scope(silent: Study, lead: Client) -> None:
    run_agreement(silent, scope=Scope(round="main"))
    page = read(lead, f"{OVERVIEW}?round=main")
    assert f'href="{SPLITS}pairs/?round=main&amp;class=procedural"' in page


def test_each_class_is_tagged_by_a_word(lead: Client) -> None:
    page = read(lead, SPLITS)
    tags = re.findall(
        r'<span dir="auto">(\w+)</span> <span class="tag[^>]*>.*?</span> ([a-z ]+)<', page
    )
    assert dict(tags)["procedural"] == "hole"
    assert {dict(tags)["factual"], dict(tags)["policy"]} <= {"noise", "too little data"}
    assert page.index('id="finding-1"><span dir="auto">procedural') > 0


def test_class_shows_direction_citation_and_grades_with_n(lead: Client) -> None:
    page = read(lead, SPLITS)
    finding = page[page.index("<article") : page.index("</article>")]
    assert "ana is higher than ben in 27 of 27 splits between them here" in finding
    pairs = (
        "/studies/silent/results/splits/pairs/?class=procedural&amp;annotator=ana&amp;annotator=ben"
    )
    link = f'<a href="{pairs}">27 : 0</a>'
    assert f'<td class="num">{link}</td> <td class="num">4 : 0</td>' in finding
    assert "against even odds" in finding
    assert '?class=procedural&amp;cites=same_reading">27</a>' in finding
    assert "from 76 pairs of 19 queries" in finding


def test_fisher_is_named_as_the_plain_table_that_decides_nothing(lead: Client) -> None:
    page = read(lead, SPLITS)
    assert "The plain two by two tables" in page
    assert "for the reader, it decides nothing" in page


def test_dimensions_stand_against_each_other_on_splits(silent: Study, lead: Client) -> None:
    report = silent.agreement_reports.get()
    report.payload["decided_by_on_splits"] = [
        ["answerability", "recency", 3],
        ["answerability", "answerability", 28],
    ]
    report.save()
    page = read(lead, SPLITS)
    table = page[page.index("labels that differ and both name a dimension") :]
    first = '>answerability</a></th><td dir="auto">answerability</td>'
    second = '>answerability</a></th><td dir="auto">recency</td>'
    assert table.index(first) < table.index(second)


def test_leniency_is_told_apart_from_holes(silent: Study, lead: Client) -> None:
    report = silent.agreement_reports.get()
    report.payload["leniency"] = [
        {"a": "ana", "b": "ben", "a_higher": 31, "b_higher": 1, "p_value": 0.001, "lenient": "ana"}
    ]
    report.save()
    page = read(lead, SPLITS)
    assert "a habit of a person, and no hole" in page
    assert "<strong>ana is more lenient</strong>" in page


def test_study_with_too_little_data_is_told_so_beside_its_figures(cast: Cast) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    page = read(log_in(cast.lia), "/studies/alpha/results/")
    assert "Too little is labelled twice to say where people split." in page
    assert "too little data" in page
    assert "People split most on procedural queries: 2 of 3 pairs, against 0 of 6" in page


def test_who_is_higher_is_leafed_through_by_twos_those_farthest_apart_first(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("results.views.agreement.TWOS_PER_PAGE", 1)
    label_in_many_ways(cast)
    run_agreement(cast.study, scope=Scope())
    client, url = log_in(cast.lia), "/studies/alpha/results/splits/"
    pages = [client.get(f"{url}?page={number}").context["directions"] for number in (1, 2, 3)]
    rows = [row for page in pages for two in page for row in two]
    payload = AgreementReport.objects.get().payload
    assert len(rows) == len(payload["directions"])
    assert {(row.a, row.b) for row in rows} == {("ana", "ben"), ("ana", "zoe"), ("ben", "zoe")}
    apart = [max(abs(row.a_higher - row.b_higher) for two in page for row in two) for page in pages]
    assert apart == sorted(apart, reverse=True)
    assert 'rel="next" href="?page=2#directions"' in read(client, url)

"""Tables and pictures of the results: as files, on their pages, leading to the pairs."""

import csv
import html
import io
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from xml.etree import ElementTree

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone

from annotation.models import Judgment
from results.page_tables import PAGE_TABLES
from results.pictures import PICTURES
from results.selectors.split_pairs import Wanted, list_split_pairs
from results.services.release import compute_release
from results.services.reports import run_agreement
from results.services.scopes import Scope
from results.tables import TABLES
from results.tables.making import Column
from studies.models import Clause, Member, Round
from studies.services.rubrics import describe_rubric, publish_rubric
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results import taken
from tests.results.calibrated import add_calibration, judge_calibration
from tests.results.labelled import label, label_cast, label_in_many_ways
from tests.results.settling import contest
from tests.results.taken import find_files

URL = "/studies/alpha/results/"
NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def read_csv(response: HttpResponse) -> list[dict[str, str]]:
    text = b"".join(response).decode()  # type: ignore[call-overload]  # a response that streams
    return list(csv.DictReader(io.StringIO(text, newline="")))


def read(client: Client, url: str) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_table_downloads_as_csv(cast: Cast, lead: Client, name: str) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    response = lead.get(f"{URL}tables/{name}.csv")
    assert response.headers["Content-Type"] == "text/csv; charset=utf-8"
    assert f"alpha-{name}.csv" in response.headers["Content-Disposition"]
    rows = read_csv(response)
    assert all(None not in row and None not in row.values() for row in rows)


TABS = {
    "": 8,
    "agreement/": 8,
    "queries/": 1,
    "people/": 2,
    "splits/": 6,
    "splits/third-vote/": 0,
    "splits/pairs/": 1,
    "final-labels/": 2,
    "systems/": 1,
    "rounds/": 2,
    "exports/": 2,
}


def test_every_table_of_every_tab_has_its_file_beside_it(cast: Cast) -> None:
    """On a study that has something for each of them; a file holds rows, as its table does."""
    label_in_many_ways(cast)
    make.make_final_label(cast.pairs[0], None)
    documents = [pair.document.external_id for pair in cast.pairs[:3]]
    make.make_run(cast.study, "bm25", {"q1": documents, "q2": documents, "q3": documents})
    judge_calibration(cast, add_calibration(cast))
    relabel = make.make_round(cast.study, "relabel", kind=Round.Kind.RELABEL, position=2)
    label(relabel, cast.ana, cast.pairs, [0, 1, 2, 0, 1, 2, 0, 0, 0])
    for query in {pair.query_id: pair.query for pair in cast.pairs}.values():
        make.RoundQuery.objects.create(round=relabel, query=query, annotators=1)
    cast.study.rounds.update(closed_at=timezone.now())
    for scope in (Scope(), Scope(round="calibration"), Scope(round="relabel")):
        run_agreement(cast.study, scope=scope)
    compute_release(cast.study)
    lead = log_in(cast.lia)
    for path, tables in TABS.items():
        found = find_files(lead.get(f"{URL}{path}"))
        assert [name for name, files in found.items() if not files] == [], path
        assert len(found) >= tables, path
        for address in {file for files in found.values() for file in files}:
            assert taken.read_csv(lead, address), address


def test_files_of_pages_hold_what_the_filter_finds(cast: Cast, lead: Client) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], None, cause="chunking")
    page = lead.get(f"{URL}final-labels/?kind=tie&state=open")
    (address,) = find_files(page)["Pairs in the order in which they are to be settled"]
    rows = taken.read_csv(lead, address)
    assert {(row["query_id"], row["doc_id"]) for row in rows} == {("q1", "q1-d2"), ("q1", "q1-d3")}
    (settled,) = taken.read_csv(lead, f"{URL}tables/final-labels.csv?dropped=1")
    assert (settled["final_label"], settled["cause"]) == ("dropped", "chunking")
    reasons = taken.read_csv(lead, f"{URL}tables/withheld.csv")
    assert [(row["query_id"], row["reason"], row["pairs"]) for row in reasons] == [
        ("q1", "tie", "2")
    ]


@pytest.mark.parametrize("name", sorted(PAGE_TABLES))
def test_who_still_judges_gets_no_file_of_a_page(cast: Cast, name: str) -> None:
    publish_rubric(study=cast.study, rubric=replace(describe_rubric(cast.rubric), note="Again."))
    response = log_in(cast.uma).get(f"{URL}tables/{name}.csv")
    assert response.status_code == 409
    assert "judge blind in: main" in response.content.decode()


def test_names_that_are_formulas_are_neutralised_and_ids_stay(cast: Cast, lead: Client) -> None:
    Member.objects.filter(pk=cast.ana.pk).update(name="=ana()")
    query = cast.pairs[0].query
    query.external_id, query.text = "=q1", "-what?"
    query.save()
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    (kappa,) = read_csv(lead.get(f"{URL}tables/kappas.csv"))
    assert (kappa["a"], kappa["b"], kappa["pairs"]) == ("'=ana()", "ben", "9")
    (query_row,) = read_csv(lead.get(f"{URL}tables/queries.csv"))
    assert (query_row["query_id"], query_row["query"]) == ("=q1", "'-what?")


def test_headings_that_are_formulas_are_neutralised_too() -> None:
    # Names of dimensions stand in heads.
    assert Column("=now()", "").headings == ["'=now()"]
    assert Column("@sum", "", "interval").headings == ["'@sum_low", "'@sum_high"]
    assert Column("recency", "", "id").headings == ["recency"]


def test_file_holds_unrounded_numbers_and_leaves_the_undefined_empty(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    (kappa,) = read_csv(lead.get(f"{URL}tables/kappas.csv"))
    assert float(kappa["nominal"]) == pytest.approx(34 / 52)
    assert kappa["interval95_low"] == ""


@pytest.mark.parametrize("name", sorted(PICTURES))
def test_every_picture_is_an_svg_file_without_style(cast: Cast, lead: Client, name: str) -> None:
    Member.objects.filter(pk=cast.ana.pk).update(name="<ana>")
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    response = lead.get(f"{URL}pictures/{name}.svg?a=<ana>&b=ben")
    assert response.headers["Content-Type"] == "image/svg+xml"
    assert response.headers["Content-Disposition"].startswith("attachment")
    drawn = ElementTree.fromstring(response.content)
    assert len(list(drawn.iter("{http://www.w3.org/2000/svg}text"))) > 2
    assert b"style" not in response.content


def test_picture_moves_with_the_labels(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    before = lead.get(f"{URL}pictures/confusion.svg?a=ana&b=ben").content
    cast.ben.judgments.filter(pair=cast.pairs[0]).update(grade=0)
    run_agreement(cast.study, scope=Scope())
    assert lead.get(f"{URL}pictures/confusion.svg?a=ana&b=ben").content != before


@pytest.mark.parametrize(
    "path", ["tables/nope.csv", "pictures/nope.svg", "pictures/confusion.svg?a=ana&b=zed"]
)
def test_what_there_is_not_is_404(cast: Cast, lead: Client, path: str) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    assert lead.get(f"{URL}{path}").status_code == 404


@pytest.mark.parametrize("path", ["tables/kappas.csv", "pictures/classes.svg"])
def test_without_numbers_there_is_no_file_and_the_reason_is_told(
    cast: Cast, lead: Client, path: str
) -> None:
    response = lead.get(f"{URL}{path}")
    assert response.status_code == 409
    assert "have them computed first" in response.content.decode()


@pytest.mark.parametrize("path", ["tables/kappas.csv", "pictures/classes.svg"])
def test_who_still_judges_gets_no_file(cast: Cast, path: str) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    assert log_in(cast.uma).get(f"{URL}{path}").status_code == 409


def test_queries_are_listed_by_disagreement_and_far_ones_flagged(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 0, 0, 0, 1, 2, 0, 0, 1])
    label(cast.main, cast.ben, cast.pairs, [1, 0, 0, 2, 2, 2, 0, 0, 1])
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}queries/")
    assert page.index('<a href="/studies/alpha/results/splits/pairs/?query=q2"') < page.index(
        "?query=q1"
    )
    assert page.count("two or more grades apart: 1") == 1
    pairs = read(lead, f"{URL}splits/pairs/?query=q2")
    assert "2 split pairs, side by side" in pairs


def test_cell_of_a_confusion_matrix_leads_to_its_pairs(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    asked = "label=by%3Dana%26grade%3D2&amp;label=by%3Dben%26grade%3D1"
    link = f"splits/pairs/?annotator=ana&amp;annotator=ben&amp;{asked}"
    assert link in read(lead, f"{URL}agreement/")
    assert "1 split pair, side by side" in read(lead, f"{URL}{link.replace('&amp;', '&')}")
    for query in (
        "low=x",
        "cites=x",
        "label=by%3Dnobody",
        "label=grade%3Dx",
        "label=x",
        "label=x%3D1",
    ):
        assert lead.get(f"{URL}splits/pairs/?{query}").status_code == 404


LINK = re.compile(r'href="(/studies/alpha/results/splits/pairs/\?[^"#]+)"[^>]*>(.*?)</a>')


NUMBER = re.compile(r"(?:Read the )?(\d+)(?: pairs side by side)?")


@pytest.mark.parametrize(
    ("path", "people", "numbers"),
    [
        ("", (), 15),
        ("", ("ana", "ben"), 8),
        ("agreement/", (), 10),
        ("splits/", (), 20),
        ("people/", (), 6),
        ("queries/", (), 0),
    ],
)
def test_every_figure_leads_to_as_many_pairs_as_it_says(
    cast: Cast, lead: Client, path: str, people: tuple[str, ...], numbers: int
) -> None:
    """A link that is a number leads to so many pairs, or to all with so many labels of anybody;
    every other one, and a version, to some."""
    label_in_many_ways(cast)
    cast.ben.judgments.filter(pair=cast.pairs[4]).update(decided_by=None, source="import")
    clause = Clause.objects.get(dimension__name="answerability")
    cast.ben.judgments.filter(pair=cast.pairs[5]).update(clause=clause)
    for place, pair in enumerate(cast.pairs):
        Judgment.objects.filter(pair=pair).update(judged_at=NOON + timedelta(minutes=place // 5))
    run_agreement(cast.study, scope=Scope(annotators=people))
    query = "&".join(f"annotator={name}" for name in people)
    links = set(LINK.findall(read(lead, f"{URL}{path}?{query}")))
    counted = [found for found in links if says_number(*found)]
    assert len(counted) >= numbers
    shown = {address: count_shown(lead, address) for address in dict(links)}
    assert min(shown.values()) > 0
    assert [(address, shown[address]) for address, _ in counted] == [
        (address, says_number(address, text)) for address, text in counted
    ]


def says_number(address: str, text: str) -> int | None:
    """The number of pairs that a link speaks of; that of a version is none."""
    number = None if "rubric=" in address else NUMBER.fullmatch(text)
    return int(number[1]) if number else None


def count_shown(client: Client, address: str) -> int:
    """The pairs that a page tells of, or how many labels they have of those that it asks of
    anybody."""
    page = read(client, html.unescape(address))
    shown = re.search(r"with (\d+) such label", page) or re.search(r"<h1> ?(\d+) ", page)
    assert shown, address
    return int(shown[1])


def test_two_sides_of_a_split_cite_what_the_address_names_and_differ(cast: Cast) -> None:
    label_in_many_ways(cast)

    def count(dimension: str, other: str) -> int:
        wanted = Wanted(dimension=dimension, other_dimension=other)
        return len(list_split_pairs(cast.study, Scope(), wanted, limit=None))

    # All six splits are between ana and ben, who cite answerability. Zoe, who cites recency,
    # differs from ben in four of them and from ana in none.
    assert count("answerability", "answerability") == 6
    assert count("answerability", "recency") == 4
    assert count("recency", "recency") == 0


def test_periods_lead_to_their_pairs_and_are_drawn(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    for place, pair in enumerate(cast.pairs):
        Judgment.objects.filter(pair=pair).update(judged_at=NOON + timedelta(hours=place))
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}agreement/")
    assert "from=2026-05-01T12%3A00%3A00%2B00%3A00&amp;to=" in page
    assert page.count('<line class="value"', page.index("made over-time")) >= 8


def test_half_of_the_pairs_took_at_most_a_time_that_people_can_read(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}people/")
    assert "Half of the pairs took at most 4 s, all labels of a pair together (n = 9 pairs)" in page


def test_three_annotators_stand_in_a_matrix_with_their_n(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    label(cast.main, zoe, cast.pairs[:4], [0, 1, 2, 0])
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}agreement/")
    matrix = page[
        page.index("κ of every two annotators</")
        if "κ of every two annotators</" in page
        else page.index("heat matrix") :
    ]
    assert "<small>n 9</small>" in matrix
    assert "<small>n 4</small>" in matrix


def test_high_agreement_with_low_kappa_is_explained_with_ac1(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 0, 0, 0, 0, 0, 0, 0, 1])
    label(cast.main, cast.ben, cast.pairs, [0, 0, 0, 0, 0, 0, 0, 1, 1])
    label(cast.main, make.make_member(cast.study, "zoe", with_account=False), cast.pairs, [0] * 9)
    run_agreement(cast.study, scope=Scope())
    assert "High agreement, low κ" in read(lead, f"{URL}agreement/")


def test_people_are_shown_with_labels_dimensions_and_time(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}people/")
    assert "What decided, annotator by annotator" in page
    assert 'data-label="timed judgments">9</td><td class="num" data-label="median">2 s</td>' in page


def test_most_frequent_cause_that_comes_back_is_to_be_mended_first(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    for pair, cause in zip(
        cast.pairs, ["chunking", "operator_slip", "operator_slip", "operator_slip"], strict=False
    ):
        make.make_final_label(pair, 1, cause=cause)
    run_agreement(cast.study, scope=Scope())
    page = read(lead, f"{URL}splits/")
    assert "Mend chunking first: it is behind 1 of the 4 settled pairs" in page
    assert '<th scope="row" dir="auto">operator slip</th> <td class="num">3</td>' in page


def test_study_without_classes_is_told_so_instead_of_empty_tables(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    report = run_agreement(cast.study, scope=Scope())
    report.payload["classes"] = []
    report.save()
    for path in ("", "splits/"):
        page = read(lead, f"{URL}{path}")
        assert "The study has no query classes" in page
        assert "Split rate of each class" not in page

"""Pairs side by side: which, in which groups, for whom, and as a table."""

import csv
import io
from datetime import UTC, datetime, timedelta

import pytest
from django.core.files.base import ContentFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Judgment
from results.selectors.split_pairs import SplitGroup, Wanted, list_groups, list_split_pairs
from results.services.scopes import Scope
from studies.models import ControlPair, Round, Study
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in
from tests.results.labelled import add_pairs, label, label_cast
from tests.results.silent import add_class, make_silent

PNG = b"\x89PNG\r\n\x1a\n"
URL = "/studies/alpha/results/splits/pairs/"
CSV = "/studies/alpha/results/splits/pairs.csv"


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def read(client: Client, url: str = URL) -> str:
    response = client.get(url)
    assert response.status_code == 200
    return " ".join(response.content.decode().split())


def read_csv(client: Client, url: str = CSV) -> list[dict[str, str]]:
    response = client.get(url)
    assert response.status_code == 200
    return list(csv.DictReader(io.StringIO(b"".join(response).decode())))


# Frozen, so one default serves all.
def count(study: Study, scope: Scope = Scope(), **wanted: object) -> int:  # noqa: B008
    # The filters of each case.
    groups = list_groups(study, scope, Wanted(**wanted))  # type: ignore[arg-type]
    return sum(group.pairs for group in groups)


def test_largest_group_comes_first_then_the_widest_split(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 0, 1, 2, 0, 0, 0, 0, 0])
    label(cast.main, cast.ben, cast.pairs, [1, 1, 0, 0, 0, 0, 0, 0, 0])
    assert list_groups(cast.study, Scope(), Wanted()) == [
        SplitGroup(0, 1, ("ben",), ("ana",), 2),
        SplitGroup(0, 2, ("ana",), ("ben",), 1),
        SplitGroup(0, 1, ("ana",), ("ben",), 1),
    ]


def test_pairs_come_in_the_order_of_their_groups_with_labels_highest_first(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs, [0, 0, 1, 2, 0, 0, 0, 0, 0])
    label(cast.main, cast.ben, cast.pairs, [1, 1, 0, 0, 0, 0, 0, 0, 0])
    pairs = list_split_pairs(cast.study, Scope(), Wanted(), limit=10)
    assert [(pair.place, pair.key) for pair in pairs] == [
        (1, cast.pairs[0].pk),
        (1, cast.pairs[1].pk),
        (2, cast.pairs[3].pk),
        (3, cast.pairs[2].pk),
    ]
    assert [(row.annotator, row.grade) for row in pairs[0].labels] == [("ben", 1), ("ana", 0)]


def test_page_shows_both_readings_with_dimension_clause_and_note(cast: Cast, lead: Client) -> None:
    pair = cast.pairs[0]
    make.make_judgment(cast.main, pair, cast.ana, 2, clause="procedural", note="All steps.")
    make.make_judgment(cast.main, pair, cast.ben, 0, decided_by="recency", note="Old <form>.")
    page = read(lead)
    assert "1 split pair, side by side" in page
    for words in ("All steps.", "Old &lt;form&gt;.", "answerability", "recency", "procedural"):
        assert words in page
    assert page.index("All steps.") < page.index("Old &lt;form&gt;.")


def test_unsure_is_shown_and_splits_nothing(cast: Cast, lead: Client) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [2, 1])
    label(cast.main, cast.ben, cast.pairs[:2], [0, None])
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    label(cast.main, zoe, cast.pairs[:1], [None])
    page = read(lead)
    assert "1 split pair, side by side" in page
    assert "unsure" in page


@pytest.mark.parametrize(
    ("query", "pairs"),
    [
        ("", 4),
        ("?class=procedural", 3),
        ("?class=factual", 1),
        ("?annotator=ana&annotator=ben", 3),
        ("?annotator=ben&annotator=zoe", 1),
        ("?annotator=zoe", 2),
        ("?annotator=ben&low=0&high=1", 2),
        ("?dimension=recency", 1),
        ("?dimension=recency&class=factual", 0),
    ],
)
def test_filters_stand_in_the_address(cast: Cast, lead: Client, query: str, pairs: int) -> None:
    label(cast.main, cast.ana, cast.pairs[:4], [0, 1, 2, 0])
    label(cast.main, cast.ben, cast.pairs[1:4], [0, 1, 1])
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    make.make_judgment(cast.main, cast.pairs[0], zoe, 1, decided_by="recency")
    make.make_judgment(cast.main, cast.pairs[1], zoe, 1)
    word = "split pair" if pairs == 1 else "split pairs"
    assert f"{pairs} {word}" in read(lead, URL + query)
    assert len({(row["query_id"], row["doc_id"]) for row in read_csv(lead, CSV + query)}) == pairs


@pytest.mark.parametrize(
    "query",
    [
        "?class=nope",
        "?annotator=sid",
        "?dimension=charm",
        "?round=nope",
        "?rubric=9",
        "?from=yesterday",
        "?to=2026-01-01T00:00:00",
        "?from=0001-01-01T00:00:00%2B14:00",
    ],
)
@pytest.mark.parametrize("url", [URL, CSV])
def test_filter_of_nothing_known_is_404(cast: Cast, lead: Client, url: str, query: str) -> None:
    assert lead.get(url + query).status_code == 404


def test_pairs_that_did_not_split_are_shown_where_asked_for(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    assert "3 pairs labelled alike" in read(lead, f"{URL}?alike=1&low=1&high=1")
    told = {row["relevance"] for row in read_csv(lead, f"{CSV}?alike=1&low=1&high=1")}
    assert told == {"1"}


def test_the_moment_of_the_last_label_bounds_the_pairs(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    first = datetime(2026, 5, 1, 8, 30, 15, 400_000, tzinfo=UTC)
    for place, pair in enumerate(cast.pairs):
        moment = first + timedelta(hours=place)
        Judgment.objects.filter(pair=pair).update(judged_at=moment)
    early = "from=2026-05-01T08:30:15%2B00:00&to=2026-05-01T08:30:15%2B00:00"
    assert "1 split pair, side by side" in read(lead, f"{URL}?{early}")
    later = "from=2026-05-01T09:30:15%2B00:00&to=2026-05-01T16:30:15%2B00:00"
    assert "1 split pair, side by side" in read(lead, f"{URL}?{later}")
    assert "0 split pairs" in read(lead, f"{URL}?from=2026-05-01T16:30:16%2B00:00")


def test_machines_surplus_controls_and_other_rounds_stay_outside(cast: Cast) -> None:
    label(cast.main, cast.ana, cast.pairs[:4], [0, 0, 0, 0])
    machine = make.make_member(cast.study, "llm", with_account=False, is_machine=True)
    label(cast.main, machine, cast.pairs[:1], [2])
    make.make_judgment(cast.main, cast.pairs[1], cast.ben, 2, is_surplus=True)
    ControlPair.objects.create(pair=cast.pairs[2], grade=0, decided_by="recency")
    label(cast.main, cast.ben, cast.pairs[2:3], [2])
    calibration = make.make_round(cast.study, "calibration-1", kind=Round.Kind.CALIBRATION)
    label(calibration, cast.ana, cast.pairs[3:5], [0, 1])
    label(calibration, cast.ben, cast.pairs[3:5], [2, 1])
    assert count(cast.study) == 0
    assert count(cast.study, Scope(round="calibration-1")) == 1


def test_recheck_takes_the_place_of_the_label_it_renews(cast: Cast) -> None:
    label_cast(cast)
    recheck = make.make_round(cast.study, "recheck", kind=Round.Kind.RECHECK, position=1)
    label(recheck, cast.ben, cast.pairs[:1], [0])
    assert count(cast.study) == 1
    assert count(cast.study, Scope(round="main")) == 2


def test_splits_are_those_of_the_report(db: None) -> None:
    study = make_silent()
    assert count(study) == 31
    assert count(study, query_class="procedural") == 27
    assert count(study, Scope(round="main"), query_class="procedural") == 27


def test_pages_go_on_where_the_one_before_ended(db: None) -> None:
    study = make_silent()
    client = log_in(study.members.get(name="lia"))
    url = "/studies/silent/results/splits/pairs/"
    first, second = read(client, url), read(client, f"{url}?class=&page=2")
    assert (first.count("<article"), second.count("<article")) == (20, 11)
    assert 'href="?page=2">Next' in first
    assert "continued" in second
    assert "page 2 of 2" in second


def test_csv_holds_a_line_for_each_label_and_no_formula(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    Judgment.objects.filter(annotator=cast.ana, pair=cast.pairs[0]).update(note="=1+1")
    rows = read_csv(lead)
    assert len(rows) == 4
    assert {row["annotator"]: row["relevance"] for row in rows if row["doc_id"] == "q1-d1"} == {
        "ben": "1",
        "ana": "0",
    }
    assert "'=1+1" in {row["note"] for row in rows}


def test_lead_who_still_judges_sees_no_pairs(cast: Cast) -> None:
    label_cast(cast)
    client = log_in(cast.uma)
    page = read(client)
    assert "You are still judging" in page
    assert "split pair" not in page
    refused = client.get(CSV)
    assert refused.status_code == 409
    assert "You still have pairs to judge blind in: main." in refused.content.decode()


@pytest.mark.parametrize("url", [URL, CSV])
@pytest.mark.parametrize("person", ["ana", "ada", "sid", "sue"])
def test_who_is_not_in_charge_gets_404(cast: Cast, url: str, person: str) -> None:
    assert log_in(cast.user(person)).get(url).status_code == 404


def test_queries_do_not_grow_with_the_splits(cast: Cast, lead: Client) -> None:
    label_cast(cast)
    lead.get(URL)
    with CaptureQueriesContext(connection) as few:
        lead.get(URL)
    zoe = make.make_member(cast.study, "zoe", with_account=False)
    add_class(cast.study, "policy", 40, 30)
    pairs = add_pairs(cast, "definition", 6)
    label(cast.main, cast.ana, pairs, [0, 1, 2, 0, 1, 2])
    label(cast.main, zoe, pairs, [1, 0, 0, 2, 2, 1])
    lead.get(URL)
    with CaptureQueriesContext(connection) as many:
        lead.get(URL)
    assert len(many) == len(few)


def test_image_is_shown_beside_its_labels_and_every_document_can_be_read_whole(
    cast: Cast, lead: Client
) -> None:
    label_cast(cast)
    document = cast.pairs[0].document
    document.body.image.save("shot.png", ContentFile(PNG))
    document.body.image.close()
    page = read(lead)
    shown = f"/studies/alpha/adjudicate/images/{cast.pairs[0].public_id}/"
    assert f'<img src="{shown}" loading="lazy" alt="Image of the document A title' in page
    assert page.count("<img ") == 1
    assert b"".join(lead.get(shown)) == PNG  # type: ignore[arg-type]  # a response that streams
    whole = f"/studies/alpha/results/final-labels/{cast.pairs[2].public_id}/"
    assert f'href="{whole}"' in page
    assert "Some text." in read(lead, whole)

"""The splits of a calibration round side by side: opened once, without names, noted, exported."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Judgment
from results.models import CalibrationNote
from studies.models import Action, Document, Job, Pair, Round
from studies.services.rounds import close_round
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.calibrated import COMPARISON, add_calibration, judge_calibration
from tests.site.addresses import ask, fill_in, watch_parameters
from tests.site.test_permissions import MATRIX

pytestmark = pytest.mark.django_db
HTMX = {"HX-Request": "true"}
QUERY = "?round=calibration"
NAMES = ("<bdi>ana</bdi>", "<bdi>ben</bdi>")
ADDRESSES = [
    path
    for name, (path, method, allowed) in MATRIX.items()
    if name.startswith("results:") and method == "get" and "lia" in allowed
]


@pytest.fixture
def calibration(cast: Cast) -> Round:
    round = add_calibration(cast)
    judge_calibration(cast, round)
    return round


@pytest.fixture
def lead(cast: Cast) -> Client:
    return log_in(cast.lia)


def open_it(lead: Client) -> None:
    form = read_forms(lead.get(COMPARISON + QUERY))["open-form"]
    assert post_form(lead, form, "").url == COMPARISON + QUERY


def note_form(lead: Client, pair: Pair):
    return read_forms(lead.get(COMPARISON + QUERY))[f"note-{pair.public_id}"]


def test_before_it_is_opened_the_page_tells_what_that_does_and_shows_no_label(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    Judgment.objects.filter(round=calibration, annotator=cast.ben).first().delete()
    page = lead.get(COMPARISON + QUERY)
    text = page.content.decode()
    assert "ana says" not in text
    # ben's deleted one, and uma, who annotates too, has given none of six.
    assert page.context["page"].missing == 7
    assert lead.get(COMPARISON + "notes.md" + QUERY).status_code == 404
    assert lead.post(COMPARISON + "names/", {"round": "calibration"}).status_code == 404
    calibration.refresh_from_db()
    assert calibration.closed_at is None


def test_who_reads_the_notes_by_their_address_alone_judges_no_longer_blind(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    again = make.make_round(cast.study, "again", kind=Round.Kind.RELABEL, position=2)
    cast.study.judges_read_results = True
    cast.study.save()
    assert log_in(cast.uma).get(COMPARISON + "notes.md" + QUERY).status_code == 200
    assert [one.round for one in cast.uma.unblindings.all()] == [again]


def test_opening_closes_the_round_once_and_asks_for_its_numbers(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    calibration.refresh_from_db()
    closed_at = calibration.closed_at
    assert closed_at is not None
    assert Job.objects.get().arguments == {"scope": "round:calibration"}
    lead.post(COMPARISON + "open/", {"round": "calibration"})
    calibration.refresh_from_db()
    assert calibration.closed_at == closed_at
    assert Action.objects.filter(name="round.closed").count() == 1
    assert Action.objects.filter(name="comparison.opened").count() == 1


def test_after_it_is_opened_no_label_of_the_round_changes(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    ana = log_in(cast.ana)
    own = Judgment.objects.filter(round=calibration, annotator=cast.ana).first()
    address = f"/studies/alpha/labels/{own.public_id}/"
    form = read_forms(ana.get(address))["judgment-form"]
    open_it(lead)
    answer = post_form(ana, form, address, grade="0", decided_by="recency")
    assert answer.status_code == 409
    own.refresh_from_db()
    assert own.grade == 2


def test_splits_stand_with_both_readings_and_notes_and_without_names(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    page = lead.get(COMPARISON + QUERY)
    shown = page.context["page"]
    assert (shown.total, len(shown.splits), shown.has_names) == (3, 3, False)
    text = page.content.decode()
    assert all(f"ana says {place}" in text for place in range(3))
    assert "ana says 3" not in text
    assert not any(name in text for name in NAMES)
    assert {split.suggested for split in shown.splits} == {"slip", "underspecified"}
    by_pair = {split.pair.key: split for split in shown.splits}
    assert [by_pair[pair.pk].suggested for pair in cast.pairs[:3]] == [
        "slip",
        "underspecified",
        "underspecified",
    ]


def test_a_document_without_a_title_is_not_named_by_its_id(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    """Who reads the comparison may judge on, and takes its notes to those who do."""
    Document.objects.update(title="")
    open_it(lead)
    for page in (COMPARISON, COMPARISON + "notes.md"):
        text = lead.get(page + QUERY).content.decode()
        assert "Untitled document" in text
        assert cast.pairs[0].document.external_id not in text


def test_names_are_shown_when_asked_for_and_the_log_keeps_it(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    form = read_forms(lead.get(COMPARISON + QUERY))["names-form"]
    text = post_form(lead, form, "").content.decode()
    assert all(name in text for name in NAMES)
    asked = Action.objects.get(name="names.shown")
    assert (asked.member, asked.data) == (cast.lia, {"round": "calibration"})
    assert not any(name in lead.get(COMPARISON + QUERY).content.decode() for name in NAMES)


def test_a_split_is_classified_with_a_note(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    pair = cast.pairs[1]
    answer = post_form(lead, note_form(lead, pair), "", kind="undecided", note="No rule.")
    assert answer.status_code == 302
    assert answer.url.endswith(f"#split-{pair.public_id}")
    saved = CalibrationNote.objects.get()
    assert (saved.pair, saved.kind, saved.note, saved.by) == (
        pair,
        "undecided",
        "No rule.",
        cast.lia,
    )
    assert Action.objects.get(name="calibration.noted").data["kind"] == "undecided"
    page = lead.get(COMPARISON + QUERY).context["page"]
    assert (page.noted, dict(page.counts)["undecided"]) == (1, 1)


def test_with_htmx_only_the_split_comes_back(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    form = note_form(lead, cast.pairs[0])
    answer = post_form(lead, form, "", kind="slip", note="Read too fast.", headers=HTMX)
    text = answer.content.decode()
    assert "<html" not in text
    assert "Read too fast." in text
    assert f"note-{cast.pairs[0].public_id}" in read_forms(answer)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_without_a_kind_nothing_is_saved_and_what_was_typed_stays(
    cast: Cast, calibration: Round, lead: Client, headers: dict[str, str]
) -> None:
    open_it(lead)
    form = note_form(lead, cast.pairs[0])
    answer = post_form(lead, form, "", kind="", note="typed so far", headers=headers)
    assert answer.status_code == 422
    text = answer.content.decode()
    assert "Choose what the split is." in text
    assert "typed so far" in text
    assert not CalibrationNote.objects.exists()


def test_who_saves_second_sees_both(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    pair = cast.pairs[0]
    late = note_form(lead, pair)
    post_form(log_in(cast.max), note_form(lead, pair), "", kind="slip", note="mine first")
    answer = post_form(lead, late, "", kind="undecided", note="mine second")
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "mine first" in text
    assert "mine second" in text
    again = read_forms(answer)[f"note-{pair.public_id}"]
    assert post_form(lead, again, "").status_code == 302
    assert CalibrationNote.objects.get().note == "mine second"


@pytest.mark.django_db(transaction=True)
def test_of_two_who_save_at_once_one_is_told(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    form = note_form(lead, cast.pairs[0])
    clients = [log_in(cast.lia), log_in(cast.max)]
    answers = run_together(
        [
            lambda one=one: post_form(one, form, "", kind="slip", note="x").status_code
            for one in clients
        ]
    )
    assert sorted(answers) == [302, 409]
    assert CalibrationNote.objects.get().edition == 1


def test_only_splits_of_the_round_take_a_note(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    data = {"round": "calibration", "kind": "slip", "edition": "0"}
    agreed, elsewhere = cast.pairs[4], cast.pairs[8]
    for pair in (agreed, elsewhere):
        assert lead.post(f"{COMPARISON}{pair.public_id}/", data).status_code == 404


def test_notes_are_exported_as_markdown_without_names(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    form = note_form(lead, cast.pairs[1])
    post_form(lead, form, "", kind="undecided", note="*Every* step?\nIn order?")
    answer = lead.get(COMPARISON + "notes.md" + QUERY)
    text = answer.content.decode()
    assert text.startswith("# Calibration notes: Alpha help centre, round calibration")
    assert "3 splits, 1 of them noted." in text
    assert "**undecided**" in text
    assert "> \\*Every\\* step?\n> In order?" in text
    assert text.count("Not noted yet.") == 2
    assert "ben" not in text
    assert text.endswith("\n")
    assert "attachment" in answer["Content-Disposition"]


def test_only_who_reads_results_compares_and_only_calibration_rounds(
    cast: Cast, calibration: Round
) -> None:
    for member in (cast.ana, cast.ada, cast.sid):
        client = log_in(member)
        assert client.get(COMPARISON + QUERY).status_code == 404
        assert client.post(COMPARISON + "open/", {"round": "calibration"}).status_code == 404
    lead = log_in(cast.max)
    assert lead.get(COMPARISON + "?round=main").status_code == 404
    assert lead.get(COMPARISON).status_code == 404
    calibration.refresh_from_db()
    assert calibration.closed_at is None


def test_who_is_to_judge_pairs_again_blind_does_not_see_the_splits(
    cast: Cast, calibration: Round, lead: Client
) -> None:
    open_it(lead)
    relabel = make.make_round(cast.study, "again", kind=Round.Kind.RELABEL)
    make.RoundQuery.objects.create(round=relabel, query=cast.pairs[0].query, annotators=None)
    page = log_in(cast.uma).get(COMPARISON + QUERY)
    assert "You are still judging" in page.content.decode()
    assert "ana says" not in page.content.decode()


def test_queries_do_not_grow_with_splits(cast: Cast, calibration: Round, lead: Client) -> None:
    open_it(lead)
    lead.get(COMPARISON + QUERY)
    with CaptureQueriesContext(connection) as few:
        lead.get(COMPARISON + QUERY)
    for pair in cast.pairs[3:6]:
        Judgment.objects.filter(round=calibration, pair=pair, annotator=cast.ben).update(grade=1)
    lead.get(COMPARISON + QUERY)
    with CaptureQueriesContext(connection) as many:
        assert lead.get(COMPARISON + QUERY).context["page"].total == 6
    assert len(many) == len(few)


def test_labels_of_an_open_calibration_round_are_shown_nowhere_else(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    round = add_calibration(cast)
    judge_calibration(cast, round)
    lead, parameters = log_in(cast.lia), watch_parameters(monkeypatch)
    refused = []
    for path in ADDRESSES:
        bare = fill_in(cast, path).partition("?")[0]
        parameters.clear()
        ask(lead, f"{bare}?something=else")
        if "round" in parameters:
            refused.append(f"{bare}?round={round.name}")
    assert [url for url in refused if ask(lead, url).status_code != 400] == []
    assert len(refused) >= 9
    close_round(round=round, user=None)
    assert [url for url in refused if ask(lead, url).status_code == 400] == []

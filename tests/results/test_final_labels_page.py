"""The tab of final labels: counts, filters, one pair, names, history, reopening."""

import html
import re

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import AgreementReport, FinalLabel
from results.services.reports import run_agreement
from studies.models import Action, ControlPair, Round
from tests import factories as make
from tests.cast import Cast, make_cast
from tests.pages import log_in, read_forms
from tests.results.exported import judge, judge_all
from tests.results.settling import DECISION, contest

TAB = "/studies/alpha/results/final-labels/"
REOPEN = f"{TAB}reopen/"
TITLE = "Alpha help centre"
COUNT = re.compile(rf'href="({TAB}\?kind=[^"]*)">(\d+)</a>')


def pair_url(cast: Cast, place: int = 0) -> str:
    return f"{TAB}{cast.pairs[place].public_id}/"


def test_the_tab_counts_what_the_results_count(cast: Cast) -> None:
    contest(cast, pairs=4)
    make.make_final_label(cast.pairs[0], None, cause="chunking")
    ControlPair.objects.create(pair=cast.pairs[1], grade=1, decided_by="recency")
    lead = log_in(cast.lia)
    response = lead.get(TAB)
    page = response.context["page"]
    ties = next(row for row in page.kinds if row.label == "ties")
    assert (ties.open, ties.waiting, ties.settled, ties.total) == (3, 0, 1, 4)
    assert (page.splits, page.control_splits, page.final, page.dropped) == (3, 1, 1, 1)
    counts = COUNT.findall(response.content.decode())
    assert [int(count) for _, count in counts] == [3, 1, 4]
    for address, count in counts:
        found = lead.get(html.unescape(address)).context["page"]
        assert found.matching == int(count)


@pytest.mark.parametrize(
    ("query", "matching"),
    [
        ("", 4),
        ("?class=procedural", 3),
        ("?kind=tie&state=open", 2),
        ("?kind=unsure", 0),
        ("?cause=chunking", 1),
        ("?dropped=1", 1),
        ("?query=q2", 3),
        ("?query=q9", 0),
        ("?kind=nonsense&page=nine", 4),
    ],
)
def test_filters_narrow_the_list(cast: Cast, query: str, matching: int) -> None:
    contest(cast, pairs=4)
    make.make_final_label(cast.pairs[0], None, cause="chunking")
    make.make_final_label(cast.pairs[3], 1, cause="operator_slip")
    assert log_in(cast.max).get(f"{TAB}{query}").context["page"].matching == matching


def test_final_labels_that_a_later_rubric_concerns_are_listed_and_no_others(cast: Cast) -> None:
    """All stay in force; listed is what the new test of recency can concern."""
    contest(cast)
    make.make_final_label(cast.pairs[0], 1, decided_by="recency")
    make.make_final_label(cast.pairs[1], 1, decided_by="authority")
    newer = make.make_rubric(
        cast.study, clauses={"answerability": {"procedural": ("procedural",)}}, publish=False
    )
    newer.dimensions.filter(name="recency").update(test="Does its date matter?")
    newer.published_at = timezone.now()
    newer.save()
    make.make_final_label(cast.pairs[2], 1, decided_by="recency", rubric_version=newer)
    page = log_in(cast.max).get(f"{TAB}?recheck=1").context["page"]
    assert [row.pair.public_id for row in page.rows] == [cast.pairs[0].public_id]
    assert log_in(cast.max).get(TAB).context["page"].final == 3


def test_a_rubric_that_says_the_same_lists_no_final_label(cast: Cast) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], 1, cause="rubric_ambiguity")
    make.make_rubric(cast.study, clauses={"answerability": {"procedural": ("procedural",)}})
    assert log_in(cast.max).get(f"{TAB}?recheck=1").context["page"].matching == 0


def test_pages_follow_one_another(db: None) -> None:
    cast = make_cast(queries=18)
    contest(cast, pairs=54)
    client = log_in(cast.max)
    first = client.get(f"{TAB}?kind=tie")
    assert len(first.context["page"].rows) == 50
    assert 'href="?kind=tie&amp;page=2"' in first.content.decode()
    second = client.get(f"{TAB}?kind=tie&page=2").context["page"]
    assert len(second.rows) == 4
    shown = {row.pair.id for row in [*first.context["page"].rows, *second.rows]}
    assert len(shown) == 54


def test_queries_do_not_grow_with_the_queue(cast: Cast) -> None:
    contest(cast, pairs=2)
    client = log_in(cast.max)

    def count() -> int:
        client.get(TAB)
        with CaptureQueriesContext(connection) as queries:
            client.get(TAB)
        return len(queries)

    before = count()
    judge(cast.main, cast.pairs, cast.uma, [0] * 9)
    for place in range(5):
        make.make_final_label(cast.pairs[place], 1, by=cast.ada)
    assert count() == before


def test_classes_with_an_open_hole_come_before_others(cast: Cast) -> None:
    contest(cast, pairs=6)
    run_agreement(cast.study)
    report = AgreementReport.objects.get()
    report.payload["classes"] = [{"class": "factual", "verdict": "hole"}]
    report.save()
    rows = log_in(cast.max).get(TAB).context["page"].rows
    assert [row.pair.is_hole for row in rows] == [True] * 3 + [False] * 3
    shown = log_in(cast.ada).get("/studies/alpha/adjudicate/").context["case"]
    assert shown.item.query_class == "factual"


def test_an_admin_sets_a_final_label_for_an_agreed_pair_too(cast: Cast) -> None:
    contest(cast, pairs=1)
    client, url = log_in(cast.max), pair_url(cast, 5)
    form = read_forms(client.get(url))["judgment-form"]
    assert "cause" not in form.choices
    fields = {"grade": "2", "decided_by": "authority", "reason": "Both overlooked the table."}
    response = client.post(form.action, form.fields | fields)
    assert (response.status_code, response.url) == (302, url)
    final = FinalLabel.objects.get()
    assert (final.grade, final.by, final.cause) == (2, cast.max, "")


def test_an_admin_revises_and_the_history_is_shown(cast: Cast) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], 0, by=cast.ada, reason="Too old.", cause="chunking")
    client, url = log_in(cast.max), pair_url(cast)
    form = read_forms(client.get(url))["judgment-form"]
    assert (form.fields["grade"], form.fields["reason"], form.fields["cause"]) == (
        "0",
        "Too old.",
        "chunking",
    )
    assert client.post(url, form.fields | DECISION).status_code == 302
    page = client.get(url)
    assert (page.context["case"].standing.grade, page.context["case"].standing.by) == ("1", "max")
    (earlier,) = page.context["case"].history
    assert (earlier.reason, earlier.by, earlier.ended_by) == ("Too old.", "ada", "max")
    assert "1 earlier decision" in page.content.decode()


def test_half_a_decision_of_an_admin_is_refused(cast: Cast) -> None:
    contest(cast)
    client, url = log_in(cast.max), pair_url(cast)
    form = read_forms(client.get(url))["judgment-form"]
    response = client.post(url, form.fields | DECISION | {"reason": ""})
    assert response.status_code == 422
    assert not FinalLabel.objects.exists()


def test_a_late_answer_of_an_admin_keeps_what_was_typed(cast: Cast) -> None:
    contest(cast)
    client, url = log_in(cast.max), pair_url(cast)
    form = read_forms(client.get(url))["judgment-form"]
    make.make_final_label(cast.pairs[0], 0, by=cast.ada, reason="Too old.")
    response = client.post(url, form.fields | DECISION)
    assert response.status_code == 409
    told = read_forms(response)["judgment-form"]
    assert told.fields["reason"] == DECISION["reason"]
    assert "Too old." in response.content.decode()
    assert client.post(url, told.fields | DECISION).status_code == 302


def test_a_form_of_another_pair_is_refused(cast: Cast) -> None:
    contest(cast)
    client = log_in(cast.max)
    form = read_forms(client.get(pair_url(cast)))["judgment-form"]
    assert client.post(pair_url(cast, 1), form.fields | DECISION).status_code == 409
    assert not FinalLabel.objects.exists()


def test_names_are_shown_by_an_act_that_the_log_keeps(cast: Cast) -> None:
    contest(cast)
    client, url = log_in(cast.max), pair_url(cast)
    page = client.get(url).content.decode()
    assert "<bdi>ana</bdi>" not in page
    assert not Action.objects.filter(name="names.shown").exists()
    shown = client.post(f"{url}names/").content.decode()
    assert "<bdi>ana</bdi>" in shown
    assert "<bdi>ben</bdi>" in shown
    action = Action.objects.get(name="names.shown")
    assert (action.member, action.data) == (cast.max, {"query_id": "q1", "doc_id": "q1-d1"})
    assert "<bdi>ana</bdi>" not in client.get(url).content.decode()


def reopening(**changes: str) -> dict[str, str]:
    return {"count": "2", "title": TITLE, "reason": "The clause changed."} | changes


def test_reopening_ends_what_the_filter_shows_and_nothing_else(cast: Cast) -> None:
    contest(cast, pairs=4)
    for place, cause in enumerate(["chunking", "chunking", "operator_slip"]):
        make.make_final_label(cast.pairs[place], 1, cause=cause)
    client = log_in(cast.max)
    form = read_forms(client.get(f"{TAB}?cause=chunking"))[REOPEN]
    assert (form.fields["count"], form.fields["cause"]) == ("2", "chunking")
    response = client.post(REOPEN, form.fields | reopening())
    assert (response.status_code, response.url) == (302, TAB)
    assert FinalLabel.objects.get(ended_at=None).cause == "operator_slip"
    assert Action.objects.filter(name="final_label.reopened").count() == 2


@pytest.mark.parametrize(
    ("changes", "status", "sentence"),
    [
        ({"title": "alpha"}, 422, "Type the study&#x27;s name"),
        ({"reason": " "}, 422, "Write why they are reopened"),
        ({"count": "3"}, 409, "Nothing was reopened"),
        ({"count": ""}, 422, "error"),
    ],
)
def test_reopening_needs_the_name_a_reason_and_the_number_that_was_shown(
    cast: Cast, changes: dict[str, str], status: int, sentence: str
) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], 1)
    make.make_final_label(cast.pairs[1], 1)
    response = log_in(cast.max).post(REOPEN, reopening(**changes))
    assert response.status_code == status
    assert sentence in response.content.decode()
    assert FinalLabel.objects.filter(ended_at=None).count() == 2


def test_a_lead_reads_the_tab_and_changes_nothing(cast: Cast) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], 1)
    client = log_in(cast.lia)
    page = client.get(TAB)
    assert REOPEN not in page.content.decode()
    assert client.post(pair_url(cast), DECISION).status_code == 404
    assert client.post(REOPEN, reopening()).status_code == 404
    assert client.post(f"{pair_url(cast)}names/").status_code == 404


@pytest.mark.parametrize("who", ["ana", "ada", "sid"])
def test_for_others_there_is_no_such_tab(cast: Cast, who: str) -> None:
    contest(cast)
    client = log_in(getattr(cast, who))
    assert client.get(TAB).status_code == 404


def test_an_admin_who_still_judges_sees_none_of_it(cast: Cast) -> None:
    judge_all(cast, ana=[0], ben=[2])
    client = log_in(cast.uma)
    for response in (
        client.get(TAB),
        client.get(pair_url(cast)),
        client.post(f"{pair_url(cast)}names/"),
        client.post(REOPEN, reopening()),
    ):
        assert "You are still judging" in response.content.decode()
    Round.objects.update(closed_at=timezone.now())
    assert client.get(pair_url(cast)).context["case"].labels


def test_a_lead_reads_a_pair_with_its_history_and_decides_nothing(cast: Cast) -> None:
    contest(cast)
    make.make_final_label(cast.pairs[0], 0, by=cast.ada, reason="Too old.", cause="chunking")
    client, url = log_in(cast.lia), pair_url(cast)
    assert f'href="{url}"' in client.get(TAB).content.decode()
    page = client.get(url)
    told = page.content.decode()
    assert "Too old." in told
    assert "What you had written" not in told
    assert "judgment-form" not in read_forms(page)
    assert "<bdi>ana</bdi>" not in told
    assert client.post(url, DECISION).status_code == 404
    assert client.post(f"{url}names/").status_code == 404


def test_who_labelled_a_pair_reads_its_page_and_settles_it_only_where_the_study_allows(
    cast: Cast,
) -> None:
    contest(cast, pairs=1)
    cast.ana.roles = ["annotator", "admin"]
    cast.ana.save()
    cast.study.rounds.update(closed_at=timezone.now())
    client, url = log_in(cast.ana), pair_url(cast)
    assert "judgment-form" not in read_forms(client.get(url))
    assert client.post(url, {}).status_code == 404
    cast.study.settle_own_pairs = True
    cast.study.save()
    assert "judgment-form" in read_forms(client.get(url))

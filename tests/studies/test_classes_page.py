"""Query classes: made, assigned by hand and by rules, logged; earlier numbers stay."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from results.selectors.changes import count_class_changes
from studies.models import Action, Query, QueryClass
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

CLASSES = "/studies/alpha/classes/"
RULES = CLASSES + "rules/"


def class_of(external_id: str) -> str | None:
    query = Query.objects.select_related("query_class").get(external_id=external_id)
    return query.query_class.name if query.query_class else None


def ticked(*external_ids: str) -> list[str]:
    queries = Query.objects.filter(external_id__in=external_ids)
    return [str(query.public_id) for query in queries]


def test_page_counts_each_class_and_the_unclassified(cast: Cast) -> None:
    counts = log_in(cast.max).get(CLASSES).context["classes"]
    assert {one.name: one.size for one in counts.rows} == {"factual": 1, "procedural": 1}
    assert counts.unclassified == 1


def test_queries_are_found_by_class_and_words(cast: Cast) -> None:
    client = log_in(cast.max)

    def found(**named: str) -> list[str]:
        return [query.external_id for query in client.get(CLASSES, named).context["page"]]

    assert found() == ["q1", "q2", "q3"]
    assert found(**{"class": "procedural"}) == ["q1"]
    assert found(**{"class": "-"}) == ["q3"]
    assert found(q="about Q2") == ["q2"]


def test_ticked_queries_get_the_class_and_the_log_keeps_what_they_had(cast: Cast) -> None:
    data = {"queries": ticked("q1", "q3"), "query_class": "factual"}
    assert log_in(cast.max).post(CLASSES + "assign/", data).status_code == 302
    assert (class_of("q1"), class_of("q3")) == ("factual", "factual")
    logged = Action.objects.get(name="queries.classified").data
    assert logged == {"class": "factual", "queries": {"q1": "procedural", "q3": None}}


def test_an_admin_says_what_the_release_asks_of_a_class_and_the_log_keeps_it(cast: Cast) -> None:
    client = log_in(cast.max)
    form = read_forms(client.get(CLASSES))["weigh-2"]
    assert form.fields["name"] == "procedural"
    assert form.fields["minimum_queries"] == "0"
    asked = {"is_high_risk": "on", "minimum_queries": "12"}
    for _ in range(2):
        assert post_form(client, form, CLASSES, **asked).status_code == 302
    procedural = QueryClass.objects.get(study=cast.study, name="procedural")
    assert (procedural.is_high_risk, procedural.minimum_queries) == (True, 12)
    assert Action.objects.get(name="class.weighed").data == {
        "class": "procedural",
        "high_risk": True,
        "minimum_queries": 12,
        "before": {"high_risk": False, "minimum_queries": 0},
    }
    for wrong in ("-1", "", "x", "9" * 12):
        assert post_form(client, form, CLASSES, minimum_queries=wrong).status_code == 422
    assert post_form(client, form, CLASSES, **asked, name="nowhere").status_code == 404
    client.post(CLASSES + "new/", {"name": "policy", "minimum_queries": "5"})
    assert QueryClass.objects.get(name="policy").minimum_queries == 5


def test_class_can_be_taken_away(cast: Cast) -> None:
    log_in(cast.max).post(CLASSES + "assign/", {"queries": ticked("q1"), "query_class": "-"})
    assert class_of("q1") is None


def test_no_class_is_given_or_taken_before_somebody_chooses(cast: Cast) -> None:
    client = log_in(cast.max)
    page = client.get(CLASSES).content.decode()
    assert '<option value="" selected>choose …</option>' in page
    response = client.post(CLASSES + "assign/", {"queries": ticked("q1"), "query_class": ""})
    assert response.status_code == 422
    assert "Choose the class that they get." in response.content.decode()
    assert class_of("q1") == "procedural"


def test_changed_classes_make_earlier_numbers_old_and_same_ones_do_not(cast: Cast) -> None:
    client, before = log_in(cast.max), count_class_changes(cast.study)
    client.post(CLASSES + "assign/", {"queries": ticked("q1"), "query_class": "procedural"})
    assert count_class_changes(cast.study) == before
    client.post(CLASSES + "assign/", {"queries": ticked("q1", "q3"), "query_class": "factual"})
    assert count_class_changes(cast.study) == before + 2


def test_nothing_ticked_and_unknown_class_are_refused(cast: Cast) -> None:
    client = log_in(cast.max)
    foreign = make.make_query(cast.other_study, "far")
    for data in (
        {"query_class": "factual"},
        {"queries": ticked("q1"), "query_class": "nowhere"},
        {"queries": [str(foreign.public_id)], "query_class": "factual"},
    ):
        assert client.post(CLASSES + "assign/", data).status_code == 422
    assert not Action.objects.filter(name="queries.classified").exists()


def test_class_is_made_once(cast: Cast) -> None:
    client = log_in(cast.max)
    data = {"name": "policy", "title": "Rules", "is_high_risk": "on"}
    assert client.post(CLASSES + "new/", data).status_code == 302
    assert client.post(CLASSES + "new/", data).status_code == 422
    assert client.post(CLASSES + "new/", {"name": ""}).status_code == 422
    made = QueryClass.objects.get(study=cast.study, name="policy")
    assert made.is_high_risk
    assert Action.objects.filter(name="class.created").count() == 1


def rules(*lines: tuple[str, str, str], scope: str = "unclassified") -> dict[str, str]:
    data = {"scope": scope}
    for number in range(6):
        kind, text, name = lines[number] if number < len(lines) else ("starts", "", "")
        data |= {
            f"rule-{number}-kind": kind,
            f"rule-{number}-text": text,
            f"rule-{number}-query_class": name,
        }
    return data


def test_rules_are_previewed_with_counts_before_they_are_applied(cast: Cast) -> None:
    make.make_query(cast.study, "q4", text="How do I pay?")
    client = log_in(cast.max)
    page = client.get(RULES, rules(("starts", "how do I", "procedural")))
    (match,) = page.context["matches"]
    assert (len(match.queries), match.changes) == (1, 1)
    assert class_of("q4") is None
    form = next(
        one for one in read_forms(page).values() if one.method == "post" and "scope" in one.fields
    )
    assert post_form(client, form, RULES).status_code == 302
    assert class_of("q4") == "procedural"
    logged = Action.objects.get(name="queries.classified").data
    assert logged["rule"] == {"kind": "starts", "text": "how do I"}


def test_rules_touch_classified_queries_only_when_asked(cast: Cast) -> None:
    client, rule = log_in(cast.max), ("contains", "what about", "factual")
    client.post(RULES, rules(rule))
    assert (class_of("q1"), class_of("q3")) == ("procedural", "factual")
    client.post(RULES, rules(rule, scope="all"))
    assert class_of("q1") == "factual"


@pytest.mark.parametrize(
    "lines",
    [[], [("starts", "how", "")], [("starts", "how", "nowhere")], [("odd", "how", "factual")]],
)
def test_incomplete_rules_are_refused(cast: Cast, lines: list[tuple[str, str, str]]) -> None:
    assert log_in(cast.max).post(RULES, rules(*lines)).status_code == 422


def test_classes_page_takes_as_many_queries_for_many_as_for_few(cast: Cast) -> None:
    client = log_in(cast.max)
    with CaptureQueriesContext(connection) as few:
        client.get(CLASSES)
    for number in range(30):
        make.make_query(cast.study, f"more{number}", query_class=f"class{number % 5}")
    with CaptureQueriesContext(connection) as many:
        client.get(CLASSES)
    assert len(many) == len(few)

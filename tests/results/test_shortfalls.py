"""A query of a closed round that somebody never finished: told where withheld, and counted."""

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.models import Claim, Judgment
from annotation.services.queue import next_pair
from results.services.exports import describe_export
from studies.models import Action, RoundQuery
from studies.services.rounds import close_round
from tests import factories as make
from tests.annotation.test_claims_race import judge_until_nothing_is_left
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms
from tests.results.labelled import label

pytestmark = pytest.mark.django_db
EXPORTS = "/studies/alpha/results/exports/"
WITHHELD = "/studies/alpha/results/withheld/"


@pytest.fixture
def admin(cast: Cast) -> Client:
    return log_in(cast.max)


def list_withheld(cast: Cast) -> list[str]:
    return [one.query_id for one in describe_export(cast.study, "consensus-qrels").withheld]


def leave_one_unfinished(cast: Cast) -> str:
    """ana judges all; ben begins one query and has one of its labels; the round is closed. Returns
    the id of the query."""
    judge_until_nothing_is_left(cast.ana)
    assert next_pair(cast.ben) is not None
    claim = Claim.objects.get(annotator=cast.ben)
    query = claim.round_query.query
    make.make_judgment(cast.main, query.pairs.first(), cast.ben, 2)
    for same in Judgment.objects.filter(annotator=cast.ana).exclude(pair__query=query):
        make.make_judgment(cast.main, same.pair, cast.ben, same.grade)
    close_round(round=cast.main, user=None)
    return str(query.external_id)


def test_a_query_that_somebody_never_finished_counts_without_them(
    cast: Cast, admin: Client
) -> None:
    query = leave_one_unfinished(cast)
    assert list_withheld(cast) == [query]
    page = admin.get(EXPORTS).content.decode()
    assert "so they come no more" in page
    assert f'href="{WITHHELD}?query={query}"' in page
    told = admin.get(f"{WITHHELD}?query={query}")
    parts = {one.name: (one.labelled, one.pairs) for one in told.context["parts"]}
    assert parts == {"ana": (3, 3), "ben": (1, 3)}
    form = read_forms(told)["shortfall-form"]
    assert post_form(admin, form, "", reason=" ").status_code == 422
    assert list_withheld(cast) == [query]

    assert post_form(admin, form, "", reason="ben has left.").status_code == 302
    assert list_withheld(cast) == []
    row = RoundQuery.objects.get(query__external_id=query)
    assert row.annotators == 1
    states = Claim.objects.filter(round_query=row).values_list("annotator__name", "state", "slot")
    assert sorted(states) == [("ana", "finished", 1), ("ben", "released", None)]
    assert Judgment.objects.get(annotator=cast.ben, pair__query=row.query_id).is_surplus
    action = Action.objects.get(name="query.counted_without")
    assert action.member == cast.max
    assert action.data == {
        "round": "main",
        "query": query,
        "from": 2,
        "to": 1,
        "taken_off": ["ben"],
        "reason": "ben has left.",
    }
    assert post_form(admin, form, "", reason="Again.").status_code == 409


def test_a_query_for_everybody_counts_with_those_who_finished_it(cast: Cast, admin: Client) -> None:
    cast.main.round_queries.update(annotators=None)
    for member in (cast.ana, cast.ben):
        label(cast.main, member, cast.pairs, [1] * 9)
    close_round(round=cast.main, user=None)
    assert list_withheld(cast) == ["q1", "q2", "q3"]
    assert (
        admin.post(WITHHELD, {"query": "q2", "present": 2, "reason": "uma was ill."}).status_code
        == 302
    )
    assert list_withheld(cast) == ["q1", "q3"]
    assert Action.objects.get(name="query.counted_without").data["from"] == 3


def test_what_came_since_the_page_was_shown_is_not_left_uncounted(
    cast: Cast, admin: Client
) -> None:
    label(cast.main, cast.ana, cast.pairs, [1] * 9)
    cast.main.round_queries.update(annotators=3)
    close_round(round=cast.main, user=None)
    form = read_forms(admin.get(f"{WITHHELD}?query=q1"))["shortfall-form"]
    label(cast.main, cast.ben, cast.pairs, [1] * 9)

    late = post_form(admin, form, "", reason="uma was ill.")
    assert late.status_code == 409
    assert "uma was ill." in late.content.decode()
    assert set(cast.main.round_queries.values_list("annotators", flat=True)) == {3}
    shown = read_forms(late)["shortfall-form"]
    assert post_form(admin, shown, "", reason="uma was ill.").status_code == 302
    assert cast.main.round_queries.get(query__external_id="q1").annotators == 2


def test_what_can_still_come_or_is_not_there_at_all_is_not_counted(
    cast: Cast, admin: Client
) -> None:
    label(cast.main, cast.ana, cast.pairs[:2], [1, 1])
    assert WITHHELD not in admin.get(EXPORTS).content.decode()
    assert admin.post(WITHHELD, {"query": "q1", "present": 1, "reason": "x"}).status_code == 409
    close_round(round=cast.main, user=None)
    page = admin.get(f"{WITHHELD}?query=q1")
    assert "no outcome at all" in page.content.decode()
    assert admin.post(WITHHELD, {"query": "q1", "reason": "x"}).status_code == 422
    assert admin.get(f"{WITHHELD}?query=none").status_code == 404
    lead = log_in(cast.lia)
    assert "An admin can count it without them" in lead.get(EXPORTS).content.decode()
    assert lead.get(f"{WITHHELD}?query=q1").status_code == 404
    assert not Action.objects.filter(name="query.counted_without").exists()


def test_withheld_queries_cost_no_further_statements(cast: Cast, admin: Client) -> None:
    label(cast.main, cast.ana, cast.pairs, [1] * 9)
    label(cast.main, cast.ben, cast.pairs[3:], [1] * 6)
    close_round(round=cast.main, user=None)

    def count() -> int:
        with CaptureQueriesContext(connection) as statements:
            assert "come no more" in admin.get(EXPORTS).content.decode()
        return len(statements)

    count()
    before = count()
    Judgment.objects.filter(annotator=cast.ben, pair__in=cast.pairs[3:6]).delete()
    count()
    assert count() == before

"""The plan of a round: previewed, put in force, never taking places away."""

import pytest
from django.db.models import Count

from annotation.models import Claim
from annotation.services.plans import PlacesInForce, apply_plan, make_plan
from studies.models import Action, Quota, Role
from tests import factories as make
from tests.annotation.clients import run_together
from tests.annotation.test_claims_race import judge_until_nothing_is_left
from tests.cast import Cast
from tests.pages import log_in

PLAN = "/studies/alpha/plan/"


def planned(cast: Cast) -> list[int | None]:
    return sorted(
        cast.main.round_queries.values_list("annotators", flat=True), key=lambda one: one or 99
    )


def test_form_starts_with_the_plan_in_force(cast: Cast) -> None:
    form = log_in(cast.max).get(PLAN).context["form"]
    assert (form["shared"].value(), form["per_query"].value()) == (0, 2)


def test_preview_shows_everybodys_load_and_changes_nothing(cast: Cast) -> None:
    data = {"round": "main", "shared": "1", "per_query": "1"}
    response = log_in(cast.max).get(PLAN, data)
    preview = response.context["plan"]
    # One shared query of three pairs each, and two split ones among three people.
    assert [(load.name, load.queries, load.pairs) for load in preview.loads] == [
        ("ana", 2, 6),
        ("ben", 2, 6),
        ("uma", 2, 6),
    ]
    assert preview.pace == 17.5
    assert preview.loads[0].hours_left == pytest.approx(6 * 17.5 / 3600)
    assert planned(cast) == [2, 2, 2]


def test_what_is_labelled_is_no_work_left(cast: Cast) -> None:
    for pair in cast.pairs[:3]:
        make.make_judgment(cast.main, pair, cast.ana, 1)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 1, is_surplus=True)
    data = {"round": "main", "shared": "3", "per_query": "1"}
    preview = log_in(cast.max).get(PLAN, data).context["plan"]
    assert [(load.name, load.pairs, load.labelled) for load in preview.loads] == [
        ("ana", 9, 3),
        ("ben", 9, 0),
        ("uma", 9, 0),
    ]
    left = [load.hours_left * 3600 / 17.5 for load in preview.loads]
    assert left == pytest.approx([6, 9, 9])
    assert (preview.pairs, preview.labelled) == (27, 3)
    assert preview.hours_left == pytest.approx(24 * 17.5 / 3600)


def test_plan_sets_places_and_quotas_and_is_logged(cast: Cast) -> None:
    data = {"round": "main", "shared": "1", "per_query": "1", f"quota-{cast.ana.pk}": "1"}
    response = log_in(cast.max).post(PLAN, data)
    assert response.status_code == 302
    assert planned(cast) == [1, 1, None]
    quotas = {one.member.name: (one.queries, one.is_fixed) for one in Quota.objects.all()}
    assert quotas == {"ana": (1, True), "ben": (2, False), "uma": (2, False)}
    logged = Action.objects.get(name="round.planned").data
    assert logged["quotas"] == {"ana": 1, "ben": 2, "uma": 2}
    assert len(logged["shared"]) == 1


def test_plan_gives_to_each_what_it_promised(cast: Cast) -> None:
    log_in(cast.max).post(PLAN, {"round": "main", "shared": "1", "per_query": "1"})
    for member in (cast.ana, cast.ben, cast.uma):
        judge_until_nothing_is_left(member)
    taken = Claim.objects.values_list("annotator__name").annotate(Count("pk")).order_by()
    # Two split queries for three people: shares are rounded up, the last one finds none left.
    assert sorted(count for _, count in taken) == [1, 2, 2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"shared": "4"},
        {"shared": "-1"},
        {"per_query": "0"},
        {"per_query": "9"},
        {"shared": ""},
        {"quota": "0"},
    ],
)
def test_impossible_plan_is_refused(cast: Cast, wrong: dict[str, str]) -> None:
    data = {"round": "main", "shared": "1", "per_query": "1"} | wrong
    if "quota" in data:
        data[f"quota-{cast.ana.pk}"] = data.pop("quota")
    assert log_in(cast.max).post(PLAN, data).status_code == 422
    assert planned(cast) == [2, 2, 2]
    assert not Quota.objects.exists()


def test_plan_without_annotators_is_refused(cast: Cast) -> None:
    cast.study.members.update(roles=[])
    cast.study.members.filter(name="max").update(roles=[Role.ADMIN.value])
    client = log_in(cast.max)
    # It is said before anybody fills in numbers, and where people are invited.
    assert "invite people first" in client.get(PLAN).content.decode()
    data = {"round": "main", "shared": "1", "per_query": "1"}
    assert client.post(PLAN, data).status_code == 422


def test_places_in_force_are_not_taken_away(cast: Cast) -> None:
    for member in (cast.ana, cast.ben):
        judge_until_nothing_is_left(member)
    response = log_in(cast.max).post(PLAN, {"round": "main", "shared": "0", "per_query": "1"})
    assert response.status_code == 409
    assert "3 queries have more people at work" in response.content.decode()
    assert "(q1, q2, q3)" in response.content.decode()
    assert planned(cast) == [2, 2, 2]
    assert not Quota.objects.exists()


def test_one_query_or_person_in_the_way_is_told_in_the_singular(cast: Cast) -> None:
    first = cast.main.round_queries.order_by("query__external_id").first()
    for slot, member in enumerate((cast.ana, cast.ben), start=1):
        make.make_claim(first, member, slot=slot)
    client = log_in(cast.max)
    page = client.post(PLAN, {"round": "main", "shared": "0", "per_query": "1"}).content.decode()
    assert "1 query has more people at work than this plan gives it (q1)." in page
    cast.study.members.filter(name__in=["ana", "uma"]).update(is_active=False)
    page = client.post(PLAN, {"round": "main", "shared": "0", "per_query": "2"}).content.decode()
    assert "Only 1 person annotates" in page


def test_plan_of_a_closed_or_foreign_round_is_not_found(cast: Cast) -> None:
    client = log_in(cast.max)
    assert client.get(PLAN, {"round": "nowhere"}).status_code == 404


def test_gaps_left_by_lapsed_claims_do_not_stand_in_the_way(cast: Cast) -> None:
    row = cast.main.round_queries.first()
    make.make_claim(row, cast.ana, slot=None, state="lapsed")
    claim = make.make_claim(row, cast.ben, slot=2)
    apply_plan(plan=make_plan(round=cast.main, shared=0, per_query=1), user=cast.max.user)
    claim.refresh_from_db()
    assert (claim.state, claim.slot) == ("held", 1)


@pytest.mark.django_db(transaction=True)
def test_plan_and_claims_at_once_never_leave_more_places_than_planned() -> None:
    study = make.make_study("alpha", annotators_per_query=4)
    round = make.make_round(study)
    for number in range(12):
        make.make_pair(make.make_query(study, f"q{number}"))
    for number in range(8):
        make.make_member(study, f"m{number}", Role.ANNOTATOR)
    admin = make.make_member(study, "max", Role.ADMIN)

    def replan() -> None:
        for _ in range(5):
            try:
                apply_plan(plan=make_plan(round=round, shared=0, per_query=1), user=admin.user)
            except PlacesInForce:
                return

    judges = study.members.select_related("study", "user").filter(roles=["annotator"])
    run_together([replan, *(lambda one=one: judge_until_nothing_is_left(one) for one in judges)])
    rows = round.round_queries.annotate(taken=Count("claims"))
    assert all(row.taken <= row.annotators for row in rows)

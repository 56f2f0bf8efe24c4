"""Adjudicators at once, on real connections: no pair is settled twice, and none is lost."""

import uuid
from collections import Counter
from functools import partial

import pytest
from django.db import connection, transaction
from django.db.models import Count

from results.adjudication.tokens import read_token
from results.models import FinalLabel
from results.services.final_labels import Decision, settle_pair
from results.services.leases import take_lease
from studies.models import Action, Member, Role
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import make_cast
from tests.pages import log_in, read_forms
from tests.results.settling import ADJUDICATE, contest, settle

pytestmark = pytest.mark.django_db(transaction=True)


def settle_until_nothing_is_left(member: Member) -> list[str]:
    """Work through the queue in a browser of one's own; returns the pairs that one was shown."""
    client, shown = log_in(member), []
    page = client.get(ADJUDICATE)
    while form := read_forms(page).get("judgment-form"):
        shown.append(str(read_token(form.fields["token"]).pair_id))
        response = settle(client, page, reason=f"So says {member.name}.")
        assert response.status_code == 302
        page = client.get(ADJUDICATE)
    return shown


def test_two_adjudicators_share_one_queue_and_never_one_pair() -> None:
    cast = make_cast(queries=4)
    contest(cast, pairs=12)
    eve = make.make_member(cast.study, "eve", Role.ADJUDICATOR)
    shown = run_together(
        [partial(settle_until_nothing_is_left, member) for member in (cast.ada, eve)]
    )
    assert sorted(shown[0] + shown[1]) == sorted(str(pair.public_id) for pair in cast.pairs)
    assert FinalLabel.objects.count() == 12
    assert Action.objects.filter(name="final_label.set").count() == 12
    by_member = dict(FinalLabel.objects.values_list("by__name").annotate(Count("pk")))
    assert by_member == {
        name: len(pairs) for name, pairs in zip(("ada", "eve"), shown, strict=True) if pairs
    }


def test_of_many_decisions_on_one_pair_the_first_one_stands() -> None:
    cast = make_cast()
    contest(cast)
    members = [make.make_member(cast.study, f"judge{n}", Role.ADJUDICATOR) for n in range(8)]

    def decide(member: Member) -> str:
        return settle_pair(
            pair=cast.pairs[0],
            member=member,
            rubric_version=cast.rubric,
            decision=Decision(grade=1, reason=member.name, decided_by="recency"),
            shown="",
            key=uuid.uuid4(),
        ).kind

    kinds = Counter(run_together([partial(decide, member) for member in members]))
    assert kinds == {"recorded": 1, "outdated": 7}
    assert FinalLabel.objects.count() == 1


def test_one_pair_is_held_by_one_of_many() -> None:
    cast = make_cast()
    members = [make.make_member(cast.study, f"judge{n}", Role.ADJUDICATOR) for n in range(8)]
    taken = run_together([partial(take_lease, cast.pairs[0].pk, member) for member in members])
    assert sum(taken) == 1


def test_a_label_of_a_pair_waits_for_nobody_who_settles_it() -> None:
    cast = make_cast()
    contest(cast)

    def label() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '2s'")
            make.make_judgment(cast.main, cast.pairs[0], cast.uma, 1)

    with transaction.atomic():
        decision = Decision(grade=1, reason="So.", decided_by="recency")
        settled = settle_pair(
            pair=cast.pairs[0],
            member=cast.ada,
            rubric_version=cast.rubric,
            decision=decision,
            shown="",
            key=uuid.uuid4(),
        )
        run_together([label])
    assert settled.kind == "recorded"
    assert cast.uma.judgments.count() == 1

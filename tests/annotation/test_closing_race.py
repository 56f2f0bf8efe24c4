"""A round is closed while labels arrive, on real connections: none slips in after the close."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from threading import Event
from time import monotonic, sleep

import pytest
from django.db import connection, transaction
from django.utils import timezone

from annotation.models import Judgment
from annotation.screens import show_own_label
from annotation.services.claims import claim_next_query
from annotation.services.judgments import (
    Label,
    Outcome,
    record_judgment,
    revise_judgment,
    undo_judgment,
)
from annotation.services.openings import RoundBegun, set_opening
from annotation.services.queue import next_pair
from annotation.tokens import ShownPair, read_token
from studies.models import Action, Member, Role, Round
from studies.services.rounds import close_round
from tests import factories as make
from tests.annotation.clients import pair_of, run_together
from tests.annotation.test_claims_race import judge_until_nothing_is_left, make_race

LABEL = Label(grade=2, decided_by="recency")


def show(annotator: Member) -> ShownPair:
    found = next_pair(annotator)
    assert found is not None
    return ShownPair(
        annotator.pk,
        found.round.pk,
        found.round.rubric_version_id,
        pair_of(found).public_id,
        timezone.now(),
    )


@pytest.mark.django_db(transaction=True)
def test_closing_once_closes_and_twice_changes_nothing() -> None:
    study = make_race(queries=1, pairs=1, clients=1)
    admin = make.make_member(study, "max", Role.ADMIN)
    main = study.rounds.get()
    answers = run_together(
        [lambda: close_round(round=main, user=admin.user, member=admin) for _ in range(8)]
    )
    assert sorted(answers) == [False] * 7 + [True]
    assert Round.objects.get().closed_at is not None
    assert Action.objects.get(name="round.closed").data == {"round": "main"}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_begun_first", [True, False])
def test_a_round_is_begun_or_put_off_and_never_both(is_begun_first: bool) -> None:
    """Whoever comes second waits for the first, and is told."""
    study = make_race(queries=1, pairs=1, clients=1)
    main, client = study.rounds.get(), study.members.get()
    admin = make.make_member(study, "max", Role.ADMIN)
    is_first_in = Event()

    def begin() -> str:
        return "begun" if claim_next_query(round=main, annotator=client) else "nothing to begin"

    def put_off() -> str:
        try:
            set_opening(round=main, opens_at=timezone.now() + timedelta(days=1), by=admin)
        except RoundBegun:
            return "begun"
        return "put off"

    def come_first(work: Callable[[], str]) -> str:
        with transaction.atomic():
            answer = work()
            is_first_in.set()
            sleep(0.3)
        return answer

    def come_second(work: Callable[[], str]) -> str:
        is_first_in.wait()
        return work()

    first, second = (begin, put_off) if is_begun_first else (put_off, begin)
    answers = run_together([lambda: come_first(first), lambda: come_second(second)])
    assert answers == (["begun"] * 2 if is_begun_first else ["put off", "nothing to begin"])


@pytest.mark.django_db(transaction=True)
def test_no_label_is_recorded_after_the_close() -> None:
    """What was acknowledged stands before the close in the log; the rest was told the truth."""
    study = make_race(queries=40, pairs=2, clients=8)
    main = study.rounds.get()
    clients = list(study.members.select_related("study", "user"))

    def close_after_some() -> list[Outcome]:
        while Judgment.objects.count() < 20:
            sleep(0.01)
        assert close_round(round=main, user=None)
        return []

    judging: list[Callable[[], list[Outcome]]] = [
        lambda client=client: judge_until_nothing_is_left(client) for client in clients
    ]
    results = run_together([*judging, close_after_some])

    kinds = [outcome.kind for result in results for outcome in result]
    assert set(kinds) <= {"recorded", "closed"}
    assert kinds.count("recorded") == Judgment.objects.count()
    closed = Action.objects.get(name="round.closed")
    assert not Action.objects.filter(name="judgment.recorded", pk__gt=closed.pk).exists()


def record(annotator: Member) -> Callable[[], Outcome]:
    slip = show(annotator)
    return lambda: record_judgment(shown=slip, annotator=annotator, label=LABEL, key=uuid.uuid4())


def revise(annotator: Member) -> Callable[[], Outcome]:
    own = make.make_judgment(Round.objects.get(), annotator.study.pairs.first(), annotator, 0)
    slip = read_token(show_own_label(annotator, own).token)
    return lambda: revise_judgment(shown=slip, annotator=annotator, label=LABEL, key=uuid.uuid4())


def undo(annotator: Member) -> Callable[[], Outcome]:
    own = make.make_judgment(Round.objects.get(), annotator.study.pairs.first(), annotator, 0)
    return lambda: undo_judgment(judgment_id=own.public_id, annotator=annotator)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("prepare", [record, revise, undo])
def test_a_label_that_meets_the_close_waits_for_it_and_is_refused(
    prepare: Callable[[Member], Callable[[], Outcome]],
) -> None:
    """The close has been written and not yet committed when the label arrives."""
    study = make_race(queries=1, pairs=2, clients=1)
    annotator = study.members.select_related("study", "user").get()
    main = study.rounds.get()
    arrive = prepare(annotator)
    before = list(Judgment.objects.values_list("pk", "grade"))
    locked = Event()

    def close_slowly() -> None:
        with transaction.atomic():
            close_round(round=main, user=None)
            locked.set()
            wait_until_somebody_waits()

    def arrive_late() -> str:
        locked.wait(10)
        return arrive().kind

    _, kind = run_together([close_slowly, arrive_late])
    assert kind == "closed"
    assert list(Judgment.objects.values_list("pk", "grade")) == before


def wait_until_somebody_waits() -> None:
    """Until another connection waits for a lock that this one holds."""
    deadline = monotonic() + 20
    while monotonic() < deadline:
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT count(*) FROM pg_locks"
                " WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid))"
            )
            if cursor.fetchone()[0]:
                return
        sleep(0.01)
    raise AssertionError("Nobody waited.")

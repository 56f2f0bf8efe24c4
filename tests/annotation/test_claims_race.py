"""Many annotators at once, on real connections: the plan is kept and every label is there."""

import uuid
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db.models import Count
from django.utils import timezone

from annotation.models import Claim, Judgment
from annotation.screens import explain_nothing
from annotation.services.claims import claim_next_query
from annotation.services.imports import import_judgments
from annotation.services.judgments import Label, Outcome, record_judgment
from annotation.services.queue import next_pair
from annotation.tokens import ShownPair
from annotation.usage import count_label_changes
from studies.models import Action, Member, Role, Study
from tests import factories as make
from tests.annotation.clients import pair_of, run_together

CLIENTS = 16
LABEL = Label(grade=1, decided_by="answerability")


def make_race(
    queries: int, pairs: int, annotators_per_query: int = 2, clients: int = CLIENTS
) -> Study:
    study = make.make_study("race", annotators_per_query=annotators_per_query)
    make.make_round(study)
    for number in range(queries):
        query = make.make_query(study, f"q{number}")
        for place in range(pairs):
            make.make_pair(query, make.make_document(study, f"q{number}-d{place}"))
    for number in range(clients):
        make.make_member(study, f"client{number}", Role.ANNOTATOR)
    return study


def shown(annotator: Member, round_id: int, version_id: int, pair_id: uuid.UUID) -> ShownPair:
    return ShownPair(annotator.pk, round_id, version_id, pair_id, timezone.now())


def judge_until_nothing_is_left(annotator: Member) -> list[Outcome]:
    outcomes = []
    while found := next_pair(annotator):
        slip = shown(
            annotator, found.round.pk, found.round.rubric_version_id, pair_of(found).public_id
        )
        outcomes.append(
            record_judgment(shown=slip, annotator=annotator, label=LABEL, key=uuid.uuid4())
        )
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_sixteen_clients_never_exceed_two_annotators_per_query() -> None:
    study = make_race(queries=20, pairs=3)
    clients = list(study.members.select_related("study", "user"))
    results = run_together(
        [lambda client=client: judge_until_nothing_is_left(client) for client in clients]
    )

    outcomes = [outcome.kind for result in results for outcome in result]
    assert Counter(outcomes) == {"recorded": 20 * 3 * 2}
    labels = Judgment.objects.values_list("pair").annotate(Count("annotator", distinct=True))
    assert set(dict(labels).values()) == {2}
    assert Judgment.objects.count() == 20 * 3 * 2
    assert Action.objects.filter(name="judgment.recorded").count() == 20 * 3 * 2
    assert set(Claim.objects.values_list("state", flat=True)) == {"finished"}
    assert Claim.objects.count() == 20 * 2
    assert count_label_changes(study.rounds.all()) == 20 * 3 * 2


@pytest.mark.django_db(transaction=True)
def test_thirty_two_clients_fill_two_hundred_places_and_are_told_the_truth() -> None:
    """Whoever is told that there is nothing is told why, and at the end that all is done."""
    study = make_race(queries=100, pairs=1, clients=32)
    clients = list(study.members.select_related("study", "user"))

    def judge(client: Member) -> tuple[list[Outcome], str]:
        return judge_until_nothing_is_left(client), explain_nothing(client).reason

    results = run_together([lambda client=client: judge(client) for client in clients])

    kinds = Counter(outcome.kind for outcomes, _ in results for outcome in outcomes)
    assert kinds == {"recorded": 200}
    labels = Judgment.objects.values_list("pair").annotate(Count("annotator", distinct=True))
    assert Counter(dict(labels).values()) == {2: 100}
    assert Judgment.objects.count() == 200
    assert Action.objects.filter(name="judgment.recorded").count() == 200
    assert Claim.objects.filter(state="finished").count() == Claim.objects.count() == 200
    assert {reason for _, reason in results} <= {"held_by_others", "all_done"}
    assert {explain_nothing(client).reason for client in clients} == {"all_done"}


@pytest.mark.django_db(transaction=True)
def test_one_free_place_goes_to_exactly_one_client() -> None:
    study = make_race(queries=1, pairs=1, annotators_per_query=1)
    main = study.rounds.select_related("study").get()
    claims = run_together(
        [
            lambda client=client: claim_next_query(round=main, annotator=client)
            for client in study.members.select_related("study", "user")
        ]
    )
    assert len([claim for claim in claims if claim]) == 1


@pytest.mark.django_db(transaction=True)
def test_the_same_form_sent_sixteen_times_at_once_makes_one_judgment() -> None:
    study = make_race(queries=1, pairs=2)
    annotator = study.members.select_related("study", "user").first()
    found = next_pair(annotator)
    slip = shown(annotator, found.round.pk, found.round.rubric_version_id, pair_of(found).public_id)
    key = uuid.uuid4()
    outcomes = run_together(
        [
            lambda: record_judgment(shown=slip, annotator=annotator, label=LABEL, key=key)
            for _ in range(CLIENTS)
        ]
    )
    kinds = Counter(outcome.kind for outcome in outcomes)
    assert kinds == {"recorded": 1, "repeated": CLIENTS - 1}
    assert Judgment.objects.count() == 1
    assert Action.objects.filter(name="judgment.recorded").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_tabs_with_different_labels_leave_the_first_one() -> None:
    study = make_race(queries=1, pairs=2)
    annotator = study.members.select_related("study", "user").first()
    found = next_pair(annotator)
    slip = shown(annotator, found.round.pk, found.round.rubric_version_id, pair_of(found).public_id)
    outcomes = run_together(
        [
            lambda grade=grade: record_judgment(
                shown=slip,
                annotator=annotator,
                label=Label(grade=grade, decided_by="recency"),
                key=uuid.uuid4(),
            )
            for grade in (0, 2)
        ]
    )
    assert sorted(outcome.kind for outcome in outcomes) == ["outdated", "recorded"]
    recorded = next(outcome for outcome in outcomes if outcome.kind == "recorded")
    assert Judgment.objects.get().grade == recorded.judgment.grade


@pytest.mark.django_db(transaction=True)
def test_an_import_of_labels_and_their_annotators_at_work_do_not_collide(tmp_path: Path) -> None:
    """Whoever comes second finds the label standing; nobody's transaction fails."""
    study = make_race(queries=12, pairs=3, annotators_per_query=4, clients=4)
    clients = list(study.members.select_related("study", "user"))
    rows = [
        f"q{query},q{query}-d{place},{client.name},1,answerability"
        for query in range(12)
        for place in range(3)
        for client in clients
    ]
    head = "query_id,doc_id,annotator,relevance,decided_by"
    files = [tmp_path / f"labels{part}.csv" for part in range(6)]
    for part, file in enumerate(files):
        file.write_text("\n".join([head, *rows[part::6]]) + "\n")

    def import_all() -> list[Outcome]:
        for file in files:
            import_judgments(study=study, path=file)
        return []

    judging: list[Callable[[], list[Outcome]]] = [
        lambda client=client: judge_until_nothing_is_left(client) for client in clients
    ]
    results = run_together([*judging, import_all])
    kinds = {outcome.kind for result in results for outcome in result}
    assert kinds <= {"recorded", "repeated", "outdated"}
    assert Judgment.objects.count() == 12 * 3 * 4

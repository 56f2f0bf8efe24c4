"""Writing a rubric: read, drafted, uploaded, published, compared, switched to."""

import csv
import re
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import call_command
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from results.models import FinalLabel
from results.services.reports import run_agreement
from results.services.scopes import Scope
from studies.models import Action, RubricDraft
from studies.services.rounds import close_round
from studies.services.rubric_drafts import find_conflicts
from studies.services.rubric_usage import UsedParts
from studies.services.rubrics import describe_rubric
from tests import factories as make
from tests.cast import Cast
from tests.pages import log_in, post_form, read_forms

RUBRIC = "/studies/alpha/rubric/"
DRAFT = RUBRIC + "draft/"


@pytest.fixture
def admin(cast: Cast) -> Client:
    return log_in(cast.max)


def begin(admin: Client, starter: str = "") -> None:
    assert admin.post(RUBRIC + "start/", {"starter": starter}).status_code == 302


def save(admin: Client, do: str = "save", **changes: Any) -> HttpResponse:
    """Send the editor's form as the page gives it, with some fields changed (`__` for a dash)."""
    form = read_forms(admin.get(DRAFT))["rubric-form"]
    named = {name.replace("__", "-"): value for name, value in changes.items()}
    return post_form(admin, form, DRAFT, do=do, **named)


def publish(admin: Client, note: str = "Sharper.") -> HttpResponse:
    edition = RubricDraft.objects.get().edition
    return admin.post(RUBRIC + "publish/", {"note": note, "edition": edition})


def upload(admin: Client, text: str) -> HttpResponse:
    file = SimpleUploadedFile("rubric.yaml", text.encode())
    return admin.post(RUBRIC + "upload/", {"file": file})


def test_everybody_in_the_study_reads_the_version_they_judge_under(cast: Cast) -> None:
    for member in (cast.ana, cast.ada, cast.lia, cast.max):
        page = log_in(member).get(RUBRIC).content.decode()
        assert "The test of recency." in page
        assert "The procedural clause." in page


def test_who_only_judges_sees_neither_notes_nor_versions_of_no_round(cast: Cast) -> None:
    version = make.make_rubric(cast.study, publish=False)
    version.note = "27 of 76 procedural pairs split."
    version.save()
    type(version).objects.filter(pk=version.pk).update(published_at=cast.rubric.published_at)
    ana, lia = log_in(cast.ana), log_in(cast.lia)
    assert "27 of 76" in lia.get(RUBRIC).content.decode()
    assert ana.get(RUBRIC + "2/").status_code == 404
    assert ana.get(RUBRIC + "diff/?from=1&to=2").status_code == 404
    cast.main.rubric_version = version
    cast.main.save()
    for path in ("", "2/", "2/rubric.yaml"):
        response = ana.get(RUBRIC + path)
        assert response.status_code == 200
        assert "27 of 76" not in response.content.decode()


def test_draft_begins_from_the_newest_version_and_publishes_as_it_was(
    cast: Cast, admin: Client
) -> None:
    begin(admin)
    assert save(admin).status_code == 302
    assert publish(admin).status_code == 302
    first, second = cast.study.rubric_versions.order_by("number")
    before, after = describe_rubric(first), describe_rubric(second)
    assert (after.grades, after.dimensions, after.edge_cases) == (
        before.grades,
        before.dimensions,
        before.edge_cases,
    )
    assert second.note == "Sharper."
    assert second.published_by == cast.max
    assert not RubricDraft.objects.exists()
    assert cast.study.rounds.get().rubric_version == first


@pytest.mark.parametrize("starter", ["graded", "three-point", "binary"])
def test_every_starter_can_be_published_in_a_fresh_study(cast: Cast, starter: str) -> None:
    make.make_member(cast.other_study, "max2", make.Role.ADMIN)
    client = log_in(make.User.objects.get(username="max2"))
    address = "/studies/beta/rubric/"
    client.post(address + "start/", {"starter": starter})
    response = client.post(address + "publish/", {"note": "First.", "edition": 1})
    assert response.status_code == 302
    version = cast.other_study.rubric_versions.get()
    assert [one.name for one in version.dimensions.all()] == [
        "answerability",
        "recency",
        "authority",
    ]


def test_clause_is_added_in_the_editor_and_bound_to_a_class(cast: Cast, admin: Client) -> None:
    begin(admin)
    response = save(admin, "add:dimensions-1-clauses")
    assert response.url.endswith("#dimensions-1-clauses")
    save(
        admin,
        dimensions__1__clauses__0__name="dated",
        dimensions__1__clauses__0__text="Is it in force?",
        dimensions__1__clauses__0__classes="factual",
        dimensions__1__clauses__0__grade_when_failed="0",
    )
    publish(admin)
    clause = cast.study.rubric_versions.get(number=2).dimensions.get(name="recency").clauses.get()
    assert (clause.name, clause.text, clause.grade_when_failed) == ("dated", "Is it in force?", 0)
    assert [one.name for one in clause.classes.all()] == ["factual"]


def test_items_are_added_and_removed_and_what_was_typed_stays(admin: Client) -> None:
    begin(admin)
    save(admin, "add:grades", grades__0__definition="As typed.")
    save(admin, "add:grades-0-examples")
    save(admin, "remove:grades-1")
    content = RubricDraft.objects.get().content
    assert content["grades"][0]["definition"] == "As typed."
    assert len(content["grades"][0]["examples"]) == 1
    assert [grade["value"] for grade in content["grades"]] == ["0", "2", ""]


def test_edge_case_starters_are_added_once(admin: Client) -> None:
    begin(admin)
    save(admin, "starters:edge_cases")
    save(admin, "starters:edge_cases")
    assert len(RubricDraft.objects.get().content["edge_cases"]) == 6


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"grades__1__value": "0"}, "the grade 0 stands twice"),
        ({"grades__1__value": "two"}, "value"),
        ({"dimensions__0__test": " "}, "the dimension answerability: test is missing"),
        ({"dimensions__0__name": "recency"}, "the dimension recency stands twice"),
        ({"dimensions__0__clauses__0__text": ""}, "the clause procedural: text is missing"),
        (
            {"dimensions__0__clauses__0__grade_when_failed": "7"},
            "the grade 7 is not of this rubric",
        ),
        ({"dimensions__0__clauses__0__classes": "nonsense"}, "is for the class nonsense"),
        ({"grades__0__name": "a" * 81}, "more than 80"),
    ],
)
def test_a_wrong_draft_is_kept_and_not_published(
    cast: Cast, admin: Client, changes: dict[str, str], reason: str
) -> None:
    begin(admin)
    save(admin, **changes)
    response = publish(admin)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert cast.study.rubric_versions.count() == 1
    assert RubricDraft.objects.exists()


def test_publishing_needs_a_note(cast: Cast, admin: Client) -> None:
    begin(admin)
    response = publish(admin, note="  ")
    assert response.status_code == 422
    assert "what changed and why" in response.content.decode()
    assert cast.study.rubric_versions.count() == 1


def test_a_value_is_not_used_for_another_meaning(admin: Client) -> None:
    begin(admin)
    save(admin, grades__1__name="complete")
    response = publish(admin)
    assert response.status_code == 422
    assert "The value 1 means “partial” in rubric 1" in response.content.decode()


def test_the_name_of_a_grade_does_not_move_to_another_value(cast: Cast) -> None:
    rubric = describe_rubric(cast.rubric)
    none, partial, answers = rubric.grades or []
    moved = replace(rubric, grades=[none, answers, replace(partial, value=3)])
    (fault,) = find_conflicts(moved, {1: rubric}, UsedParts())
    assert "“partial” is the name of the value 1 in rubric 1" in fault
    swapped = replace(rubric, grades=[none, replace(answers, value=1), replace(partial, value=2)])
    assert len(find_conflicts(swapped, {1: rubric}, UsedParts())) == 2
    assert find_conflicts(moved, {1: rubric, 2: moved}, UsedParts()) == []


def test_labels_are_not_left_without_their_grade_or_dimension(cast: Cast, admin: Client) -> None:
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 2, decided_by="recency")
    make.make_judgment(cast.main, cast.pairs[1], cast.ana, 2, decided_by="recency")
    begin(admin)
    save(admin, "remove:grades-2")
    save(admin, "remove:dimensions-1")
    page = publish(admin)
    assert page.status_code == 422
    assert "2 labels, final ones counted, have the grade 2 “answers”" in page.content.decode()
    assert "2 labels, final ones counted, were decided by “recency”" in page.content.decode()


def test_a_final_label_is_not_left_without_its_grade_or_dimension(
    cast: Cast, admin: Client
) -> None:
    final = make.make_final_label(cast.pairs[0], 2, by=cast.ada)
    begin(admin)
    save(admin, "remove:grades-2")
    page = publish(admin)
    assert page.status_code == 422
    assert "1 label, final ones counted, has the grade 2 “answers”" in page.content.decode()
    FinalLabel.objects.filter(pk=final.pk).update(ended_at=timezone.now())
    assert publish(admin).status_code == 302


def test_a_grade_that_rechecks_have_renewed_can_be_retired_and_is_readable_on_old_labels(
    cast: Cast, admin: Client, tmp_path: Path
) -> None:
    recheck = make.make_round(cast.study, "recheck", kind="recheck", position=1)
    make.make_judgment(cast.main, cast.pairs[0], cast.ana, 2)
    make.make_judgment(cast.main, cast.pairs[0], cast.ben, 1)
    for annotator in (cast.ana, cast.ben):
        make.make_judgment(recheck, cast.pairs[0], annotator, 1)
    begin(admin)
    save(admin, "remove:grades-2")
    assert publish(admin).status_code == 302
    for round in (cast.main, recheck):
        close_round(round=round, user=None)
    assert "answers" in log_in(cast.ana).get("/studies/alpha/labels/").content.decode()
    pairs = admin.get("/studies/alpha/results/splits/pairs/?round=main").content.decode()
    assert '<span class="num grade">2</span> <span dir="auto">answers</span>' in pairs
    assert "answers" in admin.get(f"{RUBRIC}1/").content.decode()
    report = run_agreement(cast.study, scope=Scope(round="main")).payload
    assert {"value": 2, "name": "answers"} in report["grades"]
    path = tmp_path / "labels.csv"
    call_command("export", "alpha", "judgments", "-o", path, stdout=StringIO())
    assert [row["relevance"] for row in csv.DictReader(path.read_text().splitlines())].count(
        "2"
    ) == 1


def test_an_outdated_tab_overwrites_nothing_and_keeps_what_was_typed(
    cast: Cast, admin: Client
) -> None:
    begin(admin)
    stale = read_forms(admin.get(DRAFT))["rubric-form"]
    save(log_in(cast.uma), grades__0__definition="Theirs.")
    response = post_form(admin, stale, DRAFT, do="save", **{"grades-0-definition": "Mine."})
    assert response.status_code == 409
    assert "Mine." in response.content.decode()
    assert RubricDraft.objects.get().content["grades"][0]["definition"] == "Theirs."
    again = read_forms(response)["rubric-form"]
    assert post_form(admin, again, DRAFT, do="save").status_code == 302
    assert RubricDraft.objects.get().content["grades"][0]["definition"] == "Mine."


def test_an_outdated_publication_is_refused(cast: Cast, admin: Client) -> None:
    begin(admin)
    save(admin)
    response = admin.post(RUBRIC + "publish/", {"note": "Stale.", "edition": 1})
    assert response.status_code == 409
    assert cast.study.rubric_versions.count() == 1


def test_discarded_draft_stays_in_the_log(cast: Cast, admin: Client) -> None:
    begin(admin)
    admin.post(RUBRIC + "discard/", {"edition": 1})
    assert not RubricDraft.objects.exists()
    action = Action.objects.get(name="rubric.draft_discarded")
    assert action.member == cast.max
    assert action.data["content"]["grades"]


def test_download_reads_back_by_upload(cast: Cast, admin: Client) -> None:
    text = admin.get(RUBRIC + "1/rubric.yaml").content.decode()
    assert upload(admin, text).status_code == 302
    publish(admin)
    first, second = cast.study.rubric_versions.order_by("number")
    assert describe_rubric(second).dimensions == describe_rubric(first).dimensions
    assert describe_rubric(second).grades == describe_rubric(first).grades


BOMB = "a: &a [x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join(['*' + before] * 9)}]\n"
    for before, name in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "place", "reason"),
    [
        ("- just\n- a list\n", "rubric.yaml:1", "mapping"),
        ("dimensions:\n  recency:\n    test:\n", "rubric.yaml:", "test is missing"),
        (
            "grades:\n- {value: 1, name: a}\n- {value: 1, name: b}\ndimensions: {x: {test: y}}\n",
            "rubric.yaml:3",
            "the grade 1 stands twice",
        ),
        (
            "dimensions: {recency: {test: x, policy_clause: y}}\n",
            "rubric.yaml:1: the dimension recency: the clause policy",
            "class policy",
        ),
        ("grades: [\n", "rubric.yaml:", ""),
        (BOMB, "rubric.yaml:", ""),
    ],
)
def test_bad_file_is_refused_with_place_and_reason(
    admin: Client, text: str, place: str, reason: str
) -> None:
    response = upload(admin, text)
    assert response.status_code == 422
    page = response.content.decode()
    assert place in page
    assert reason in page
    assert not RubricDraft.objects.exists()


def test_upload_without_a_file_is_refused(admin: Client) -> None:
    assert admin.post(RUBRIC + "upload/").status_code == 422


def test_diff_shows_words(cast: Cast, admin: Client) -> None:
    begin(admin)
    save(admin, dimensions__0__test="The strict test of answerability.")
    publish(admin, note="It was too lax.")
    page = admin.get(RUBRIC + "diff/?from=1&to=2").content.decode()
    assert re.search(r"The ?<ins> ?strict ?</ins> ?test of answerability\.", page)
    assert "It was too lax." in page
    assert admin.get(RUBRIC + "diff/?from=1&to=3").status_code == 404
    assert admin.get(RUBRIC + "diff/?from=x").status_code == 404


def test_round_is_switched_by_an_explicit_act_that_is_logged(cast: Cast, admin: Client) -> None:
    make.make_rubric(cast.study)
    assert "<option selected>2</option>" in admin.get(RUBRIC).content.decode()
    response = admin.post(RUBRIC + "switch/", {"round": "main", "version": "2"})
    assert response.status_code == 302
    cast.main.refresh_from_db()
    assert cast.main.rubric_version.number == 2
    action = Action.objects.get(name="round.switched")
    assert (action.member, action.data) == (cast.max, {"round": "main", "from": 1, "to": 2})


def test_round_is_not_switched_to_a_draft_or_when_closed(cast: Cast, admin: Client) -> None:
    make.make_rubric(cast.study, publish=False)
    refused = admin.post(RUBRIC + "switch/", {"round": "main", "version": "2"})
    assert refused.status_code == 422
    make.make_rubric(cast.study)
    cast.main.closed_at = cast.main.opens_at
    cast.main.save()
    closed = admin.post(RUBRIC + "switch/", {"round": "main", "version": "3"})
    assert closed.status_code == 422
    assert admin.post(RUBRIC + "switch/", {"round": "main"}).status_code == 422


def test_only_admins_write(cast: Cast) -> None:
    for member in (cast.lia, cast.ana, cast.ada, cast.sid):
        client = log_in(member)
        for action in ("start", "upload", "publish", "discard", "switch", "draft"):
            assert client.post(f"{RUBRIC}{action}/").status_code == 404


def test_queries_of_the_page_do_not_grow_with_versions(cast: Cast, admin: Client) -> None:
    admin.get(RUBRIC)
    with CaptureQueriesContext(connection) as few:
        admin.get(RUBRIC)
    for _ in range(5):
        make.make_round(cast.study, f"r{_}", rubric_version=make.make_rubric(cast.study))
    with CaptureQueriesContext(connection) as many:
        admin.get(RUBRIC)
    assert len(many) <= len(few)

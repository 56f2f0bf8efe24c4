"""A rubric is silent, gets a clause, and only what the clause touches is judged again."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.models import Judgment
from tests.cast import Cast, make_cast
from tests.pages import log_in, post_form, read_forms

ALPHA = "/studies/alpha/"
EDITOR = ALPHA + "rubric/draft/"
CLAUSE = "clause:answerability:sequence"


@pytest.fixture
def study(db: None) -> Cast:
    return make_cast(queries=4)


def judge_all(client: Client, *, procedural: str) -> int:
    """Grade procedural pairs so and others 0, to the end; returns how many pairs came."""
    count = 0
    while True:
        page = client.get(ALPHA + "judge/")
        forms = read_forms(page)
        if "rubric-changed-form" in forms:
            post_form(client, forms["rubric-changed-form"], "")
        elif "judgment-form" in forms:
            is_procedural = page.context["judge"].item.query_class == "How do I …"
            grade = procedural if is_procedural else "0"
            choice = {"grade": grade, "decided_by": "answerability"}
            post_form(client, forms["judgment-form"], "", **choice)
            count += 1
        else:
            return count


def add_clause(admin: Client) -> None:
    admin.post(ALPHA + "rubric/start/")
    form = read_forms(admin.get(EDITOR))["rubric-form"]
    post_form(admin, form, EDITOR, do="add:dimensions-0-clauses")
    form = read_forms(admin.get(EDITOR))["rubric-form"]
    clause = {
        "dimensions-0-clauses-1-name": "sequence",
        "dimensions-0-clauses-1-text": "Every step, in order.",
        "dimensions-0-clauses-1-classes": "procedural",
        "dimensions-0-clauses-1-grade_when_failed": "1",
    }
    post_form(admin, form, EDITOR, do="save", **clause)
    forms = read_forms(admin.get(EDITOR))
    publish = forms[ALPHA + "rubric/publish/"]
    answer = post_form(admin, publish, "", note="“How do I” asks for the whole sequence.")
    assert answer.status_code == 302


def test_the_way_from_a_split_to_the_account(study: Cast) -> None:
    admin, ana, ben = log_in(study.max), log_in(study.ana), log_in(study.ben)
    assert judge_all(ana, procedural="2") == judge_all(ben, procedural="1") == 12
    add_clause(admin)
    assert judge_all(ana, procedural="2") == 0

    page = admin.get(ALPHA + "rubric/recheck/")
    assert page.context["page"].labels == 12
    opened = post_form(admin, read_forms(page)["recheck-form"], "", change=CLAUSE)
    assert opened.status_code == 302

    assert judge_all(ana, procedural="1") == judge_all(ben, procedural="1") == 6
    fresh = Judgment.objects.filter(rubric_version__number=2)
    assert set(fresh.values_list("pair__query__query_class__name", flat=True)) == {"procedural"}

    out = StringIO()
    call_command("revision", "alpha", "--from", "1", "--to", "2", stdout=out)
    account = json.loads(out.getvalue())
    assert account["pairs_compared"] == 12
    assert (account["before"]["splits"], account["after"]["splits"]) == (6, 0)
    assert account["label_transitions"] == [[0, 0, 12], [1, 1, 6], [2, 1, 6]]

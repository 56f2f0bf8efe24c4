"""“The rule needs to change”: a clause goes into the draft and marks the class of its pair."""

from threading import Event
from time import sleep

import pytest
from django.db import transaction
from django.test import Client
from django.utils import timezone

from results.models import ClauseProposal, FinalLabel
from results.selectors.gaps import read_gaps
from results.selectors.proposals import count_open_proposals
from results.services.proposals import decline_proposal
from studies.models import Action, Pair, RubricDraft, Study
from studies.rubric_drafts import remove_clause
from studies.services.rubric_drafts import add_clause
from tests import factories as make
from tests.annotation.clients import run_together
from tests.cast import Cast, make_cast
from tests.pages import log_in, post_form, read_forms
from tests.results.settling import ADJUDICATE, DECISION, contest, settle

TAB = "/studies/alpha/results/final-labels/"
CLAUSE = "A page of the price list of last year fails."


@pytest.fixture
def ada(cast: Cast) -> Client:
    contest(cast)
    return log_in(cast.ada)


def list_clauses(draft: RubricDraft, dimension: str) -> list[tuple[str, str, list[str]]]:
    (found,) = (one for one in draft.content["dimensions"] if one["name"] == dimension)
    return [(one["name"], one["text"], one["classes"]) for one in found["clauses"]]


def test_a_clause_is_put_into_a_draft_begun_from_the_newest_version(
    cast: Cast, ada: Client
) -> None:
    settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=CLAUSE)
    draft = RubricDraft.objects.get()
    assert (draft.based_on, draft.saved_by) == (cast.rubric, cast.ada)
    assert list_clauses(draft, "recency") == [("procedural 1", CLAUSE, ["procedural"])]
    assert len(list_clauses(draft, "answerability")) == 1
    proposal = ClauseProposal.objects.get()
    assert proposal.pair == FinalLabel.objects.get().pair
    assert (proposal.dimension, proposal.clause, proposal.by) == (
        "recency",
        "procedural 1",
        cast.ada,
    )
    told = Action.objects.get(name="rubric.clause_proposed").data
    assert (told["class"], told["clause"], told["text"]) == ("procedural", "procedural 1", CLAUSE)
    assert told["doc_id"] == proposal.pair.document.external_id


def test_without_words_of_its_own_it_says_the_reason_and_the_draft_at_hand_is_kept(
    cast: Cast, ada: Client
) -> None:
    draft = make.make_rubric_draft(cast.study)
    draft.content["dimensions"][1]["test"] = "A test half written"
    draft.save()
    for _ in range(2):
        settle(ada, ada.get(ADJUDICATE), rule="1")
    kept = RubricDraft.objects.get()
    assert kept.content["dimensions"][1]["test"] == "A test half written"
    assert kept.edition == draft.edition + 2
    assert [name for name, _, _ in list_clauses(kept, "recency")] == [
        "procedural 1",
        "procedural 2",
    ]
    assert {text for _, text, _ in list_clauses(kept, "recency")} == {DECISION["reason"]}


def test_a_dropped_pair_asks_for_a_clause_too_and_then_names_the_dimension(ada: Client) -> None:
    page = ada.get(ADJUDICATE)
    response = settle(ada, page, drop="1", decided_by="", rule="1", rule_text=CLAUSE)
    assert response.status_code == 422
    assert "dimension that the clause is to belong to" in response.content.decode()
    form = read_forms(response)["judgment-form"]
    assert (form.fields["rule"], form.fields["rule_text"]) == ("1", CLAUSE)
    assert settle(ada, page, drop="1", rule="1", rule_text=CLAUSE).status_code == 302
    assert FinalLabel.objects.get().is_dropped
    assert ClauseProposal.objects.get().dimension == "recency"


def test_the_same_form_sent_twice_asks_once(ada: Client) -> None:
    page = ada.get(ADJUDICATE)
    for _ in range(2):
        assert settle(ada, page, rule="1", rule_text=CLAUSE).status_code == 302
    assert ClauseProposal.objects.count() == 1


def test_a_draft_without_the_dimension_refuses_the_clause_and_keeps_what_was_typed(
    cast: Cast, ada: Client
) -> None:
    draft = make.make_rubric_draft(cast.study)
    draft.content["dimensions"] = draft.content["dimensions"][:1]
    draft.save()
    response = settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=CLAUSE)
    assert response.status_code == 422
    assert "has no dimension “recency”" in response.content.decode()
    assert read_forms(response)["judgment-form"].fields["rule_text"] == CLAUSE
    assert not FinalLabel.objects.exists()
    assert not ClauseProposal.objects.exists()


def test_throwing_the_draft_away_withdraws_what_was_asked_for_in_it(
    cast: Cast, ada: Client
) -> None:
    settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=CLAUSE)
    pair = ClauseProposal.objects.get().pair_id
    assert read_gaps(cast.study)[pair].clauses == {("recency", "procedural 1")}
    data = {"edition": RubricDraft.objects.get().edition}
    assert log_in(cast.max).post("/studies/alpha/rubric/discard/", data).status_code == 302
    assert count_open_proposals(cast.study) == {}
    assert read_gaps(cast.study)[pair].clauses == frozenset()
    assert "Clauses that adjudication asked for" not in log_in(cast.lia).get(TAB).content.decode()
    told = Action.objects.get(name="rubric.clause_withdrawn")
    assert (told.member, told.data["clause"], told.data["text"]) == (
        cast.max,
        "procedural 1",
        CLAUSE,
    )


def test_one_clause_is_declined_for_a_reason_that_its_pair_and_the_queue_tell(
    cast: Cast, ada: Client
) -> None:
    for text in (CLAUSE, "A page without its last step fails."):
        settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=text)
    admin, (proposal, kept) = log_in(cast.max), ClauseProposal.objects.all()
    address = f"/studies/alpha/rubric/clauses/{proposal.pk}/decline/"
    editor = admin.get("/studies/alpha/rubric/draft/").content.decode()
    assert f'href="{address}"' in editor
    assert admin.post(address, {"reason": " "}).status_code == 422
    assert len(list_clauses(RubricDraft.objects.get(), "recency")) == 2

    response = post_form(admin, read_forms(admin.get(address))["decline-form"], "", reason="Rare.")
    assert response.status_code == 302
    assert list_clauses(RubricDraft.objects.get(), "recency") == [
        (kept.clause, kept.text, ["procedural"])
    ]
    assert count_open_proposals(cast.study) == {"procedural": 1}
    assert read_gaps(cast.study)[proposal.pair_id].clauses == frozenset()
    told = Action.objects.get(name="rubric.clause_declined")
    assert (told.member, told.data["reason"], told.data["text"]) == (cast.max, "Rare.", CLAUSE)
    pair = f"{TAB}{proposal.pair.public_id}/"
    case = f"{ADJUDICATE}{proposal.pair.public_id}/"
    for client, page in ((log_in(cast.lia), TAB), (log_in(cast.lia), pair), (ada, case)):
        assert "Rare." in client.get(page).content.decode(), page
    assert address not in admin.get("/studies/alpha/rubric/draft/").content.decode()
    again = admin.post(address, {"reason": "Once more."})
    assert again.status_code == 409
    assert "Rare." in again.content.decode()
    assert log_in(cast.lia).get(address).status_code == 404
    assert log_in(cast.sid).post(address, {"reason": "x"}).status_code == 404


def test_a_clause_that_was_edited_away_can_still_be_answered(cast: Cast, ada: Client) -> None:
    """Taken out or renamed in the editor it is listed as such, until it is declined or a version
    is published, which its pair then tells."""
    settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=CLAUSE)
    proposal, admin = ClauseProposal.objects.get(), log_in(cast.max)
    editor = "/studies/alpha/rubric/draft/"
    form = read_forms(admin.get(editor))["rubric-form"]
    assert post_form(admin, form, editor, do="remove:dimensions-1-clauses-0").status_code == 302
    assert "not in the draft under this name" in admin.get(editor).content.decode()
    edition = RubricDraft.objects.get().edition
    pair = f"{TAB}{proposal.pair.public_id}/"
    publish = {"edition": edition, "note": "Without it."}
    admin.post("/studies/alpha/rubric/publish/", publish)
    assert "rubric 2 has no clause of this name" in log_in(cast.lia).get(pair).content.decode()
    assert count_open_proposals(cast.study) == {}


def test_the_class_is_marked_until_a_version_is_published(cast: Cast, ada: Client) -> None:
    settle(ada, ada.get(ADJUDICATE), rule="1", rule_text=CLAUSE)
    lead = log_in(cast.lia)
    pair = Pair.objects.get(clause_proposals__isnull=False)
    page = lead.get(TAB).content.decode()
    assert "Clauses that adjudication asked for" in page
    assert CLAUSE in page
    assert f'href="{TAB}{pair.public_id}/"' in page
    gate = lead.get("/studies/alpha/results/gate/").content.decode()
    assert "procedural: adjudication asked for 1 clause" in gate
    newer = make.make_rubric(cast.study, publish=False)
    newer.published_at = timezone.now()
    newer.save()
    assert "Clauses that adjudication asked for" not in lead.get(TAB).content.decode()
    assert Study.objects.get(slug="alpha").rubric_versions.count() == 2


def test_a_clause_gets_no_name_that_another_was_asked_for_under(cast: Cast, ada: Client) -> None:
    """Declining the first one, which was edited away, would take the second one out."""
    settle(ada, ada.get(ADJUDICATE), rule="1")
    draft = RubricDraft.objects.get()
    remove_clause(draft.content, "recency", "procedural 1")
    draft.save()
    settle(ada, ada.get(ADJUDICATE), rule="1")
    first, second = ClauseProposal.objects.order_by("pk")
    assert (first.clause, second.clause) == ("procedural 1", "procedural 2")
    decline_proposal(proposal=first, reason="Not ours.", by=cast.max)
    kept = RubricDraft.objects.get()
    assert [name for name, _, _ in list_clauses(kept, "recency")] == ["procedural 2"]


@pytest.mark.django_db(transaction=True)
def test_two_clauses_asked_for_at_once_begin_one_draft() -> None:
    cast = make_cast()
    is_begun = Event()

    def ask_first() -> str:
        with transaction.atomic():
            name = ask()
            is_begun.set()
            sleep(0.3)
        return name

    def ask_second() -> str:
        is_begun.wait()
        return ask()

    def ask() -> str:
        return add_clause(
            study=cast.study, dimension="recency", name="procedural", text=CLAUSE, by=cast.ada
        )

    assert run_together([ask_first, ask_second]) == ["procedural 1", "procedural 2"]
    draft = RubricDraft.objects.get()
    assert [name for name, _, _ in list_clauses(draft, "recency")] == [
        "procedural 1",
        "procedural 2",
    ]

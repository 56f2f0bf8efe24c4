"""The rule needs to change: a clause is put into the draft, linked to the pair that asks."""

from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.dispatch import receiver
from django.utils import timezone

from results.models import ClauseProposal
from results.selectors.proposals import list_open_proposals
from studies.models import Member, Pair, Study
from studies.services.log import record_action
from studies.services.rubric_drafts import add_clause, draft_discarded, take_clause_out


class ProposalClosed(Exception):
    """A version was published since, or it was withdrawn or declined; nothing was changed."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A clause of a dimension that the rubric lacks."""

    dimension: str
    text: str


def propose_clause(*, pair: Pair, member: Member, proposal: Proposal) -> ClauseProposal:
    """Put the clause into the draft for the pair's query class, which is marked by it until a
    version is published or the draft is discarded. Within the caller's transaction. Raises
    RubricRefused where the draft lacks the dimension."""
    query_class = pair.query.query_class
    clause = add_clause(
        study=pair.study,
        dimension=proposal.dimension,
        name=query_class.name if query_class else "",
        text=proposal.text,
        by=member,
    )
    made = ClauseProposal.objects.create(
        pair=pair, dimension=proposal.dimension, clause=clause, text=proposal.text, by=member
    )
    data = _describe(made) | {"class": query_class.name if query_class else None}
    record_action(pair.study, "rubric.clause_proposed", user=member.user, member=member, data=data)
    return made


@transaction.atomic
def decline_proposal(*, proposal: ClauseProposal, reason: str, by: Member) -> None:
    """Say no to a clause that was asked for, for a reason, and take it out of the draft if it
    stands there under its name. Raises ProposalClosed."""
    study = proposal.pair.study
    # The draft before the proposal, as by who discards it.
    was_there = take_clause_out(
        study=study, dimension=proposal.dimension, clause=proposal.clause, by=by
    )
    open_ones = list_open_proposals(study).select_for_update(of=("self",))
    locked = open_ones.filter(pk=proposal.pk).first()
    if locked is None:
        raise ProposalClosed
    locked.withdrawn_at, locked.declined_by, locked.reason = timezone.now(), by, reason
    locked.save(update_fields=["withdrawn_at", "declined_by", "reason"])
    data = _describe(locked) | {"reason": reason, "was_in_draft": was_there}
    record_action(study, "rubric.clause_declined", user=by.user, member=by, data=data)


@receiver(draft_discarded)
def withdraw_proposals(*, study: Study, by: Member, **_signal: object) -> None:
    """Close the clauses that were asked for in a draft that is discarded, and log each."""
    for proposal in list(list_open_proposals(study)):
        proposal.withdrawn_at = timezone.now()
        proposal.save(update_fields=["withdrawn_at"])
        data = _describe(proposal)
        record_action(study, "rubric.clause_withdrawn", user=by.user, member=by, data=data)


def _describe(proposal: ClauseProposal) -> dict[str, Any]:
    return {
        "query_id": proposal.pair.query.external_id,
        "doc_id": proposal.pair.document.external_id,
        "dimension": proposal.dimension,
        "clause": proposal.clause,
        "text": proposal.text,
    }

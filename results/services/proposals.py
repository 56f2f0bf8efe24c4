"""The rule needs to change: a clause is put into the draft, linked to the pair that asks."""

from dataclasses import dataclass
from typing import Any

from django.dispatch import receiver
from django.utils import timezone

from results.models import ClauseProposal
from results.selectors.proposals import list_open_proposals
from studies.models import Member, Pair, Study
from studies.services.log import record_action
from studies.services.rubric_drafts import add_clause, draft_discarded


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

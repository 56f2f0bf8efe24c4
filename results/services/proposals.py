"""The rule needs to change: a clause is put into the draft, linked to the pair that asks."""

from dataclasses import dataclass

from results.models import ClauseProposal
from studies.models import Member, Pair
from studies.services.log import record_action
from studies.services.rubric_drafts import add_clause


@dataclass(frozen=True, slots=True)
class Proposal:
    """A clause of a dimension that the rubric lacks."""

    dimension: str
    text: str


def propose_clause(*, pair: Pair, member: Member, proposal: Proposal) -> ClauseProposal:
    """Put the clause into the draft for the pair's query class, which is marked by it until a
    version is published. Within the caller's transaction. Raises RubricRefused where the draft
    lacks the dimension."""
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
    data = {
        "query_id": pair.query.external_id,
        "doc_id": pair.document.external_id,
        "class": query_class.name if query_class else None,
        "dimension": proposal.dimension,
        "clause": clause,
        "text": proposal.text,
    }
    record_action(pair.study, "rubric.clause_proposed", user=member.user, member=member, data=data)
    return made

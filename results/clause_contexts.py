"""Clauses that adjudication asked for, and what became of each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from results.models import ClauseProposal
from results.selectors.proposals import list_open_proposals
from studies.clause_requests import ClauseRequest, register_requests
from studies.models import Clause, Pair, RubricVersion, Study


@dataclass(frozen=True, slots=True)
class AskedClause:
    """A clause that adjudication asked for; `url` leads to its pair.

    `state` is open (no version was published since), declined (for `reason`, at `ended_at`),
    withdrawn (with the whole draft, at `ended_at`), or, of the version `number` published next,
    taken_up or left_out, as it has a clause of that name or not.
    """

    key: int
    query_class: str
    dimension: str
    clause: str
    text: str
    query: str
    url: str
    state: str = "open"
    reason: str = ""
    ended_at: datetime | None = None
    number: int = 0


def show_proposals(study: Study, proposals: Iterable[ClauseProposal]) -> list[AskedClause]:
    """Proposals of the study with their pair, query and class, each with what became of it."""
    found = list(proposals)
    versions = list(_list_published(study)) if found else []
    clauses = set(
        Clause.objects.filter(
            dimension__rubric_version__in=[version.pk for version in versions],
            name__in=[one.clause for one in found],
        ).values_list("dimension__rubric_version", "dimension__name", "name")
        if found
        else ()
    )
    return [_show_proposal(study, one, versions, clauses) for one in found]


def _list_published(study: Study) -> Iterable[RubricVersion]:
    return RubricVersion.objects.filter(study=study, published_at__isnull=False).order_by("number")


def _show_proposal(
    study: Study,
    proposal: ClauseProposal,
    versions: Sequence[RubricVersion],
    clauses: set[tuple[int, str, str]],
) -> AskedClause:
    after = (one for one in versions if one.published_at and one.published_at > proposal.at)
    version = next(after, None)
    if proposal.withdrawn_at is not None:
        state = "declined" if proposal.declined_by_id else "withdrawn"
    elif version is None:
        state = "open"
    else:
        is_there = (version.pk, proposal.dimension, proposal.clause) in clauses
        state = "taken_up" if is_there else "left_out"
    query = proposal.pair.query
    return AskedClause(
        key=proposal.pk,
        query_class=query.query_class.name if query.query_class else "",
        dimension=proposal.dimension,
        clause=proposal.clause,
        text=proposal.text,
        query=query.text,
        url=reverse("results:final-label", args=[study.slug, proposal.pair.public_id]),
        state=state,
        reason=proposal.reason,
        ended_at=proposal.withdrawn_at,
        number=version.number if version else 0,
    )


def show_asked_of(study: Study, pair: Pair) -> list[AskedClause]:
    """What was asked for while the pair was settled, the oldest first."""
    asked = ClauseProposal.objects.filter(pair=pair).select_related("pair__query__query_class")
    return show_proposals(study, asked.order_by("pk"))


@register_requests
def list_requests_of_adjudication(study: Study) -> list[ClauseRequest]:
    """What the rubric's editor tells of the open ones."""
    return [
        ClauseRequest(
            dimension=one.dimension,
            clause=one.clause,
            text=one.text,
            pair_url=reverse("results:final-label", args=[study.slug, one.pair.public_id]),
            decline_url=reverse("results:decline-clause", args=[study.slug, one.pk]),
        )
        for one in list_open_proposals(study)
    ]

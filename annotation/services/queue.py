"""Which pair an annotator judges next."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation import selectors
from annotation.models import Claim
from annotation.services.claims import (
    claim_next_query,
    finish_labelled_query,
    shuffle_for,
)
from studies.models import Member, Pair, Round, Study
from studies.selectors import list_open_rounds

# Under fully mixed order pairs are drawn from this many queries held at once.
MIXED_QUERIES_HELD = 10


@dataclass(frozen=True, slots=True)
class NextPair:
    """A pair to judge; `left` counts the pairs still to be had in its round, this one among
    them, as of the annotator's latest claim."""

    round: Round
    pair: Pair
    left: int


def next_pair(annotator: Member) -> NextPair | None:
    """The pair to judge next, holding a further query for the annotator where needed."""
    for round in list_open_rounds(annotator.study):
        found = next_pair_of_round(round, annotator)
        if found is not None:
            return found
    return None


def next_pair_of_round(round: Round, annotator: Member) -> NextPair | None:
    """Query by query the first held one is finished first; under fully mixed order the next pair
    comes from any of those held.

    A held query may have nothing left to label, where labels came in another way (imported for
    a linked account, say): its claim is finished and the next query tried.
    """
    wanted = MIXED_QUERIES_HELD if is_mixed(annotator) else 1
    while claims := hold_queries(round, annotator, wanted=wanted):
        held = [claim.round_query.query_id for claim in claims]
        unlabelled = selectors.list_unlabelled_pairs(round, annotator, held)
        if unlabelled:
            first = choose_first(round, annotator, held, unlabelled)
            open_pairs = min(claim.open_pairs for claim in claims)
            return NextPair(round, selectors.get_pair(first.pk), len(unlabelled) + open_pairs)
        for claim in claims:
            finish_labelled_query(claim)
    return None


def choose_first(
    round: Round, annotator: Member, held: Sequence[int], unlabelled: Sequence[Pair]
) -> Pair:
    """The first of the unlabelled pairs in this annotator's order."""
    query = next(one for one in held if any(pair.query_id == one for pair in unlabelled))
    candidates = [pair for pair in unlabelled if is_mixed(annotator) or pair.query_id == query]
    shuffler = shuffle_for(annotator, round)
    return min(candidates, key=lambda pair: shuffler.weigh(name_pair(pair)))


def name_pair(pair: Pair) -> str:
    """A pair by the ids it has in every installation. No id holds the character between."""
    return f"{pair.query.external_id}\0{pair.document.external_id}"


def is_mixed(annotator: Member) -> bool:
    return annotator.study.ordering == Study.Ordering.MIXED


def hold_queries(round: Round, annotator: Member, *, wanted: int) -> list[Claim]:
    """The annotator's unfinished claims in the round, oldest first, at least `wanted` of them
    where as many queries can be had."""
    claims = selectors.list_held_claims(round, annotator)
    while len(claims) < wanted:
        claim = claim_next_query(round=round, annotator=annotator)
        if claim is None:
            break
        claims.append(claim)
    return claims

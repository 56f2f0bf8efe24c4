"""Which pair an annotator judges next."""

from dataclasses import dataclass

from annotation import selectors
from annotation.models import Claim
from annotation.services.claims import claim_next_query
from annotation.shuffle import Shuffler
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
    comes from any of those held."""
    is_mixed = annotator.study.ordering == Study.Ordering.MIXED
    claims = hold_queries(round, annotator, wanted=MIXED_QUERIES_HELD if is_mixed else 1)
    held = [claim.round_query.query_id for claim in claims]
    unlabelled = selectors.list_unlabelled_pairs(round, annotator, held)
    if not unlabelled:
        return None
    query = next(one for one in held if any(pair.query_id == one for pair in unlabelled))
    candidates = [pair for pair in unlabelled if is_mixed or pair.query_id == query]
    shuffler = Shuffler(annotator.study.seed, str(round.pk), str(annotator.pk))
    first = min(candidates, key=lambda pair: shuffler.weigh(str(pair.public_id)))
    open_pairs = min(claim.open_pairs for claim in claims)
    return NextPair(round, selectors.get_pair(first.pk), left=len(unlabelled) + open_pairs)


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

"""Which pair an annotator judges next."""

from dataclasses import dataclass

from annotation import selectors
from annotation.services.claims import claim_next_query
from annotation.shuffle import Shuffler
from studies.models import Member, Pair, Round, Study
from studies.selectors import list_open_rounds

# Under fully mixed order pairs are drawn from this many queries held at once.
MIXED_QUERIES_HELD = 10


@dataclass(frozen=True, slots=True)
class NextPair:
    round: Round
    pair: Pair
    open_pairs: int


def next_pair(annotator: Member) -> NextPair | None:
    """The pair to judge next, holding a further query for the annotator where needed."""
    for round in list_open_rounds(annotator.study):
        found = next_pair_of_round(round, annotator)
        if found is not None:
            return found
    return None


def next_pair_of_round(round: Round, annotator: Member) -> NextPair | None:
    is_mixed = annotator.study.ordering == Study.Ordering.MIXED
    wanted = MIXED_QUERIES_HELD if is_mixed else 1
    claims = selectors.list_held_claims(round, annotator)
    while len(claims) < wanted:
        claim = claim_next_query(round=round, annotator=annotator)
        if claim is None:
            break
        claims.append(claim)
    held = [claim.round_query.query_id for claim in (claims if is_mixed else claims[:1])]
    pairs = dict(selectors.list_unlabelled_pairs(round, annotator, held))
    if not pairs:
        return None
    shuffler = Shuffler(annotator.study.seed, str(round.pk), str(annotator.pk))
    first = min(pairs, key=shuffler.weigh)
    pair = Pair.objects.select_related("query__query_class", "document__body").get(pk=pairs[first])
    return NextPair(round, pair, min(claim.open_pairs for claim in claims))

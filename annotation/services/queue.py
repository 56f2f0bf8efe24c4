"""Which pair an annotator judges next."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotation.desk import Desk, UnlabelledPair, read_desks
from annotation.services.claims import claim_next_query, finish_labelled_query
from annotation.services.offers import shuffle_for
from studies.models import Member, Round, Study

# Under fully mixed order pairs are drawn from this many queries held at once.
MIXED_QUERIES_HELD = 10


@dataclass(frozen=True, slots=True)
class NextPair:
    """A pair to judge, by its key; `labelled` counts the labels that the annotator has given here
    in open rounds, and `left` the pairs still to be had in its round, this one among them, as of
    the annotator's latest claim. `version_told` is the key of the rubric version that the
    annotator was last told of, if of any."""

    round: Round
    pair_id: int
    labelled: int
    left: int
    version_told: int | None


def next_pair(annotator: Member) -> NextPair | None:
    """The pair to judge next, holding a further query for the annotator where needed.

    A held query may have nothing left to label, where labels came in another way (imported for
    a linked account, say): its claim is finished and the next query tried.
    """
    done: set[int] = set()
    while desk := find_desk(annotator, done):
        if desk.unlabelled:
            return choose_next(desk, annotator)
        for claim_id in desk.claims:
            finish_labelled_query(claim_id)
        if not desk.claims:
            done.add(desk.round.pk)
    return None


def find_desk(annotator: Member, done: set[int]) -> Desk | None:
    """The desk of the first open round that is not `done`, with as many queries held as the
    annotator's order draws from, where as many can be had."""
    wanted = MIXED_QUERIES_HELD if is_mixed(annotator) else 1
    desk = read_first(annotator, done)
    if desk is None or len(desk.claims) >= wanted:
        return desk
    taken = hold_queries(desk.round, annotator, wanted=wanted - len(desk.claims))
    return read_first(annotator, done) if taken else desk


def hold_queries(round: Round, annotator: Member, *, wanted: int) -> int:
    """Hold as many further queries, or as many as can be had; returns their number."""
    for taken in range(wanted):
        if claim_next_query(round=round, annotator=annotator) is None:
            return taken
    return wanted


def read_first(annotator: Member, done: set[int]) -> Desk | None:
    return next((desk for desk in read_desks(annotator) if desk.round.pk not in done), None)


def choose_next(desk: Desk, annotator: Member) -> NextPair:
    """Query by query the first held one is finished first; under fully mixed order the next pair
    comes from any of those held."""
    return NextPair(
        round=desk.round,
        pair_id=choose_first(desk, annotator).pair_id,
        labelled=desk.labelled,
        left=desk.left,
        version_told=desk.version_told,
    )


def choose_first(desk: Desk, annotator: Member) -> UnlabelledPair:
    """The first of the unlabelled pairs in this annotator's order."""
    candidates: Sequence[UnlabelledPair] = desk.unlabelled
    if not is_mixed(annotator):
        query = candidates[0].query_id
        candidates = [pair for pair in candidates if pair.query_id == query]
    shuffler = shuffle_for(annotator, desk.round)
    return min(candidates, key=lambda pair: shuffler.weigh(pair.name))


def is_mixed(annotator: Member) -> bool:
    return annotator.study.ordering == Study.Ordering.MIXED

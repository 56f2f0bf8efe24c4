"""What lies before an annotator: the open rounds, the queries held there, what is left of them."""

from dataclasses import dataclass, field, replace

from django.utils import timezone

from annotation import statements
from annotation.assigned import is_assigned
from annotation.models import RoundAssignment
from studies.models import Member, Round
from studies.rows import prepared_cursor


@dataclass(frozen=True, slots=True)
class UnlabelledPair:
    """`name` is made of the ids that the pair has in every installation; no id holds the
    character between them."""

    pair_id: int
    query_id: int
    name: str


@dataclass(frozen=True, slots=True)
class Desk:
    """One open round of one annotator.

    `claims` maps the key of each query claim in force, oldest first, to the pairs of other queries
    that could be had when it was made; `unlabelled` holds the pairs of the claimed queries without
    this annotator's label, those of the oldest claim first. `labelled` counts the labels that the
    annotator has given here in all open rounds; `version_told` is the key of the rubric version
    that they were last told of, if of any.
    """

    round: Round
    labelled: int
    version_told: int | None
    claims: dict[int, int] = field(default_factory=dict)
    unlabelled: list[UnlabelledPair] = field(default_factory=list)

    @property
    def left(self) -> int:
        """Pairs still to be had in the round, as of the annotator's latest claim."""
        return len(self.unlabelled) + min(self.claims.values(), default=0)


def read_desks(annotator: Member) -> list[Desk]:
    """The annotator's desk in each open round, in the order in which rounds are to be judged."""
    with prepared_cursor() as cursor:
        cursor.execute(
            statements.DESK,
            {"annotator": annotator.pk, "study": annotator.study_id, "now": timezone.now()},
        )
        rows = cursor.fetchall()
    desks: dict[int, Desk] = {}
    width = len(statements.ROUND)
    for row in rows:
        claim, open_pairs, query, pair, query_name, document_name, labelled, told = row[width:]
        desk = desks.get(row[0])
        if desk is None:
            round = statements.ROUND.build(row[:width])
            round.study = annotator.study
            desk = desks[row[0]] = Desk(round, labelled, told)
        if claim is not None:
            desk.claims[claim] = open_pairs
        if pair is not None:
            desk.unlabelled.append(UnlabelledPair(pair, query, f"{query_name}\0{document_name}"))
    return [keep_assigned(desk, annotator) for desk in desks.values()]


def keep_assigned(desk: Desk, annotator: Member) -> Desk:
    """In a round that gives single pairs to single people, only those of the annotator."""
    if not is_assigned(desk.round):
        return desk
    own = RoundAssignment.objects.filter(round=desk.round, annotator=annotator)
    assigned = set(own.values_list("pair", flat=True))
    return replace(desk, unlabelled=[one for one in desk.unlabelled if one.pair_id in assigned])

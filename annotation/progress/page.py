"""What the progress page shows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.progress import counts
from annotation.progress.counts import Held, Labels, Places, Shut
from annotation.progress.pace import count_hours, measure_pace
from studies.access import StudyAccess
from studies.models import Member, Quota, Role, Round, Study

HELD_SHOWN = 200
NO_PLACES = Places(0, 0, 0, 0, 0, 0, 0)
WAITING = {"judging", "open", "held_by_others", "planned"}
NONE_SHUT = Shut(0, 0)


@dataclass(frozen=True, slots=True)
class Queue:
    """What awaits an annotator in a round, and if nothing, why: `judging` (`pairs` in hand),
    `open` (`queries` could be taken), `share_done`, `held_by_others` (the first until `until`),
    `all_done`, or `gone` for who does not annotate in it now. Before the round opens: `planned`
    (`pairs` are theirs) or `not_open`."""

    state: str
    pairs: int = 0
    queries: int = 0
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class AnnotatorRow:
    name: str
    labels: Labels | None
    pace: float | None
    quota: int | None
    queue: Queue


@dataclass(frozen=True, slots=True)
class RoundProgress:
    round: Round
    places: Places
    pairs_left: int
    hours_left: float
    labels: int
    surplus: int
    held: Sequence[Held]
    held_count: int
    annotators: Sequence[AnnotatorRow]
    is_empty: bool
    gives_single_pairs: bool

    @property
    def free(self) -> int:
        return max(self.places.places - self.places.finished - self.held_count, 0)


@dataclass(frozen=True, slots=True)
class ProgressPage:
    """`is_blind` while the viewer has pairs to judge: how often others were unsure is not told
    then, nor is anything else of what their labels say."""

    study: Study
    rounds: Sequence[RoundProgress]
    pace: float
    is_measured: bool
    team: int
    may_change: bool
    is_blind: bool
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Counts:
    """Everything read once, to be laid out by round."""

    places: Mapping[int, Places]
    shut: Mapping[tuple[int, int], Shut]
    given: Mapping[tuple[int, int], int]
    split: Mapping[tuple[int, int], int]
    left_over: Mapping[tuple[int, int], int]
    held: Sequence[Held]
    labels: Mapping[tuple[int, int], Labels]
    taken: set[tuple[int, int]]
    quotas: Mapping[tuple[int, int], int]
    members: Mapping[int, Member]
    team: Sequence[int]

    def gives_single_pairs(self, round: Round) -> bool:
        return any(round_id == round.pk for round_id, _ in self.given)


def show_progress(access: StudyAccess, *, problem: str = "") -> ProgressPage:
    study = access.study
    found = read_counts(study)
    pace = measure_pace(found.labels.values())
    rounds = list(study.rounds.order_by("position", "pk"))
    return ProgressPage(
        study=study,
        rounds=[lay_out_round(round, found, pace) for round in rounds],
        is_blind=any(
            explain_queue(access.member.pk, round, found, found.held).state in WAITING
            for round in rounds
        ),
        pace=pace,
        is_measured=any(one.timed for one in found.labels.values()),
        team=len(found.team),
        may_change=access.member.has_role(Role.ADMIN),
        problem=problem,
    )


def read_counts(study: Study) -> Counts:
    members = {member.pk: member for member in study.members.order_by("name")}
    team = [pk for pk, member in members.items() if member.has_role(Role.ANNOTATOR)]
    held = counts.list_held(study)
    quotas = Quota.objects.filter(round__study=study)
    return Counts(
        places=counts.count_places(study),
        shut=counts.count_shut(study),
        given=counts.count_given(study),
        split=counts.count_split(study),
        left_over=counts.count_left_over(study),
        held=held,
        labels=counts.count_labels(study),
        taken=counts.list_taken([one.round_query_id for one in held]),
        quotas={
            (round_id, member_id): queries
            for round_id, member_id, queries in quotas.values_list("round", "member", "queries")
        },
        members=members,
        team=team,
    )


def lay_out_round(round: Round, found: Counts, pace: float) -> RoundProgress:
    held = [one for one in found.held if one.round_id == round.pk]
    places = found.places.get(round.pk, NO_PLACES)
    pairs_left = places.pairs_free + sum(one.left for one in held)
    labels = {who: one for (round_id, who), one in found.labels.items() if round_id == round.pk}
    rows = [
        lay_out_annotator(who, round, found, held, labels.get(who))
        for who in found.members
        if who in labels or (round.closed_at is None and who in found.team)
    ]
    return RoundProgress(
        round=round,
        places=places,
        pairs_left=pairs_left,
        hours_left=count_hours(pairs_left, pace),
        labels=sum(one.labels for one in labels.values()),
        surplus=sum(one.surplus for one in labels.values()),
        held=held[:HELD_SHOWN],
        held_count=len(held),
        annotators=rows,
        is_empty=places.queries == 0,
        gives_single_pairs=found.gives_single_pairs(round),
    )


def lay_out_annotator(
    who: int, round: Round, found: Counts, held: Sequence[Held], labels: Labels | None
) -> AnnotatorRow:
    return AnnotatorRow(
        name=found.members[who].name,
        labels=labels,
        pace=labels.seconds / labels.timed if labels and labels.timed else None,
        quota=found.quotas.get((round.pk, who)),
        queue=explain_queue(who, round, found, held),
    )


def explain_queue(who: int, round: Round, found: Counts, held: Sequence[Held]) -> Queue:
    """Why the annotator's queue holds what it holds, or nothing."""
    if who not in found.team or round.closed_at is not None:
        return Queue("gone")
    held = [one for one in held if one.round_id == round.pk]
    in_hand = sum(one.left for one in held if one.annotator_id == who)
    if not round.is_open:
        return Queue("planned", pairs=in_hand) if in_hand else Queue("not_open")
    if in_hand:
        return Queue("judging", pairs=in_hand)
    queries, is_kept_back = count_open(who, round, found)
    if queries:
        return Queue("open", queries=queries)
    if is_kept_back:
        return Queue("share_done")
    others = [
        one.expires_at
        for one in held
        if not one.is_lasting and (one.round_query_id, who) not in found.taken
    ]
    return Queue("held_by_others", until=min(others)) if others else Queue("all_done")


def count_open(who: int, round: Round, found: Counts) -> tuple[int, bool]:
    """How many queries the annotator could take, and whether their quota keeps more from them."""
    if found.gives_single_pairs(round):
        return found.given.get((round.pk, who), 0), False
    places = found.places.get(round.pk, NO_PLACES)
    shut = found.shut.get((round.pk, who), NONE_SHUT)
    shared = places.shared - shut.shared
    split = places.open_queries - shut.queries - shared
    quota = found.quotas.get((round.pk, who))
    if quota is None:
        return shared + split, False
    allowance = max(quota - places.shared - found.split.get((round.pk, who), 0), 0)
    left_over = found.left_over.get((round.pk, who), 0)
    return shared + (min(split, allowance) or left_over), allowance == 0

"""The plan of a round: some queries for everybody, the rest split, with a quota for each person."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import Count, Max, Q
from django.utils import timezone

from annotation.models import Claim
from annotation.planning import choose_shared, split_fairly
from annotation.services.openings import set_opening
from annotation.services.releases import RoundClosed, lock_rows
from studies.models import Member, Pair, Quota, Role, Round, RoundQuery, User
from studies.services.log import record_action

UNCLASSIFIED = ""


class PlacesInForce(Exception):
    """The plan has fewer places for some queries than people have on them; `queries` names them
    by their external ids."""

    def __init__(self, queries: Sequence[str]) -> None:
        super().__init__(", ".join(queries))
        self.queries = queries


@dataclass(frozen=True, slots=True)
class Load:
    """One annotator's part: queries in all (the quota), of which `split` are not shared, and the
    pairs that they hold (for split ones the mean is taken)."""

    member: Member
    queries: int
    split: int
    pairs: float
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class Plan:
    """`shared` and `split` are keys of round queries; `classes` counts shared and all queries by
    class ("" where there is none); `unfilled` places are left over by the quotas."""

    round: Round
    per_query: int
    shared: frozenset[int]
    split: frozenset[int]
    loads: Sequence[Load]
    classes: Mapping[str, tuple[int, int]]
    unfilled: int


def list_team(round: Round) -> list[Member]:
    """The active annotators of the round's study."""
    team = Member.objects.filter(
        study=round.study_id, is_active=True, roles__contains=[Role.ANNOTATOR.value]
    )
    return list(team.order_by("name"))


def make_plan(
    *, round: Round, shared: int, per_query: int, quotas: Mapping[int, int] | None = None
) -> Plan:
    """Work a plan out without changing anything.

    `shared` queries are for everybody, each other one for `per_query` people; `quotas` limits
    members (key -> queries in all). Queries without pairs are planned too, and weigh nothing.
    """
    rows = list(
        RoundQuery.objects.filter(round=round)
        .order_by("pk")
        .values_list("pk", "query_id", "query__public_id", "query__query_class__name")
    )
    classes = {str(public_id): name or UNCLASSIFIED for _, _, public_id, name in rows}
    chosen = choose_shared(classes, shared, seed=round.study.seed, round_id=str(round.pk))
    shared_keys = frozenset(key for key, _, public_id, _ in rows if str(public_id) in chosen)
    split_keys = frozenset(key for key, *_ in rows) - shared_keys
    pairs = count_pairs(round)
    shared_pairs = sum(pairs.get(query, 0) for key, query, *_ in rows if key in shared_keys)
    split_pairs = sum(pairs.get(query, 0) for key, query, *_ in rows if key in split_keys)
    team, limits = list_team(round), quotas or {}
    split = split_fairly(
        {one.pk: limits[one.pk] - len(shared_keys) if one.pk in limits else None for one in team},
        queries=len(split_keys),
        per_query=per_query,
    )
    mean = split_pairs / len(split_keys) if split_keys else 0
    return Plan(
        round=round,
        per_query=per_query,
        shared=shared_keys,
        split=split_keys,
        loads=[
            Load(
                member=one,
                queries=len(shared_keys) + split.shares[one.pk],
                split=split.shares[one.pk],
                pairs=shared_pairs + mean * split.shares[one.pk],
                is_fixed=one.pk in limits,
            )
            for one in team
        ],
        classes=count_classes(classes, chosen),
        unfilled=split.unfilled,
    )


def count_pairs(round: Round) -> dict[int, int]:
    """Number of pairs by query."""
    pairs = Pair.objects.filter(query__round_queries__round=round).order_by()
    return dict(pairs.values_list("query").annotate(Count("pk")))


def count_classes(classes: Mapping[str, str], chosen: frozenset[str]) -> dict[str, tuple[int, int]]:
    shared = Counter(name for item, name in classes.items() if item in chosen)
    return {
        name: (shared[name], count) for name, count in sorted(Counter(classes.values()).items())
    }


@transaction.atomic
def put_in_force(*, plan: Plan, opens_at: datetime | None, by: Member, user: User) -> None:
    """Apply the plan, and let its round open at that time (None: at once). Raises what
    `set_opening` and `apply_plan` raise."""
    set_opening(round=plan.round, opens_at=opens_at, by=by)
    apply_plan(plan=plan, user=user)


@transaction.atomic
def apply_plan(*, plan: Plan, user: User) -> None:
    """Set the number of annotators of each query of the round, and everybody's quota.

    Raises PlacesInForce when a query would have fewer places than people have on it, and
    RoundClosed; nothing is changed then.
    """
    round = plan.round
    lock_rows(RoundQuery.objects.filter(round=round).values_list("pk", flat=True))
    if Round.objects.get(pk=round.pk).closed_at is not None:
        raise RoundClosed
    lapse_all_expired(round)
    refuse_to_take_places(plan)
    close_gaps(plan)
    RoundQuery.objects.filter(pk__in=plan.shared).update(annotators=None)
    RoundQuery.objects.filter(pk__in=plan.split).update(annotators=plan.per_query)
    Quota.objects.filter(round=round).delete()
    Quota.objects.bulk_create(
        Quota(round=round, member=load.member, queries=load.queries, is_fixed=load.is_fixed)
        for load in plan.loads
    )
    record_action(round.study, "round.planned", user=user, data=describe_plan(plan))


def lapse_all_expired(round: Round) -> None:
    Claim.objects.filter(
        round_query__round=round, state=Claim.State.HELD, expires_at__lte=timezone.now()
    ).update(state=Claim.State.LAPSED, slot=None)


def refuse_to_take_places(plan: Plan) -> None:
    crowded = (
        RoundQuery.objects.filter(pk__in=plan.split)
        .annotate(taken=Count("claims", filter=Q(claims__slot__isnull=False)))
        .filter(taken__gt=plan.per_query)
        .order_by("query__external_id")
    )
    queries = list(crowded.values_list("query__external_id", flat=True))
    if queries:
        raise PlacesInForce(queries)


def close_gaps(plan: Plan) -> None:
    """Give places in force a number within the plan where lapsed ones have left gaps below."""
    gapped = (
        RoundQuery.objects.filter(pk__in=plan.split)
        .annotate(highest=Max("claims__slot"))
        .filter(highest__gt=plan.per_query)
    )
    for key in gapped.values_list("pk", flat=True):
        renumber_places(key)


def renumber_places(round_query_id: int) -> None:
    """Number the places in force on a query from 1 on, without gaps, in the order they have."""
    claims = Claim.objects.filter(round_query=round_query_id, slot__isnull=False).order_by("slot")
    for number, claim in enumerate(claims, start=1):
        if claim.slot != number:
            Claim.objects.filter(pk=claim.pk).update(slot=number)


def describe_plan(plan: Plan) -> dict[str, object]:
    shared = RoundQuery.objects.filter(pk__in=plan.shared).order_by("query__external_id")
    return {
        "round": plan.round.name,
        "shared": list(shared.values_list("query__external_id", flat=True)),
        "annotators_per_query": plan.per_query,
        "quotas": {load.member.name: load.queries for load in plan.loads},
        "fixed": [load.member.name for load in plan.loads if load.is_fixed],
    }

"""Who holds which query.

A claim is made, renewed, finished and lapsed under a lock of its row of `RoundQuery`, so that no
interleaving of clients exceeds the planned number of annotators. The numbered slots, unique in
the database, refuse what a mistake here would let through.
"""

from collections import Counter
from collections.abc import Collection, Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.utils import timezone

from annotation import statements
from annotation.assigned import is_assigned, may_be_given
from annotation.models import Claim, Judgment, RoundAssignment
from annotation.services.offers import list_open_queries, read_value
from annotation.services.quotas import is_within_quota, list_allowed
from studies.models import Member, Pair, Role, Round, RoundQuery, Study
from studies.rows import build_parts, prepared_cursor
from studies.services.log import record_action

# How many labels changed, by the keys of their round and annotator.
Changes = Counter[tuple[int, int]]

# Longer than any study: such a hold ends when its query is done, or by an admin.
LASTING_HOLD = timedelta(days=36500)


def claim_next_query(*, round: Round, annotator: Member) -> Claim | None:
    """Hold the next query of the round for the annotator; None when none has a free place.

    First passes over the rows that others are locking at this moment, then waits for them and
    counts the pairs anew, so that None is said only when there truly is nothing. Each try is a
    transaction of its own: two annotators with opposite orders never wait for each other.
    """
    for is_last_try in (False, True):
        offered = list_open_queries(round=round, annotator=annotator, count_anew=is_last_try)
        allowed = list_allowed(round=round, annotator=annotator, offered=offered)
        for key in allowed.keys:
            others = max(allowed.pairs - offered.sizes[key], 0)
            claim = try_to_claim(key, annotator, others, skip_locked=not is_last_try)
            if claim is not None:
                return claim
    return None


def try_to_claim(
    round_query_id: int, annotator: Member, open_pairs: int, *, skip_locked: bool
) -> Claim | None:
    with transaction.atomic():
        round_query = lock_round_query(round_query_id, annotator.study, skip_locked=skip_locked)
        if round_query is None or not round_query.round.is_open:
            return None
        if not is_within_quota(round_query, annotator):
            return None
        return take_place(round_query, annotator=annotator, open_pairs=open_pairs)


def lock_round_query(
    round_query_id: int, study: Study, *, skip_locked: bool = False
) -> RoundQuery | None:
    """A query of a round of the study, locked against everybody else; None where it is gone, or
    locked by somebody else whom the caller does not want to wait for."""
    lock = statements.LOCK_FREE_ROUND_QUERY if skip_locked else statements.LOCK_ROUND_QUERY
    with prepared_cursor() as cursor:
        cursor.execute(lock, {"round_query": round_query_id})
        row = cursor.fetchone()
    if row is None:
        return None
    parts = (statements.ROUND_QUERY, statements.ROUND, statements.QUERY_NAME)
    round_query: RoundQuery
    round_query, round, query = build_parts(row, *parts)
    round.study = study
    round_query.round, round_query.query = round, query
    return round_query


def take_place(
    round_query: RoundQuery, *, annotator: Member, open_pairs: int | None = None
) -> Claim | None:
    """Give the annotator a place on a locked row; None when all are taken, or the query's pairs
    were given to other people."""
    if not may_be_given(round_query, annotator):
        return None
    taken = read_value(
        statements.LAPSE_AND_LIST_SLOTS_OF_OTHERS,
        round_query=round_query.pk,
        annotator=annotator.pk,
        now=timezone.now(),
    )
    slot = next(number for number in range(1, len(taken) + 2) if number not in taken)
    if round_query.annotators is not None and slot > round_query.annotators:
        return None
    with prepared_cursor() as cursor:
        cursor.execute(
            statements.TAKE_PLACE,
            {
                "round_query": round_query.pk,
                "annotator": annotator.pk,
                "slot": slot,
                "now": timezone.now(),
                "expires_at": expiry_in(round_query.round),
                "open_pairs": open_pairs,
            },
        )
        is_new, *columns = cursor.fetchone()
    claim = statements.CLAIM.build(columns)
    claim.round_query, claim.annotator = round_query, annotator
    record_action(
        round_query.round.study,
        "claim.taken" if is_new else "claim.renewed",
        user=annotator.user,
        member=annotator,
        data={"round": round_query.round.name, "query": round_query.query.external_id},
    )
    return claim


def reclaim(claim: Claim | None, round_query: RoundQuery, *, annotator: Member) -> Claim | None:
    """Of the annotator's claim on a locked row, return the claim in force: itself, or taken anew
    if it had lapsed and a place is free. None when there never was one, others have all places, or
    an admin gave the query to others."""
    if claim is None or claim.state == Claim.State.RELEASED:
        return None
    claim.round_query = round_query
    has_run_out = claim.state == Claim.State.HELD and claim.expires_at <= timezone.now()
    if claim.state == Claim.State.LAPSED or has_run_out:
        return take_place(round_query, annotator=annotator)
    return claim


def settle_claim(claim: Claim) -> Changes:
    """Set the claim to finished or held by what is labelled, and renew its time; where single
    pairs were given and none of the query to this annotator, it lapses.

    Who finishes a query in a place of their own has all their labels of it counted, those too that
    had been set aside; finishing the last place marks the labels of those whose claims lapsed as
    surplus. Returns the labels that changed so, to be counted by `count_label_changes`.
    """
    round_query = claim.round_query
    gives_single_pairs = is_assigned(round_query.round)
    claim.state = read_value(
        statements.SETTLE_ASSIGNED_CLAIM if gives_single_pairs else statements.SETTLE_CLAIM,
        **describe_settling(claim, round_query, claim.annotator_id),
    )
    if claim.state != Claim.State.FINISHED:
        return Counter()
    return recount_surplus(round_query, finished_by=claim.annotator_id)


def describe_settling(
    claim: Claim | None, round_query: RoundQuery, annotator_id: int, *, labelled: int = 0
) -> dict[str, Any]:
    """The parameters of the statements that settle a claim, or none; `labelled` is the key of a
    pair whose label is brought by the same statement."""
    return {
        "claim": claim.pk if claim else None,
        "round": round_query.round_id,
        "query": round_query.query_id,
        "annotator": annotator_id,
        "labelled": labelled,
        "expires_at": expiry_in(round_query.round),
    }


@transaction.atomic
def finish_labelled_query(claim_id: int) -> None:
    """Settle a claim whose pairs were all labelled in another way than by judging them here."""
    key = Claim.objects.values_list("round_query", flat=True).get(pk=claim_id)
    round_query = (
        RoundQuery.objects.select_for_update(of=("self",))
        .select_related("round__study", "query")
        .get(pk=key)
    )
    claim = Claim.objects.get(pk=claim_id)
    claim.round_query = round_query
    count_label_changes(settle_claim(claim))


def recount_surplus(round_query: RoundQuery, *, finished_by: int | None = None) -> Changes:
    """Mark labels of a locked query as surplus, or no longer, by who has finished it, as
    `settle_claim` says; returns the labels that changed so."""
    parameters: dict[str, Any] = {
        "round": round_query.round_id,
        "round_query": round_query.pk,
        "query": round_query.query_id,
        "places": round_query.annotators,
        "annotator": finished_by,
    }
    with prepared_cursor() as cursor:
        cursor.execute(statements.RECOUNT_SURPLUS, parameters)
        return Counter((round_query.round_id, annotator) for (annotator,) in cursor.fetchall())


def reopen_grown_claims(study: Study, queries: Collection[int]) -> int:
    """Hold again the finished claims of these queries (keys), which gained pooled pairs, of those
    who annotate now; returns their number.

    Their annotators meet the new pairs next. The places stay theirs for as long as it takes: what
    they had finished would otherwise be given to others whole.
    """
    return (
        find_outgrown_claims(study, queries)
        .filter(
            annotator__is_active=True,
            annotator__user__isnull=False,
            annotator__roles__contains=[Role.ANNOTATOR.value],
        )
        .update(state=Claim.State.HELD, expires_at=timezone.now() + LASTING_HOLD)
    )


def find_outgrown_claims(study: Study, queries: Collection[int]) -> QuerySet[Claim]:
    """The finished claims of open rounds on these queries whose annotators lack a label of a
    pooled pair."""
    own = Judgment.objects.filter(
        round=OuterRef(OuterRef("round_query__round")),
        annotator=OuterRef(OuterRef("annotator")),
        pair=OuterRef("pk"),
    )
    pooled = Pair.objects.filter(query=OuterRef("round_query__query"), pool_rank__isnull=False)
    assigned = RoundAssignment.objects.filter(round=OuterRef("round_query__round"))
    return Claim.objects.filter(
        Exists(pooled.exclude(Exists(own))),
        ~Exists(assigned),
        round_query__query__in=queries,
        round_query__round__study=study,
        round_query__round__closed_at__isnull=True,
        state=Claim.State.FINISHED,
    )


def expiry_in(round: Round) -> datetime:
    """Until when a query of the round is held: what is assigned to somebody stays theirs."""
    return timezone.now() + LASTING_HOLD if is_assigned(round) else expiry(round.study)


def expiry(study: Study) -> datetime:
    return timezone.now() + timedelta(minutes=study.claim_minutes)


def is_lasting(expires_at: datetime) -> bool:
    """Whether a hold until then ends by no lapse of time."""
    return expires_at > timezone.now() + LASTING_HOLD / 2


def count_label_changes(changes: Mapping[tuple[int, int], int]) -> None:
    """Add to the counts of `LabelChanges`, in the order of their keys so that two transactions
    that touch the same ones wait rather than deadlock."""
    with prepared_cursor() as cursor:
        for (round_id, annotator), count in sorted(changes.items()):
            parameters = {"round": round_id, "annotator": annotator, "changes": count}
            cursor.execute(statements.COUNT_LABEL_CHANGES, parameters)

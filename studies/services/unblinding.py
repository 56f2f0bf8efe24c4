"""Who judges after they could read others' labels, and in which rounds.

Who holds the annotator's role sees no results of a round they are still to judge in. Who gives the
role away, reads, and takes it back may judge on, but no longer blind. The same holds of who reads
once all places are taken and is given one that became free, and of everybody who reads where the
study lets them. That is recorded here, for each round by itself, and never taken back.
"""

from collections.abc import Collection
from typing import Literal

from django.db import transaction
from django.db.models import Min

from studies.models import Action, Member, Role, Round, Unblinding, User
from studies.services.log import record_action

# Those who read results, and those who see the labels of contested pairs.
READING_ROLES = (Role.LEAD, Role.ADMIN, Role.ADJUDICATOR)


def mark_unblinded(
    member: Member, wanted: Collection[str], *, user: User | None, is_logged: bool = True
) -> list[str]:
    """Mark the rounds open now, and those to come that hold labels by an import, as ones that the
    member does not judge blind, if that is what giving them the roles `wanted` means. Call it
    before the roles are saved, in the transaction.

    It is so when the annotator's role is new to them, such a round holds somebody else's labels,
    and they have, or had while it was open or held them, a role that reads such labels. Returns
    the names of the rounds; a round marked before keeps its first moment.
    """
    if Role.ANNOTATOR in member.roles or Role.ANNOTATOR not in wanted:
        return []
    rounds = list(member.study.rounds.filter(closed_at__isnull=True))
    labelled = [round for round in rounds if _has_labels_of_others(round, member)]
    if not labelled or not _could_read(member, labelled):
        return []
    told = [round for round in rounds if round.is_open or round in labelled]
    return record_unblinding(member, told, user=user, by="roles", is_logged=is_logged)


@transaction.atomic
def record_unblinding(
    member: Member,
    rounds: Collection[Round],
    *,
    user: User | None,
    by: Literal["roles", "results"],
    is_logged: bool = True,
) -> list[str]:
    """Record since when the member does not judge these rounds blind; the log tells by what: by
    `roles` they were given, or by having read `results`. Returns the names of the rounds."""
    Unblinding.objects.bulk_create(
        (Unblinding(member=member, round=round) for round in rounds), ignore_conflicts=True
    )
    names = [round.name for round in rounds]
    if is_logged:
        data = {"member": member.name, "rounds": names, "by": by}
        record_action(member.study, "member.unblinded", user=user, data=data)
    return names


def _has_labels_of_others(round: Round, member: Member) -> bool:
    others = member.study.members.exclude(pk=member.pk)
    return others.filter(judgments__round=round).exists()


def _could_read(member: Member, labelled: Collection[Round]) -> bool:
    """Whether they can read now, or could at some time since the first of the rounds opened, or
    was labelled by an import: every loss of a role is a line of the log that tells the roles held
    before."""
    if _reads(member.roles):
        return True
    others = member.study.members.exclude(pk=member.pk).filter(judgments__round__in=labelled)
    first = others.aggregate(first=Min("judgments__recorded_at"))["first"]
    lost = Action.objects.filter(
        study=member.study_id,
        name="member.roles_changed",
        at__gte=min([first, *(round.opens_at for round in labelled)]),
        data__member=member.name,
    )
    return any(_reads(data["before"]) for data in lost.values_list("data", flat=True))


def _reads(roles: Collection[str]) -> bool:
    return Role.ANNOTATOR not in roles and not {*READING_ROLES}.isdisjoint(roles)

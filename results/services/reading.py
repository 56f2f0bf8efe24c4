"""Who is shown results, and that somebody who judges has been shown them.

Every page and file that tells how others have judged asks here first.
"""

from collections.abc import Collection

from results.selectors.blindness import (
    find_blinding_rounds,
    has_labels_of_others,
    list_blind_rounds,
    list_unblinded_rounds,
)
from results.services.scopes import Scope, find_rounds
from studies.access import StudyAccess
from studies.models import Role, Round
from studies.services.unblinding import record_unblinding


def open_results(access: StudyAccess, rounds: Collection[Round] | None = None) -> list[str]:
    """Names of the rounds for whose sake the results of these rounds, by default those of the
    current labels, stay hidden from this person. Where there is none they are shown, and that is
    recorded as `record_reading` says."""
    shown = find_current_rounds(access) if rounds is None else rounds
    hiding = find_blinding_rounds(access.member, shown)
    if not hiding:
        record_reading(access, shown)
    return hiding


def find_current_rounds(access: StudyAccess) -> Collection[Round]:
    """The rounds of the current labels."""
    return find_rounds(access.study, Scope()).labels


def record_reading(access: StudyAccess, rounds: Collection[Round]) -> None:
    """Mark that an annotator who is shown these rounds' results judges some rounds no longer blind:
    those that could still give them pairs, now (the study lets them read), once a place is freed,
    or once they open. Nothing is written where nobody else has labelled, nor a second time. The
    page tells of such rounds by `access.not_blind_in`."""
    if not access.member.has_role(Role.ANNOTATOR):
        return
    opened = list_blind_rounds(access.member, rounds)
    if opened and has_labels_of_others(access.member, rounds):
        record_unblinding(access.member, opened, user=access.user, by="results")
    access.not_blind_in[:] = list_unblinded_rounds(access.member)

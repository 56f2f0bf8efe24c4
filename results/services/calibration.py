"""Talking over the splits of a calibration round: opening the comparison, and its notes."""

from django.db import transaction

from results.models import CalibrationNote
from results.selectors.calibration import list_outdated, list_reports, list_rounds
from results.services import reports
from results.services.scopes import Scope
from studies.models import Member, Pair, Round, Study, User
from studies.services.log import record_action
from studies.services.rounds import close_round


class NoteOutdated(Exception):
    """Somebody else saved a note on this split meanwhile; nothing was changed."""


@transaction.atomic
def open_comparison(*, round: Round, by: Member) -> None:
    """Close the round, so that what is said of its splits changes no label of it, and ask for its
    numbers. Opening it again changes nothing."""
    was_open = close_round(round=round, user=by.user, member=by)
    if not was_open:
        return
    record_action(
        by.study, "comparison.opened", user=by.user, member=by, data={"round": round.name}
    )
    reports.refresh(by.study, scope=Scope(round=round.name), user=by.user)


def request_missing_numbers(study: Study, *, user: User) -> None:
    """Ask for the numbers of every closed calibration and relabel round that has none of after
    its close, or only some that are older than the labels they rest on."""
    rounds = list_rounds(study, Round.Kind.CALIBRATION, Round.Kind.RELABEL)
    known = list_reports(study, rounds)
    old = list_outdated(study, {one: known[one.name] for one in rounds if one.name in known})
    for round in rounds:
        if round.closed_at is not None and (round.name not in known or round.name in old):
            reports.refresh(study, scope=Scope(round=round.name), user=user)


@transaction.atomic
def save_note(
    *, round: Round, pair: Pair, kind: str, note: str, edition: int, by: Member
) -> CalibrationNote:
    """Keep what a split was found to be. `edition` is that of the note shown, 0 for none.

    Raises NoteOutdated where another one stands there by now.
    """
    Pair.objects.select_for_update(of=("self",), no_key=True).get(pk=pair.pk)
    found = CalibrationNote.objects.filter(round=round, pair=pair).first()
    if (found.edition if found else 0) != edition:
        raise NoteOutdated
    saved = found or CalibrationNote(round=round, pair=pair, edition=0)
    saved.kind, saved.note, saved.by = kind, note, by
    saved.edition += 1
    saved.save()
    record_action(
        by.study,
        "calibration.noted",
        user=by.user,
        member=by,
        data={
            "round": round.name,
            "query_id": pair.query.external_id,
            "doc_id": pair.document.external_id,
            "kind": kind,
            "note": note,
        },
    )
    return saved

"""What is said once a round was opened or given a time."""

from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from studies.models import Round


def say_opened(round: Round) -> str:
    """From when on the round is judged, and how its pairs come."""
    if not round.is_open:
        text = _("The round “%(round)s” opens at %(time)s. Nothing of it is offered before.")
        time = date_format(localtime(round.opens_at), "DATETIME_FORMAT")
        return text % {"round": round.name, "time": time}
    match round.kind:
        case Round.Kind.CALIBRATION:
            text = _("The round “%(round)s” is open: everybody judges its pairs before any others.")
        case Round.Kind.MAIN:
            text = _("The round “%(round)s” is open: its queries come in everybody's own order.")
        case Round.Kind.RELABEL:
            text = _(
                "The round “%(round)s” is open: people meet some of their own pairs again, blind."
            )
        case _recheck:
            text = _(
                "The round “%(round)s” is open: its pairs come next to those who labelled them."
            )
    return text % {"round": round.name}

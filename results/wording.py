"""Numbers and outcomes in words: the same on pages and in reports.

Web processes import this module, so it names the bands and reasons that the statistics give
without importing them; a test compares the two.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from django.utils.formats import number_format
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext, ngettext_lazy, pgettext_lazy

NOTHING = "–"
MINUS = "−"

# Bands and reasons come from the pure statistics in English; here they are named, to be translated.
BANDS = (
    gettext_noop("poor"),
    gettext_noop("slight"),
    gettext_noop("fair"),
    gettext_noop("moderate"),
    gettext_noop("substantial"),
    gettext_noop("almost perfect"),
    gettext_noop("reliable"),
    gettext_noop("tentative conclusions only"),
    gettext_noop("unreliable"),
)
# Told apart from the interval that says how sure a number is: other languages have two words.
LEVELS = {
    "nominal": pgettext_lazy("level of measurement", "nominal"),
    "ordinal": pgettext_lazy("level of measurement", "ordinal"),
    "interval": pgettext_lazy("level of measurement", "interval"),
}
REASONS = (
    gettext_noop("nothing shared: no pair was labelled by both"),
    gettext_noop("nothing shared: no pair was labelled at least twice"),
    gettext_noop("one label used: chance alone would agree everywhere"),
    gettext_noop("fewer than 10 queries to draw from"),
    gettext_noop("no pair of this class was labelled at least twice"),
    gettext_noop("no pair outside of this class was labelled at least twice"),
)

NOT_BLIND = ngettext_lazy(
    "%(count)s judgment is not blind: who gave it could read others' labels of the round before. "
    "It counts all the same.",
    "%(count)s judgments are not blind: who gave them could read others' labels of the round "
    "before. They count all the same.",
    "number",
)
BESIDE = (
    (
        "missing",
        ngettext_lazy(
            "%(count)s planned outcome is still missing.",
            "%(count)s planned outcomes are still missing.",
            "number",
        ),
    ),
    (
        "surplus",
        ngettext_lazy(
            "%(count)s label came after others had filled the places: kept, not counted.",
            "%(count)s labels came after others had filled the places: kept, not counted.",
            "number",
        ),
    ),
    (
        "controls_left_out",
        ngettext_lazy(
            "%(count)s judgment of a control pair stays out of these numbers.",
            "%(count)s judgments of control pairs stay out of these numbers.",
            "number",
        ),
    ),
    ("not_blind", NOT_BLIND),
    (
        "pairs_beyond_plan",
        ngettext_lazy(
            "%(count)s pair has more labels than planned; all of them count.",
            "%(count)s pairs have more labels than planned; all of them count.",
            "number",
        ),
    ),
    (
        "without_dimension",
        ngettext_lazy(
            "%(count)s label names no deciding dimension.",
            "%(count)s labels name no deciding dimension.",
            "number",
        ),
    ),
)

# Where the bands of α and of κ begin that a page speaks of.
RELIABLE = 0.80
TENTATIVE = 0.667
SUBSTANTIAL = 0.60


def as_ratio(value: float | None) -> str:
    """A measure with three decimals; one that is undefined is no number at all."""
    return NOTHING if value is None else _fixed(value, 3)


def as_share(value: float | None) -> str:
    """A share of one as a percentage with one decimal."""
    return NOTHING if value is None else f"{_fixed(100 * value, 1)}%"


def as_count(value: int) -> str:
    return str(number_format(value, use_l10n=True, force_grouping=True))


def as_interval(bounds: tuple[float, float] | None) -> str:
    return NOTHING if bounds is None else f"{as_ratio(bounds[0])} … {as_ratio(bounds[1])}"


def as_share_interval(bounds: tuple[float, float] | None) -> str:
    return NOTHING if bounds is None else f"{as_share(bounds[0])} … {as_share(bounds[1])}"


def as_duration(seconds: float | None) -> str:
    """Working time to the minute, or to the second below one; nothing where it is unknown."""
    if seconds is None:
        return NOTHING
    if seconds < 60:
        return _("%(seconds)d s") % {"seconds": round(seconds)}
    hours, minutes = divmod(round(seconds / 60), 60)
    if not hours:
        return _("%(minutes)d min") % {"minutes": minutes}
    return _("%(hours)s h %(minutes)02d min") % {"hours": as_count(hours), "minutes": minutes}


def as_p_value(value: float | None) -> str:
    return f"< {as_ratio(0.001)}" if value is not None and value < 0.001 else as_ratio(value)


def as_ago(moment: datetime) -> str:
    """How long ago, in words."""
    if timezone.now() - moment < timedelta(minutes=1):
        return _("a moment ago")
    return _("%(time)s ago") % {"time": timesince(moment, depth=1)}


def as_words(text: str | None) -> str:
    """A band or reason of the statistics in the reader's language."""
    return _(text) if text else ""


def count_pairs(number: int) -> str:
    return ngettext("%(count)s pair", "%(count)s pairs", number) % {"count": as_count(number)}


def find_leading_class(payload: Mapping[str, Any]) -> dict[str, Any] | None:
    """The named class that splits most beyond the rest, if one splits more than the rest."""
    compared = [
        row
        for row in payload["classes"]
        if row["class"] is not None and row["rate"] is not None and row["rest_rate"] is not None
    ]
    leading = max(compared, key=lambda row: row["rate"] - row["rest_rate"], default=None)
    return leading if leading and leading["rate"] > leading["rest_rate"] else None


def say_where_it_splits(payload: Mapping[str, Any]) -> str:
    """The report in one sentence, with the numbers that it rests on."""
    pairs, splits = payload["pairs_labelled_twice"], payload["splits"]
    if not pairs:
        return _("No pair has been labelled by two people yet, so nobody can agree or split.")
    if not splits:
        return ngettext(
            "The one pair that was labelled twice or more got one and the same label.",
            "Nobody splits: each of the %(count)s pairs labelled twice or more got one label.",
            pairs,
        ) % {"count": as_count(pairs)}
    leading = find_leading_class(payload)
    if leading is None:
        return _("%(splits)s of %(pairs)s split; no query class splits more than the rest.") % {
            "splits": as_count(splits),
            "pairs": count_pairs(pairs),
        }
    return _(
        "People split most on %(class)s queries: %(splits)s of %(pairs)s, "
        "against %(rest_splits)s of %(rest_pairs)s elsewhere."
    ) % {
        "class": leading["class"],
        "splits": as_count(leading["splits"]),
        "pairs": count_pairs(leading["pairs"]),
        "rest_splits": as_count(leading["rest_splits"]),
        "rest_pairs": as_count(leading["rest_pairs"]),
    }


def say_citations(payload: Mapping[str, Any]) -> str:
    """How the split pairs cite the rubric, in one sentence, or two where some cite nothing."""
    kinds = {key: as_count(number) for key, number in payload["split_kinds"].items()}
    if not payload["splits"]:
        return ""
    text = ngettext(
        "What the labels of the %(splits)s split cite: different dimensions in "
        "%(different_dimensions)s, one dimension with different readings in "
        "%(different_clauses)s, the same reading in %(same_reading)s.",
        "What the labels of the %(splits)s splits cite: different dimensions in "
        "%(different_dimensions)s, one dimension with different readings in "
        "%(different_clauses)s, the same reading in %(same_reading)s.",
        payload["splits"],
    )
    if payload["split_kinds"]["unknown_citation"]:
        text += " " + _("In %(unknown_citation)s a label names no dimension: that tells nothing.")
    return text % {**kinds, "splits": as_count(payload["splits"])}


def say_not_blind(number: int) -> str:
    """How many judgments are not blind, in a sentence; "" for none."""
    return NOT_BLIND % {"number": number, "count": as_count(number)} if number else ""


def say_what_stands_beside(payload: Mapping[str, Any]) -> list[str]:
    """What is counted beside the tables, each in a sentence; nothing is said of a zero."""
    told = [
        sentence % {"number": payload[key], "count": as_count(payload[key])}
        for key, sentence in BESIDE
        if payload[key]
    ]
    return [*told, say_who_reads()] if payload["judges_read_results"] else told


def say_who_reads() -> str:
    return _("The study lets people read results while they still judge.")


def _fixed(value: float, decimals: int) -> str:
    rounded = round(value, decimals)
    text = number_format(abs(rounded), decimals, use_l10n=True, force_grouping=True)
    return f"{MINUS}{text}" if rounded < 0 else str(text)

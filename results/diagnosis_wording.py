"""What the diagnosis says, in the reader's language.

A stored sentence is a code with its values. The English texts stand in
`results.statistics.diagnosis.sentences`, which web processes do not import, because it needs
numpy; a test compares the two.
"""

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from results.wording import NOTHING, as_count, as_p_value, as_share

Value = str | int | float | None

TEXTS = {
    "concentrated": gettext_noop(
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): more than chance gives (p {p} over {queries} and "
        "{rest_queries} queries)."
    ),
    "not_concentrated": gettext_noop(
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): no more than chance and the difficulty of single "
        "queries give (p {p} over {queries} and {rest_queries} queries)."
    ),
    "slightly_more": gettext_noop(
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): more, but less than one and a half times as "
        "often."
    ),
    "not_comparable": gettext_noop(
        "{splits} of {pairs} pairs of class {name} split; no pair elsewhere has as many "
        "labels, so there is nothing to compare them with."
    ),
    "nothing_labelled": gettext_noop("No pair of class {name} has the labels of two people."),
    "direction_against_rest": gettext_noop(
        "{higher} is higher than {lower} in {count} of {total} splits between them here, and in "
        "{rest_count} of {rest_total} elsewhere (p {p} over {queries} and {rest_queries} queries)."
    ),
    "direction_against_even_odds": gettext_noop(
        "{higher} is higher than {lower} in {count} of {total} splits between them here (p {p} "
        "against even odds, over {queries} queries); elsewhere there are only {rest_total}, so "
        "leniency cannot be excluded."
    ),
    "directions_together": gettext_noop(
        "That is the clearest of several directions; all annotators together have p {p} over "
        "{queries} and {rest_queries} queries."
    ),
    "directions_together_here": gettext_noop(
        "That is the clearest of several directions; all annotators together have p {p} against "
        "even odds, over {queries} queries."
    ),
    "not_sure": gettext_noop(
        "That is not sure enough to set the class apart: a hole asks for p {bound} or less, "
        "and what was found, taken together, has p {p}."
    ),
    "no_direction": gettext_noop(
        "Its splits run in no direction of their own (n = {total} differing labels)."
    ),
    "apart_from_rest": gettext_noop(
        "{count} of {total} differing labels whose citations are known cite different dimensions "
        "or clauses, against {rest_count} of {rest_total} elsewhere and {chance} by chance (p {p} "
        "over {queries} and {rest_queries} queries)."
    ),
    "apart_from_chance": gettext_noop(
        "{count} of {total} differing labels whose citations are known cite different dimensions "
        "or clauses, against {chance} by chance (p {p} over {queries} queries); elsewhere only "
        "{rest_total} are known."
    ),
    "citations": gettext_noop(
        "Of its {splits} splits {same} cite the same reading, {different} different "
        "dimensions or clauses, {unknown} are unknown: nothing of its own."
    ),
    "citations_known": gettext_noop(
        "Of its {splits} splits {same} cite the same reading, {different} different "
        "dimensions or clauses: nothing of its own."
    ),
    "citations_unknown": gettext_noop(
        "None of its {splits} splits names a deciding dimension on both sides, so whether "
        "people read the rubric apart is unknown."
    ),
    "write_clause": gettext_noop(
        "The rubric is silent here and a majority vote cannot settle it: write a clause for "
        "class {name} and recheck its pairs, of which {pairs} are labelled twice or more."
    ),
    "adjudicate": gettext_noop(
        "These look like slips on harder queries: adjudicate the {splits} splits."
    ),
    "nothing_to_do": gettext_noop("There is nothing to mend."),
    "nothing_but_leniency": gettext_noop(
        "There is nothing to mend in the class itself; the leniency that the whole study "
        "shows is to be mended, and shows here too."
    ),
    "nothing_yet": gettext_noop(
        "That alone is no hole, as the class splits no more than the rest: there is nothing "
        "to mend now, but look again when more is labelled."
    ),
    "label_more": gettext_noop(
        "Too little to tell: have {pairs} more pairs of class {name}, on new queries, "
        "labelled by two people or more, to see a hole that splits {points} points above the "
        "rest in four cases of five."
    ),
    "label_more_queries": gettext_noop(
        "Too little to tell: have {pairs} more pairs of class {name} labelled by two people "
        "or more, on new queries (at least {queries})."
    ),
    "label_to_be_sure": gettext_noop(
        "Too little to tell a hole from slips: have {pairs} more pairs of class {name}, on new"
        " queries, labelled by two people or more, and read its {splits} splits meanwhile."
    ),
    "tell_by_causes": gettext_noop(
        "Too little to tell slips from a hole: only {same} of its {splits} splits are known to"
        " rest on one reading. Adjudicate them and name their causes, which tell."
    ),
    "label_rest": gettext_noop(
        "Too little elsewhere to compare with: have {rest_pairs} more pairs of other classes "
        "labelled by as many people as these."
    ),
    "lenient": gettext_noop(
        "{higher} is higher than {lower} in {count} of {total} splits between them outside of any "
        "hole (p {p} over {queries} queries), whichever class is left out: leniency, a habit of "
        "theirs and no hole. Compare their use of the grades."
    ),
    "study_hole": gettext_noop(
        "The rubric is silent in {names}: mend it there before anything else."
    ),
    "study_slips": gettext_noop(
        "No hole, but {names} split more than the rest: adjudicate those splits."
    ),
    "study_noise": gettext_noop("Splits are spread as chance and single hard queries spread them."),
    "study_too_little_data": gettext_noop(
        "Too little is labelled twice to say where people split."
    ),
    "study_undecided": gettext_noop(
        "{names} split more than the rest, and whether the rubric is silent there cannot be "
        "told yet."
    ),
    "study_untold": gettext_noop("In {names} too little is labelled twice to tell."),
    "study_lenient": gettext_noop(
        "People differ in leniency, whatever the class ({over}): compare how they use the "
        "grades, agree on where each grade begins, and have the borderline pairs labelled "
        "anew."
    ),
}
# The same of one thing: the value that is counted, and the text where it is 1.
ONE = {
    "not_concentrated": (
        "pairs",
        gettext_noop(
            "{splits} of {pairs} pair of class {name} splits ({rate}), against {rest_splits} of "
            "{rest_pairs} elsewhere ({rest_rate}): no more than chance and the difficulty of "
            "single queries give (p {p} over {queries} and {rest_queries} queries)."
        ),
    ),
    "not_comparable": (
        "pairs",
        gettext_noop(
            "{splits} of {pairs} pair of class {name} splits; no pair elsewhere has as many"
            " labels, so there is nothing to compare it with."
        ),
    ),
    "no_direction": (
        "total",
        gettext_noop("Its splits run in no direction of their own (n = {total} differing label)."),
    ),
    "citations": (
        "splits",
        gettext_noop("What its one split cites is known in part: nothing of its own."),
    ),
    "citations_known": (
        "splits",
        gettext_noop("What its one split cites is nothing of its own."),
    ),
    "citations_unknown": (
        "splits",
        gettext_noop(
            "Its one split does not name a deciding dimension on both sides, so whether "
            "people read the rubric apart is unknown."
        ),
    ),
    "adjudicate": (
        "splits",
        gettext_noop("This looks like a slip on a harder query: adjudicate the one split."),
    ),
    "tell_by_causes": (
        "splits",
        gettext_noop(
            "Too little to tell slips from a hole: adjudicate its one split and name the cause."
        ),
    ),
    "label_to_be_sure": (
        "pairs",
        gettext_noop(
            "Too little to tell a hole from slips: have {pairs} more pair of class {name}, on"
            " a new query, labelled by two people or more, and read its {splits} splits "
            "meanwhile."
        ),
    ),
    "label_more": (
        "pairs",
        gettext_noop(
            "Too little to tell: have {pairs} more pair of class {name}, on a new query, "
            "labelled by two people or more, to see a hole that splits {points} points "
            "above the rest in four cases of five."
        ),
    ),
    "label_more_queries": (
        "pairs",
        gettext_noop(
            "Too little to tell: have {pairs} more pair of class {name} labelled by two "
            "people or more, on a new query."
        ),
    ),
    "label_rest": (
        "rest_pairs",
        gettext_noop(
            "Too little elsewhere to compare with: have {rest_pairs} more pair of other "
            "classes labelled by as many people as these."
        ),
    ),
}
# What to do, as against what was found.
ADVICE = frozenset(
    {
        "write_clause",
        "adjudicate",
        "nothing_to_do",
        "nothing_but_leniency",
        "nothing_yet",
        "label_to_be_sure",
        "tell_by_causes",
        "label_more",
        "label_more_queries",
        "label_rest",
    }
)
TAGS = {
    "hole": gettext_noop("hole"),
    "slips": gettext_noop("slips"),
    "noise": gettext_noop("noise"),
    "too_little_data": gettext_noop("too little data"),
}
VERDICTS = tuple(TAGS)
OTHERS = gettext_noop("the others")
SHARES = frozenset({"rate", "rest_rate", "chance"})
P_VALUES = frozenset({"p", "bound"})


def say(sentence: Mapping[str, Any]) -> str:
    """A sentence of a stored report: `code` and `values`, and `text` for a code unknown here."""
    text = TEXTS.get(sentence["code"])
    if text is None:
        return str(sentence["text"])
    counted, one = ONE.get(sentence["code"], ("", ""))
    if sentence["values"].get(counted) == 1:
        text = one
    shown = {name: _show(name, value) for name, value in sentence["values"].items()}
    return _(text).format(**shown)


def _show(name: str, value: Value) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return _(OTHERS) if value == OTHERS else value
    if name in SHARES:
        return as_share(value)
    return as_p_value(value) if name in P_VALUES else as_count(int(value))

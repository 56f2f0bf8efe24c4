"""What the diagnosis says, as data and as English.

A `Sentence` is a code with its values: whoever shows it may write it in another language. The
English text is made here from the same values.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from results.statistics.diagnosis.citation import Citation
from results.statistics.diagnosis.concentration import Concentration
from results.statistics.diagnosis.direction import Direction
from results.statistics.diagnosis.leniency import Leniency
from results.statistics.diagnosis.thresholds import APART_LEVEL, LEVEL, PLANNED_EXCESS
from results.statistics.diagnosis.verdict import Need, Verdict
from results.statistics.splits import SplitRate

Value = str | int | float | None

_TEXTS: Mapping[str, str] = {
    "concentrated": (
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): more than chance gives (p {p} over {queries} and "
        "{rest_queries} queries)."
    ),
    "not_concentrated": (
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): no more than chance and the difficulty of single "
        "queries give (p {p} over {queries} and {rest_queries} queries)."
    ),
    "slightly_more": (
        "{splits} of {pairs} pairs of class {name} split ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): more, but less than one and a half times as often."
    ),
    "not_comparable": (
        "{splits} of {pairs} pairs of class {name} split; no pair elsewhere has as many labels, "
        "so there is nothing to compare them with."
    ),
    "nothing_labelled": "No pair of class {name} has the labels of two people.",
    "direction_against_rest": (
        "{higher} is higher than {lower} in {count} of {total} splits between them here, and in "
        "{rest_count} of {rest_total} elsewhere (p {p} over {queries} and {rest_queries} queries)."
    ),
    "direction_against_even_odds": (
        "{higher} is higher than {lower} in {count} of {total} splits between them here (p {p} "
        "against even odds, over {queries} queries); elsewhere there are only {rest_total}, so "
        "leniency cannot be excluded."
    ),
    "directions_together": (
        "That is the clearest of several directions; all annotators together have p {p} over "
        "{queries} and {rest_queries} queries."
    ),
    "directions_together_here": (
        "That is the clearest of several directions; all annotators together have p {p} against "
        "even odds, over {queries} queries."
    ),
    "not_sure": (
        "That is not sure enough to set the class apart: a hole asks for p {bound} or less, and "
        "what was found, taken together, has p {p}."
    ),
    "no_direction": "Its splits run in no direction of their own (n = {total} differing labels).",
    "apart_from_rest": (
        "{count} of {total} differing labels whose citations are known cite different dimensions "
        "or clauses, against {rest_count} of {rest_total} elsewhere and {chance} by chance (p {p} "
        "over {queries} and {rest_queries} queries)."
    ),
    "apart_from_chance": (
        "{count} of {total} differing labels whose citations are known cite different dimensions "
        "or clauses, against {chance} by chance (p {p} over {queries} queries); elsewhere only "
        "{rest_total} are known."
    ),
    "citations": (
        "Of its {splits} splits {same} cite the same reading, {different} different dimensions or "
        "clauses, {unknown} are unknown: nothing of its own."
    ),
    "citations_known": (
        "Of its {splits} splits {same} cite the same reading, {different} different dimensions or "
        "clauses: nothing of its own."
    ),
    "citations_unknown": (
        "None of its {splits} splits names a deciding dimension on both sides, so whether people "
        "read the rubric apart is unknown."
    ),
    "write_clause": (
        "The rubric is silent here and a majority vote cannot settle it: write a clause for class "
        "{name} and recheck its pairs, of which {pairs} are labelled twice or more."
    ),
    "adjudicate": "These look like slips on harder queries: adjudicate the {splits} splits.",
    "nothing_to_do": "There is nothing to mend.",
    "nothing_but_leniency": (
        "There is nothing to mend in the class itself; the leniency that the whole study shows is "
        "to be mended, and shows here too."
    ),
    "nothing_yet": (
        "That alone is no hole, as the class splits no more than the rest: there is nothing to "
        "mend now, but look again when more is labelled."
    ),
    "label_more": (
        "Too little to tell: have {pairs} more pairs of class {name}, on new queries, labelled by "
        "two people or more, to see a hole that splits {points} points above the rest in four "
        "cases of five."
    ),
    "label_more_queries": (
        "Too little to tell: have {pairs} more pairs of class {name} labelled by two people or "
        "more, on new queries (at least {queries})."
    ),
    "label_to_be_sure": (
        "Too little to tell a hole from slips: have {pairs} more pairs of class {name}, on new "
        "queries, labelled by two people or more, and read its {splits} splits meanwhile."
    ),
    "tell_by_causes": (
        "Too little to tell slips from a hole: only {same} of its {splits} splits are known to "
        "rest on one reading. Adjudicate them and name their causes, which tell."
    ),
    "label_rest": (
        "Too little elsewhere to compare with: have {rest_pairs} more pairs of other classes "
        "labelled by as many people as these."
    ),
    "lenient": (
        "{higher} is higher than {lower} in {count} of {total} splits between them outside of any "
        "hole (p {p} over {queries} queries), whichever class is left out: leniency, a habit of "
        "theirs and no hole. Compare their use of the grades."
    ),
    "study_hole": "The rubric is silent in {names}: mend it there before anything else.",
    "study_slips": "No hole, but {names} split more than the rest: adjudicate those splits.",
    "study_noise": "Splits are spread as chance and single hard queries spread them.",
    "study_too_little_data": "Too little is labelled twice to say where people split.",
    "study_undecided": (
        "{names} split more than the rest, and whether the rubric is silent there cannot be told "
        "yet."
    ),
    "study_untold": "In {names} too little is labelled twice to tell.",
    "study_lenient": (
        "People differ in leniency, whatever the class ({over}): compare how they use the grades, "
        "agree on where each grade begins, and have the borderline pairs labelled anew."
    ),
}

# The same of one thing: the value that is counted, and the text where it is 1.
_ONE: Mapping[str, tuple[str, str]] = {
    "not_concentrated": (
        "pairs",
        "{splits} of {pairs} pair of class {name} splits ({rate}), against {rest_splits} of "
        "{rest_pairs} elsewhere ({rest_rate}): no more than chance and the difficulty of single "
        "queries give (p {p} over {queries} and {rest_queries} queries).",
    ),
    "not_comparable": (
        "pairs",
        "{splits} of {pairs} pair of class {name} splits; no pair elsewhere has as many labels, "
        "so there is nothing to compare it with.",
    ),
    "no_direction": (
        "total",
        "Its splits run in no direction of their own (n = {total} differing label).",
    ),
    "citations": ("splits", "What its one split cites is known in part: nothing of its own."),
    "citations_known": ("splits", "What its one split cites is nothing of its own."),
    "citations_unknown": (
        "splits",
        "Its one split does not name a deciding dimension on both sides, so whether people read "
        "the rubric apart is unknown.",
    ),
    "adjudicate": ("splits", "This looks like a slip on a harder query: adjudicate the one split."),
    "tell_by_causes": (
        "splits",
        "Too little to tell slips from a hole: adjudicate its one split and name the cause.",
    ),
    "label_to_be_sure": (
        "pairs",
        "Too little to tell a hole from slips: have {pairs} more pair of class {name}, on a new "
        "query, labelled by two people or more, and read its {splits} splits meanwhile.",
    ),
    "label_more": (
        "pairs",
        "Too little to tell: have {pairs} more pair of class {name}, on a new query, labelled by "
        "two people or more, to see a hole that splits {points} points above the rest in four "
        "cases of five.",
    ),
    "label_more_queries": (
        "pairs",
        "Too little to tell: have {pairs} more pair of class {name} labelled by two people or "
        "more, on a new query.",
    ),
    "label_rest": (
        "rest_pairs",
        "Too little elsewhere to compare with: have {rest_pairs} more pair of other classes "
        "labelled by as many people as these.",
    ),
}


@dataclass(frozen=True)
class Sentence:
    """A code of this module with the values of its text."""

    code: str
    values: Mapping[str, Value]

    @property
    def text(self) -> str:
        counted, one = _ONE.get(self.code, ("", ""))
        text = one if self.values.get(counted) == 1 else _TEXTS[self.code]
        return text.format(**{k: _show(k, v) for k, v in self.values.items()})

    def to_json(self) -> dict[str, Any]:
        return {"code": self.code, "values": dict(self.values), "text": self.text}


def say_concentration(
    name: str,
    inside: SplitRate,
    rest: SplitRate,
    *,
    found: Concentration,
    p_value: float | None,
    concentrated: bool,
) -> Sentence:
    """The splits of the class beside those of the rest, and over how many queries they are held
    against each other."""
    values: dict[str, Value] = {
        "name": name,
        "splits": inside.splits,
        "pairs": inside.pairs,
        "rate": inside.value,
        "rest_splits": rest.splits,
        "rest_pairs": rest.pairs,
        "rest_rate": rest.value,
        "p": p_value,
        "queries": found.queries,
        "rest_queries": found.rest_queries,
    }
    if not inside.pairs:
        return Sentence("nothing_labelled", {"name": name})
    if p_value is None:
        return Sentence("not_comparable", values)
    if concentrated:
        return Sentence("concentrated", values)
    return Sentence("slightly_more" if p_value <= LEVEL else "not_concentrated", values)


def say_direction(names: tuple[str, ...], leading: Direction | None, total: int) -> Sentence:
    """The contrast that sets the class apart, or that none does."""
    if leading is None:
        return Sentence("no_direction", {"total": total})
    a = names[leading.a]
    b = "the others" if leading.b is None else names[leading.b]
    is_a = leading.a_higher > leading.b_higher
    against = "rest" if leading.compared_with_rest else "even_odds"
    return Sentence(
        f"direction_against_{against}",
        {
            "higher": a if is_a else b,
            "lower": b if is_a else a,
            "count": max(leading.a_higher, leading.b_higher),
            "total": leading.a_higher + leading.b_higher,
            "rest_count": leading.rest_a_higher if is_a else leading.rest_b_higher,
            "rest_total": leading.rest_a_higher + leading.rest_b_higher,
            "p": leading.p_value,
            "queries": leading.queries,
            "rest_queries": leading.rest_queries,
        },
    )


def say_directions_together(p: float, queries: int, rest_queries: int) -> Sentence:
    values: dict[str, Value] = {"p": p, "queries": queries}
    if not rest_queries:
        return Sentence("directions_together_here", values)
    return Sentence("directions_together", {**values, "rest_queries": rest_queries})


def say_citation(found: Citation, splits: int, *, apart: bool) -> Sentence:
    """What the splits cite, and whether that sets the class apart."""
    if not found.known:
        return Sentence("citations_unknown", {"splits": splits})
    if not apart:
        return Sentence(
            "citations" if found.unknown else "citations_known",
            {
                "splits": splits,
                "same": found.same_reading,
                "different": found.different_dimension + found.different_reading,
                "unknown": found.unknown,
            },
        )
    return Sentence(
        "apart_from_rest" if found.compared_with_rest else "apart_from_chance",
        {
            "count": found.apart,
            "total": found.known,
            "rest_count": found.rest_apart,
            "rest_total": found.rest_known,
            "chance": found.chance,
            "p": found.p_value,
            "queries": found.queries,
            "rest_queries": found.rest_queries,
        },
    )


def say_not_sure(apart_p: float) -> Sentence:
    """What shows in a class does not set it apart."""
    return Sentence("not_sure", {"bound": APART_LEVEL, "p": apart_p})


def say_what_to_do(
    verdict: Verdict, name: str, inside: SplitRate, need: Need, *, stands_out: bool, lenient: bool
) -> list[Sentence]:
    """What follows from the verdict, if it is not for want of citations.

    `stands_out`: a direction or citation of its own shows; `lenient`: leniency shows in it.
    """
    if verdict == "hole":
        return [Sentence("write_clause", {"name": name, "pairs": inside.pairs})]
    if verdict == "slips":
        return [Sentence("adjudicate", {"splits": inside.splits})]
    if verdict == "noise":
        rest = "nothing_but_leniency" if lenient else "nothing_to_do"
        return [Sentence("nothing_yet" if stands_out else rest, {})]
    said: list[Sentence] = []
    values: dict[str, Value]
    if need.queries:
        values = {"name": name, "pairs": need.pairs, "queries": need.queries}
        said.append(Sentence("label_more_queries", values))
    elif need.pairs:
        points = round(100 * PLANNED_EXCESS)
        values = {"name": name, "pairs": need.pairs, "points": points}
        said.append(Sentence("label_more", values))
    if need.rest_pairs:
        said.append(Sentence("label_rest", {"rest_pairs": need.rest_pairs}))
    return said


def say_how_to_tell(
    name: str, inside: SplitRate, need: Need, citation: Citation, *, stands_out: bool
) -> Sentence:
    """What tells a hole from slips in a class that splits more and is known to be neither."""
    if stands_out:
        values: dict[str, Value] = {"name": name, "pairs": need.pairs, "splits": inside.splits}
        return Sentence("label_to_be_sure", values)
    return Sentence("tell_by_causes", {"same": citation.same_reading, "splits": inside.splits})


def say_study(
    verdict: Verdict, names: Sequence[str], undecided: Sequence[str], untold: Sequence[str]
) -> list[Sentence]:
    """The verdict on the study; `names` are the classes that have it, `undecided` those that split
    more and have too little data, `untold` the others with too little."""
    named = ", ".join(names)
    said = {
        "hole": [Sentence("study_hole", {"names": named})],
        "slips": [Sentence("study_slips", {"names": named})],
        "noise": [Sentence("study_noise", {})],
        "too_little_data": [] if undecided else [Sentence("study_too_little_data", {})],
    }[verdict]
    if undecided:
        said.append(Sentence("study_undecided", {"names": ", ".join(undecided)}))
    if untold and (undecided or verdict != "too_little_data"):
        said.append(Sentence("study_untold", {"names": ", ".join(untold)}))
    return said


def say_all_leniency(names: tuple[str, ...], found: Sequence[Leniency]) -> Sentence:
    """All who are lenient in one sentence, as "b > a"; the clearest three where they are many."""
    told = [say_leniency(names, row).values for row in found if row.lenient is not None]
    told.sort(key=lambda values: -int(values["count"] or 0))
    over = ", ".join(f"{values['higher']} > {values['lower']}" for values in told[:3])
    return Sentence("study_lenient", {"over": f"{over}, …" if len(told) > 3 else over})


def say_leniency(names: tuple[str, ...], found: Leniency) -> Sentence:
    """Who is higher everywhere; only for a pair of whom one is lenient."""
    is_a = found.lenient == found.a
    return Sentence(
        "lenient",
        {
            "higher": names[found.a if is_a else found.b],
            "lower": names[found.b if is_a else found.a],
            "count": found.a_higher if is_a else found.b_higher,
            "total": found.a_higher + found.b_higher,
            "p": found.p_value,
            "queries": found.queries,
        },
    )


def _show(name: str, value: Value) -> str:
    """Shares as per cent, p values to three places, everything else as it is."""
    if value is None:
        return "–"
    if name in ("rate", "rest_rate", "chance"):
        return _percent(float(value))
    if name in ("p", "bound") and isinstance(value, float):
        return "< 0.001" if value < 0.001 else f"{value:.3f}"
    return str(value)


def _percent(share: float) -> str:
    return f"{share:.1%}" if 0 < share < 0.01 else f"{share:.0%}"

"""The release gate: what must hold before a study's labels are handed over.

A checklist that is computed and never ticked. Each line is judged from facts that were read
beforehand and says what it found, as a code with values; `results.gate_wording` has the
sentences. Nothing here knows Django or the database. `docs/gate.md` tells the rules to readers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from results.dropped import judge_dropped_share
from results.gate_facts import (
    QUERIES_NEEDED,
    Facts,
    Freshness,
    RoundFacts,
    TargetFacts,
    UntoldFacts,
)
from results.targets import is_met

State = Literal["green", "warning", "red"]

# How far kappa and alpha, and the split rate, may move between the last two calibration rounds.
MEASURE_MOVES = 0.10
SPLIT_RATE_MOVES = 0.05
MOVES = {"kappa": MEASURE_MOVES, "alpha": MEASURE_MOVES, "split_rate": SPLIT_RATE_MOVES}


@dataclass(frozen=True, slots=True)
class Finding:
    """What a line found: a code of `results.gate_wording.SENTENCES` with its values."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


# Findings of numbers that are missing or old: computing them is all that there is to do.
TO_BE_COMPUTED = frozenset(
    {
        "not_measured",
        "measured_before",
        "not_diagnosed",
        "diagnosed_before",
        "round_not_measured",
        "round_measured_before",
    }
)


# Findings that may stand in a red line without being what makes it red.
HARMLESS = frozenset({"steady", "too_little_labelled", "too_little_elsewhere", "readings_unknown"})
# Values that tell one finding from another of the same code; the others say how much there is.
NAMING = ("class", "kind", "a", "b", "round", "measure", "from", "to", "number")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the checklist; `key` is one of `KEYS`."""

    key: str
    state: State
    findings: Sequence[Finding]

    @property
    def is_to_be_computed(self) -> bool:
        """Whether the line is red only because what it rests on is missing or old."""
        codes = {finding.code for finding in self.findings}
        return self.state == "red" and codes <= TO_BE_COMPUTED


def judge_gate(facts: Facts) -> list[Line]:
    """Every line of the checklist, in the order in which it is read."""
    return [judge(facts) for judge in JUDGES.values()]


def is_open(lines: Sequence[Line]) -> bool:
    """Whether the labels may be handed over: no line is red. A warning lets them pass."""
    return all(line.state != "red" for line in lines)


def list_red(lines: Sequence[Line]) -> list[str]:
    """The keys of the lines that are red."""
    return [line.key for line in lines if line.state == "red"]


def name_causes(lines: Sequence[Line]) -> list[str]:
    """What makes lines red, each by a name that stays while its numbers move: the line, the code
    and what it was found of. Lines that are to be computed name none."""
    return [
        " ".join([line.key, finding.code, *_name_values(finding.values)])
        for line in lines
        if line.state == "red" and not line.is_to_be_computed
        for finding in line.findings
        if finding.code not in HARMLESS
    ]


def _name_values(values: Mapping[str, Any]) -> list[str]:
    return [f"{name}={values[name]}" for name in NAMING if values.get(name) is not None]


def judge_queries(facts: Facts) -> Line:
    """Enough judged queries in each key class: one of high risk, or that names a number.

    Without a key class the whole study is judged by `QUERIES_NEEDED`.
    """
    if stale := _ask_for_numbers(facts.measured):
        return Line("queries", "red", [stale])
    key_classes = [one for one in facts.classes if one.is_key]
    if not key_classes:
        values = {"judged": facts.queries_judged, "needed": QUERIES_NEEDED}
        is_enough = facts.queries_judged >= QUERIES_NEEDED
        code = "enough_in_all" if is_enough else "too_few_in_all"
        return Line("queries", "green" if is_enough else "red", [Finding(code, values)])
    short = [one for one in key_classes if one.judged < one.needed]
    return Line(
        "queries",
        "red" if short else "green",
        [
            Finding(
                "too_few" if short else "enough",
                {"class": one.name, "judged": one.judged, "needed": one.needed},
            )
            for one in short or key_classes
        ],
    )


def judge_high_risk(facts: Facts) -> Line:
    """Every split in a class of high risk has a final label; nothing judged is nothing reviewed."""
    risky = [one for one in facts.classes if one.is_high_risk]
    if not risky:
        return Line("high_risk", "green", [Finding("no_high_risk")])
    if not facts.is_judged:
        return Line("high_risk", "red", [Finding("nothing_judged")])
    left = [one for one in risky if one.open_splits]
    return Line(
        "high_risk",
        "red" if left else "green",
        [
            Finding(
                "splits_open" if left else "splits_reviewed",
                {"class": one.name, "open": one.open_splits, "splits": one.splits},
            )
            for one in left or risky
        ],
    )


def judge_stable(facts: Facts) -> Line:
    """Kappa, alpha and the split rate have settled over the last two calibration rounds."""
    if len(facts.rounds) < 2:
        return Line("stable", "red", [Finding("too_few_rounds", {"rounds": len(facts.rounds)})])
    before, after = facts.rounds[-2:]
    unmeasured = [one for one in (before, after) if one.numbers != "current"]
    if unmeasured:
        codes = {"missing": "round_not_measured", "old": "round_measured_before"}
        findings = [Finding(codes[one.numbers], {"round": one.name}) for one in unmeasured]
        return Line("stable", "red", findings)
    moves = [_judge_move(name, before, after) for name in MOVES]
    is_red = any(finding.code != "steady" for finding in moves)
    return Line("stable", "red" if is_red else "green", moves)


def _judge_move(name: str, before: RoundFacts, after: RoundFacts) -> Finding:
    earlier, later = getattr(before, name), getattr(after, name)
    values = {
        "measure": name,
        "from": before.name,
        "to": after.name,
        "before": earlier,
        "after": later,
        "limit": MOVES[name],
    }
    if earlier is None or later is None:
        return Finding("undefined", values)
    # Rounded, so that a move of exactly the limit is within it whatever the last bit says.
    is_steady = round(abs(later - earlier), 9) <= MOVES[name]
    return Finding("steady" if is_steady else "moved", values)


def judge_rubric(facts: Facts) -> Line:
    """The version is fixed, and every label is under it or was carried to it explicitly."""
    rubric = facts.rubric
    if rubric.number is None:
        return Line("rubric", "red", [Finding("no_rubric")])
    values = {"number": rubric.number}
    found = [
        *([Finding("draft_open", values)] if rubric.has_draft else []),
        *(
            Finding("round_under_another", {**values, "round": name, "other": other})
            for name, other in rubric.other_rounds.items()
        ),
        *(
            Finding("clauses_asked_for", {**values, "class": name, "count": count})
            for name, count in rubric.proposals.items()
        ),
        *_count_finding("labels_outside", rubric.labels_outside, values),
        *_count_finding("finals_concerned", rubric.finals_concerned, values),
    ]
    if found:
        return Line("rubric", "red", found)
    fixed = Finding("rubric_fixed", {**values, "carried": rubric.labels_carried})
    return Line("rubric", "green", [fixed])


def _count_finding(code: str, count: int, values: Mapping[str, Any]) -> list[Finding]:
    return [Finding(code, {**values, "count": count})] if count else []


def judge_holes(facts: Facts) -> Line:
    """No query class is an open hole in the numbers of the current labels: a warning where that
    cannot be told of every class."""
    if stale := _ask_for_diagnosis(facts.diagnosed):
        return Line("holes", "red", [stale])
    holes = [Finding("hole", {"class": name}) for name in facts.holes]
    if facts.untold is None:
        return Line("holes", "warning", [Finding("no_class")])
    untold = [_tell_untold(one) for one in facts.untold]
    if holes or untold:
        return Line("holes", "red" if holes else "warning", [*holes, *untold])
    return Line("holes", "green", [Finding("no_hole")])


def _tell_untold(one: UntoldFacts) -> Finding:
    values = {"class": one.name, "splits": one.splits, "pairs": one.pairs}
    if one.more_pairs:
        return Finding("too_little_labelled", {**values, "count": one.more_pairs})
    if one.more_rest_pairs:
        return Finding("too_little_elsewhere", {**values, "count": one.more_rest_pairs})
    return Finding("readings_unknown", values)


def judge_ties(facts: Facts) -> Line:
    """Every tie has a final label. Without any label there is nothing to tell that by."""
    if not facts.is_judged:
        return Line("ties", "red", [Finding("nothing_judged")])
    values = {"count": facts.open_ties, "ties": facts.ties}
    if facts.open_ties:
        return Line("ties", "red", [Finding("ties_open", values)])
    return Line("ties", "green", [Finding("ties_settled" if facts.ties else "no_ties", values)])


def judge_targets(facts: Facts) -> Line:
    """Every two annotators reach the kappa that the study asks for; nobody to compare is red."""
    if stale := _ask_for_diagnosis(facts.diagnosed):
        return Line("targets", "red", [stale])
    if facts.targets is None:
        return Line("targets", "red", [Finding("no_target")])
    if not facts.targets:
        return Line("targets", "red", [Finding("nobody_compared")])
    if not is_met([one.outcome for one in facts.targets]):
        missed = [_tell_target(one) for one in facts.targets if one.outcome != "pass"]
        return Line("targets", "red", missed)
    lowest = min(facts.targets, key=lambda one: one.value or 0.0)
    values = {**_tell_target(lowest).values, "count": len(facts.targets)}
    return Line("targets", "green", [Finding("targets_reached", values)])


def _tell_target(target: TargetFacts) -> Finding:
    values = {
        "a": target.a,
        "b": target.b,
        "value": target.value,
        "at_least": target.at_least,
    }
    return Finding("target_undefined" if target.value is None else "target_missed", values)


def judge_dropped(facts: Facts) -> Line:
    """Few pairs were dropped: a warning from 5% of the decided ones, red from 15%."""
    if stale := _ask_for_numbers(facts.measured):
        return Line("dropped", "red", [stale])
    values = {"dropped": facts.dropped, "share": facts.dropped_share}
    if facts.dropped_share is None:
        return Line("dropped", "red", [Finding("nothing_decided", values)])
    states: dict[str, State] = {"": "green", "warning": "warning", "alarm": "red"}
    state = states[judge_dropped_share(facts.dropped_share)]
    code = "dropped_few" if state == "green" else "dropped_many"
    return Line("dropped", state, [Finding(code, values)])


def judge_exports(facts: Facts) -> Line:
    """Exports that were written hold nothing of a ranking."""
    if stale := _ask_for_numbers(facts.measured):
        return Line("exports", "red", [stale])
    found = [
        Finding(f"ranking_by_{code}", {"kind": one.kind, "line": line})
        for one in facts.exports
        for code, line in one.findings
    ]
    if found:
        return Line("exports", "red", found)
    if not any(one.lines for one in facts.exports):
        return Line("exports", "red", [Finding("nothing_exported")])
    looked_at = [
        Finding("free_of_ranking", {"kind": one.kind, "lines": one.lines}) for one in facts.exports
    ]
    return Line("exports", "green", looked_at)


def _ask_for_numbers(measured: Freshness) -> Finding | None:
    codes = {"missing": "not_measured", "old": "measured_before"}
    return Finding(codes[measured]) if measured in codes else None


def _ask_for_diagnosis(diagnosed: Freshness) -> Finding | None:
    codes = {"missing": "not_diagnosed", "old": "diagnosed_before"}
    return Finding(codes[diagnosed]) if diagnosed in codes else None


JUDGES = {
    "queries": judge_queries,
    "high_risk": judge_high_risk,
    "ties": judge_ties,
    "holes": judge_holes,
    "rubric": judge_rubric,
    "stable": judge_stable,
    "targets": judge_targets,
    "dropped": judge_dropped,
    "exports": judge_exports,
}
KEYS = tuple(JUDGES)

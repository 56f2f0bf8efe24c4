"""The gate of a study: its facts read, its lines judged; passing it, and exporting in spite of it.

Reads stored reports and small aggregates only, so that a page and each export can afford it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.db import transaction
from django.db.models import Count as Number
from django.db.models import Exists, OuterRef

from annotation.models import CarriedLabel
from annotation.usage import has_current_labels, list_current_labels
from results.gate import Line, is_open, judge_gate, list_red, name_causes
from results.gate_facts import (
    ClassFacts,
    ExportFacts,
    Facts,
    Freshness,
    RoundFacts,
    RubricFacts,
    TargetFacts,
    stamp_facts,
    take_as_computed,
)
from results.gate_wording import say
from results.models import AgreementReport
from results.selectors.contested import Count, Wanted, count_pairs
from results.selectors.holes import list_untold, name_holes
from results.selectors.proposals import count_open_proposals
from results.selectors.release import get_release_report, read_basis, tell_freshness
from results.selectors.reports import get_report
from results.selectors.targets import read_target
from results.services.final_rechecks import find_concerned_finals
from results.services.reports import has_changed, is_stale
from results.services.scopes import Scope
from results.targets import judge_targets
from studies.models import Action, Member, Round, RubricDraft, Study
from studies.selectors import find_rubric_in_force
from studies.services.log import record_action

GateState = Literal["passed", "green", "red"]
Json = Mapping[str, Any]

PASSED = "gate.passed"
OVERRIDDEN = "gate.overridden"
OVERRIDE_ENDED = "gate.override_ended"
ACTS = (PASSED, OVERRIDDEN, OVERRIDE_ENDED)
CALIBRATIONS_COMPARED = 2
ROUNDS_OF_LABELS = (Round.Kind.MAIN, Round.Kind.RECHECK)


class GateRefused(Exception):
    """The gate is not as the act takes it to be: nothing was recorded."""


@dataclass(frozen=True, slots=True)
class Act:
    """A decision on the gate, as the log keeps it."""

    reason: str
    by: str
    at: datetime

    def as_json(self) -> dict[str, str]:
        return {"reason": self.reason, "by": self.by, "at": self.at.isoformat()}


@dataclass(frozen=True, slots=True)
class Gate:
    """The lines with what was decided of them: `passed` while all is as it was then, `override`
    while nothing makes a line red that it was not given for. `causes` are what it would be given
    for now, as last computed: none where the lines have to be computed first."""

    lines: Sequence[Line]
    passed: Act | None = None
    override: Act | None = None
    causes: Sequence[str] = ()

    @property
    def is_open(self) -> bool:
        return is_open(self.lines)

    @property
    def state(self) -> GateState:
        if not self.is_open:
            return "red"
        return "passed" if self.passed else "green"

    def as_json(self) -> dict[str, Any]:
        """The gate as manifests name it; `docs/exports.md` explains the keys."""
        return {
            "gate_state": self.state,
            "gate_lines": [
                {
                    "line": line.key,
                    "state": line.state,
                    "found": [say(one) for one in line.findings],
                }
                for line in self.lines
            ],
            "gate_passed": self.passed.as_json() if self.passed else None,
            "gate_override": self.override.as_json() if self.override else None,
            "gate_reason_given": self.is_reason_given,
        }

    @property
    def asks_for_reason(self) -> bool:
        """Whether an export needs a reason that nobody has given yet."""
        return not self.is_open and self.override is None

    @property
    def is_reason_given(self) -> bool | None:
        """Whether it was said why labels leave in spite of a red gate; None where it is not red."""
        return None if self.is_open else self.override is not None

    @property
    def is_overridable(self) -> bool:
        """Whether there is something to give a reason for: a line that was computed and is red."""
        return not self.is_open and bool(self.causes)

    def excuse(self, reason: str, *, by: str, at: datetime) -> "Gate":
        """The same for one export, with the reason that was given for it; as it is where no line
        is red."""
        return self if self.is_open else replace(self, override=Act(reason, by, at))


def read_gate(study: Study) -> Gate:
    """Judge every line by what is known now.

    Ends, in the log, what overrode a cause that is no longer there.
    """
    facts = collect_facts(study)
    gate = judge_facts(facts)
    acts = _list_acts(study)
    overridden = _end_overridden(study, facts, acts)
    if gate.is_open:
        passed = _find_last(acts, PASSED)
        is_as_then = passed and passed.data["basis"] == read_gate_basis(study, facts)
        return replace(gate, passed=_tell(passed) if passed and is_as_then else None)
    override = _find_last(acts, OVERRIDDEN)
    is_covered = gate.is_overridable and {*gate.causes} <= overridden
    return replace(gate, override=_tell(override) if override and is_covered else None)


def judge_facts(facts: Facts) -> Gate:
    """The lines with what makes them red; nothing of what was decided of them."""
    as_computed = judge_gate(take_as_computed(facts))
    is_missing = any(line.is_to_be_computed for line in as_computed)
    return Gate(judge_gate(facts), causes=() if is_missing else name_causes(as_computed))


def read_gate_basis(study: Study, facts: Facts) -> dict[str, Any]:
    """All that passing the gate rests on: the exports, and whatever its lines look at."""
    return {**read_basis(study), "facts": stamp_facts(facts)}


def pass_gate(*, study: Study, member: Member, reason: str) -> Gate:
    """Record that the labels may be handed over. Raises GateRefused while a line is red."""
    facts = collect_facts(study)
    gate = judge_facts(facts)
    if not gate.is_open:
        raise GateRefused
    data = {
        "reason": reason,
        "lines": _list_states(gate),
        "basis": read_gate_basis(study, facts),
    }
    record_action(study, PASSED, user=member.user, member=member, data=data)
    return gate


def override_gate(*, study: Study, member: Member, reason: str) -> Gate:
    """Record why labels are exported in spite of the red lines. Raises GateRefused where none is,
    or where how they stand has to be computed first.

    It holds for what makes these lines red, until that is gone or the gate is passed.
    """
    gate = read_gate(study)
    if not gate.is_overridable:
        raise GateRefused
    data = {
        "reason": reason,
        "lines": _list_states(gate),
        "red": list_red(gate.lines),
        "causes": list(gate.causes),
    }
    record_action(study, OVERRIDDEN, user=member.user, member=member, data=data)
    return gate


def _end_overridden(study: Study, facts: Facts, acts: Sequence[Action]) -> set[str]:
    """The causes that the newest override holds for still. Those that are gone are ended in the
    log, so that they ask again should they come back."""
    left = _list_overridden(acts)
    standing = _find_standing(facts, left)
    if left - standing:
        with transaction.atomic():
            # Two who look at once end them once.
            Study.objects.select_for_update(no_key=True).get(pk=study.pk)
            if gone := sorted(_list_overridden(_list_acts(study)) - standing):
                record_action(study, OVERRIDE_ENDED, data={"causes": gone})
    return standing


def _list_overridden(acts: Sequence[Action]) -> set[str]:
    """The causes of the newest override since the gate was last passed, without those ended."""
    left: set[str] = set()
    for act in acts:
        causes = {*act.data.get("causes", ())}
        left = left - causes if act.name == OVERRIDE_ENDED else causes
    return left


def _find_standing(facts: Facts, causes: set[str]) -> set[str]:
    """Those of the causes that make a line red still, or whose line nobody can tell of."""
    lines = judge_gate(take_as_computed(facts))
    untold = {line.key for line in lines if line.is_to_be_computed}
    there = {*name_causes(lines)}
    return {cause for cause in causes if cause in there or cause.partition(" ")[0] in untold}


def _list_acts(study: Study) -> list[Action]:
    """All that was decided of the gate, in the order of the log. They are few, and a partial
    index of these names finds them among all that the log holds."""
    acts = Action.objects.filter(study=study, name__in=ACTS).select_related("member", "user")
    return list(acts.order_by("id"))


def _find_last(acts: Sequence[Action], name: str) -> Action | None:
    return next((act for act in reversed(acts) if act.name == name), None)


def _tell(act: Action) -> Act:
    by = act.member.name if act.member else str(act.user or "")
    return Act(reason=act.data["reason"], by=by, at=act.at)


def _list_states(gate: Gate) -> dict[str, str]:
    return {line.key: line.state for line in gate.lines}


def collect_facts(study: Study) -> Facts:
    """All that the gate looks at, from stored reports and small aggregates."""
    release = get_release_report(study)
    report = get_report(study, Scope())
    counted: Json = release.payload if release else {"counts": {}, "classes": [], "exports": []}
    contested = count_pairs(study, Wanted())
    ties = [count for count in contested if count.kind == "tie"]
    return Facts(
        measured=tell_freshness(study, release),
        diagnosed=_tell_report(report),
        is_judged=has_current_labels(study),
        queries_judged=counted["counts"].get("queries_exported", 0),
        classes=_read_classes(study, counted, contested),
        rounds=[_read_calibration(round) for round in list_last_calibrations(study)],
        rubric=read_rubric_facts(study),
        holes=name_holes(report.payload["classes"]) if report else (),
        untold=list_untold(report.payload["classes"]) if report else (),
        open_ties=_sum_open(ties),
        ties=sum(count.pairs for count in ties),
        targets=_read_targets(study, report),
        dropped=counted["counts"].get("dropped", 0),
        dropped_share=counted["counts"].get("dropped_share"),
        exports=[
            ExportFacts(one["kind"], one["lines"], [(code, line) for code, line in one["findings"]])
            for one in counted["exports"]
        ],
    )


def _tell_report(report: AgreementReport | None) -> Freshness:
    if report is None:
        return "missing"
    return "old" if is_stale(report) else "current"


def _read_classes(study: Study, counted: Json, contested: Sequence[Count]) -> list[ClassFacts]:
    judged = {row["class"]: row["judged"] for row in counted["classes"]}
    splits: dict[str, list[Count]] = {}
    for count in contested:
        if count.kind in ("tie", "split"):
            splits.setdefault(count.query_class, []).append(count)
    return [
        ClassFacts(
            name=one.name,
            is_high_risk=one.is_high_risk,
            minimum=one.minimum_queries,
            judged=judged.get(one.name, 0),
            splits=sum(count.pairs for count in splits.get(one.name, ())),
            open_splits=_sum_open(splits.get(one.name, ())),
        )
        for one in study.query_classes.order_by("position", "name")
    ]


def _sum_open(counts: Sequence[Count]) -> int:
    """Pairs without a final label, those too that wait for further labels."""
    return sum(count.pairs for count in counts if count.state != "settled")


def list_last_calibrations(study: Study) -> list[Round]:
    """The last calibration rounds that are compared, the earlier one first."""
    rounds = study.rounds.filter(kind=Round.Kind.CALIBRATION).order_by("-position", "-pk")
    return list(rounds[:CALIBRATIONS_COMPARED])[::-1]


def tell_calibration_report(round: Round, report: AgreementReport | None) -> Freshness:
    """Whether a calibration's stored numbers are those of its labels. Nothing changes a closed
    one, so numbers computed after it was closed stay true whatever is labelled elsewhere; those of
    a relabel round do not, which are held against labels given elsewhere."""
    if report is None:
        return "missing"
    if round.closed_at is not None and report.computed_at >= round.closed_at:
        return "current"
    return "old" if has_changed(report) else "current"


def _read_calibration(round: Round) -> RoundFacts:
    report = get_report(round.study, Scope(round=round.name))
    if report is None:
        return RoundFacts(round.name, "missing")
    payload = report.payload
    twice = payload["pairs_labelled_twice"]
    return RoundFacts(
        name=round.name,
        numbers=tell_calibration_report(round, report),
        kappa=mean_kappa(payload["cohen_kappa"]),
        alpha=payload["krippendorff_alpha"]["nominal"]["value"],
        split_rate=payload["splits"] / twice if twice else None,
    )


def mean_kappa(kappas: Sequence[Json]) -> float | None:
    """The nominal kappa of every two people, averaged by the pairs they share; None where none
    of them is defined."""
    defined = [(row["nominal"], row["pairs"]) for row in kappas if row["nominal"] is not None]
    pairs = sum(count for _, count in defined)
    return sum(value * count for value, count in defined) / pairs if pairs else None


def read_rubric_facts(study: Study) -> RubricFacts:
    version = find_rubric_in_force(study)
    if version is None:
        return RubricFacts(None)
    carried = CarriedLabel.objects.filter(judgment=OuterRef("pk"), rubric_version=version)
    of_people = list_current_labels(study).filter(annotator__is_machine=False)
    # By their keys, which are few and have an index: "not this version" reads every label.
    versions = study.rubric_versions.exclude(pk=version.pk).values_list("pk", flat=True)
    others = of_people.filter(rubric_version__in=list(versions))
    open_rounds = study.rounds.filter(kind__in=ROUNDS_OF_LABELS, closed_at__isnull=True)
    by_carried = dict(
        others.annotate(is_carried=Exists(carried))
        .order_by()
        .values_list("is_carried")
        .annotate(labels=Number("pk"))
    )
    elsewhere = open_rounds.exclude(rubric_version=version)
    return RubricFacts(
        number=version.number,
        has_draft=RubricDraft.objects.filter(study=study).exists(),
        other_rounds=dict(elsewhere.values_list("name", "rubric_version__number")),
        labels_outside=by_carried.get(False, 0),
        labels_carried=by_carried.get(True, 0),
        finals_concerned=len(find_concerned_finals(study)),
        proposals=count_open_proposals(study),
    )


def _read_targets(study: Study, report: AgreementReport | None) -> list[TargetFacts] | None:
    """Every two people with the kappa asked of them; None where the study asks for none.

    The target is that of today: stored numbers are judged by it, whenever they were computed.
    """
    target = read_target(study)
    if target is None:
        return None
    kappas = report.payload["cohen_kappa"] if report else []
    return [
        TargetFacts(
            a=row["a"],
            b=row["b"],
            value=row["value"],
            at_least=judged["at_least"],
            outcome=row["outcome"],
            weights=target.weights,
        )
        for judged in judge_targets(kappas, target)
        for row in judged["pairs"]
    ]

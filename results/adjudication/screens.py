"""Builds the adjudicators' pages from the models: the only place where labels lose their names."""

import uuid
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.urls import reverse
from django.utils import timezone

from annotation.blind_items import read_blind_item
from annotation.contexts import BlindItem, RubricSheet
from annotation.models import Judgment
from annotation.rubric_sheet import choose_letters, get_rubric_sheet
from annotation.selectors import get_pair
from annotation.shuffle import Shuffler
from results.adjudication.contexts import (
    Case,
    Choice,
    Focus,
    GivenLabel,
    NothingToSettle,
    SettleValues,
    StandingDecision,
)
from results.adjudication.tokens import ShownCase
from results.clause_contexts import show_asked_of
from results.models import Cause, Citation, FinalLabel
from results.selectors.contested import (
    CONTESTED,
    Wanted,
    count_pairs,
    find_candidates,
    list_pairs,
)
from results.selectors.final_labels import (
    list_current_labels,
    list_history,
)
from results.selectors.holes import list_open_holes
from results.services.final_labels import as_decision
from results.services.leases import find_other_holder, take_first_free, take_lease
from studies.access import StudyAccess
from studies.models import Grade, Member, Pair, Study
from studies.selectors import find_rubric_in_force

ORDER_OF = "adjudication"
# How often the queue is read again when others were faster with all of what it gave.
ATTEMPTS = 3
# What has a letter of its own beside the dimensions; U and Z stay what they are in judging.
LETTERED = ["drop", "later", "rule", *Cause.values, *Citation.values]


class NoRubric(Exception):
    """The study has no published rubric, so nothing can be settled under one."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a form came with: shown again beside what is wrong with it, or with its answer."""

    values: SettleValues
    errors: Mapping[str, str]
    key: uuid.UUID | None = None


def show_next(
    access: StudyAccess, focus: Focus, *, later: Sequence[uuid.UUID] = (), notice: str = ""
) -> Case | NothingToSettle:
    """The next pair for the adjudicator, held for them, or why there is none."""
    study, member = access.study, access.member
    wanted = want(focus)
    holes = list_open_holes(study)
    for _ in range(ATTEMPTS):
        found = find_candidates(study, member, wanted, holes=holes, later=later)
        key = take_first_free(found.keys, member)
        if key is not None or not found.keys:
            break
    if key is None:
        return explain_nothing(study, focus, notice=notice)
    case = show_case(study, member, get_pair(key))
    return replace(case, focus=focus, left=found.left, notice=notice)


def show_one(access: StudyAccess, pair: Pair) -> Case:
    """The pair an address names: held for the adjudicator, or who has it, or what was decided."""
    case = show_case(access.study, access.member, pair)
    if case.standing is not None:
        return close(case)
    if take_lease(pair.pk, access.member):
        return case
    lease = find_other_holder(pair, access.member)
    if lease is None:
        return case
    return replace(case, held_by=lease.holder.name, held_until=lease.expires_at)


def close(case: Case) -> Case:
    """The pair to be read only: what was decided of it, and nothing that somebody typed."""
    return replace(case, is_over=True, values=SettleValues())


def show_late(access: StudyAccess, pair: Pair, values: SettleValues) -> Case:
    """What was decided on the pair, beside what had been typed."""
    return replace(show_case(access.study, access.member, pair), is_over=True, values=values)


def show_case(
    study: Study,
    member: Member,
    pair: Pair,
    *,
    asked: Asked | None = None,
    with_names: bool = False,
    with_history: bool = False,
) -> Case:
    """A pair with its labels and its form. Raises NoRubric."""
    rubric_version = find_rubric_in_force(study)
    if rubric_version is None:
        raise NoRubric
    labels = list_current_labels(pair)
    history = list(list_history(pair))
    standing = next((final for final in history if final.ended_at is None), None)
    names = name_grades(labels, history)
    found = list_pairs(study, Wanted(pairs=[pair.pk], with_agreed=True), limit=1)
    kind = found[0].kind if found else "none"
    query_class = pair.query.query_class
    rubric = get_rubric_sheet(rubric_version.pk, query_class.name if query_class else "")
    values = asked.values if asked else start_values(standing, labels, rubric)
    keys = choose_keys(rubric)
    shown = ShownCase(
        member_id=member.pk,
        pair_id=pair.public_id,
        rubric_version_id=rubric_version.pk,
        final_id=str(standing.public_id) if standing else "",
        shown_at=timezone.now(),
    )
    return Case(
        study_slug=study.slug,
        pair_id=str(pair.public_id),
        item=show_item(study, pair),
        labels=give_letters(study, pair, labels, names, with_names=with_names),
        kind=kind,
        rubric=rubric,
        token=shown.sign(),
        key=str((asked and asked.key) or uuid.uuid4()),
        causes=list_choices(Cause.choices, keys, values.cause),
        citations=list_choices(Citation.choices, keys, values.citation),
        drop_key=keys["drop"],
        later_key=keys["later"],
        rule_key=keys["rule"],
        is_cause_needed=kind in CONTESTED,
        values=values,
        errors=asked.errors if asked else {},
        standing=tell_decision(standing, names) if standing else None,
        history=[
            tell_decision(final, names) for final in history if with_history and final.ended_at
        ],
        asked=show_asked_of(study, pair),
        has_names=with_names,
    )


def show_item(study: Study, pair: Pair) -> BlindItem:
    """The pair as its judges see it, its image at an address of the adjudicators."""
    item = read_blind_item(study, pair.pk)
    if not item.image_url:
        return item
    url = reverse("results:case-image", args=[study.slug, pair.public_id])
    return replace(item, image_url=url)


def give_letters(
    study: Study,
    pair: Pair,
    labels: Iterable[Judgment],
    names: Mapping[tuple[int, int], str],
    *,
    with_names: bool,
) -> list[GivenLabel]:
    """The labels as A, B, C, in an order that differs from pair to pair and tells nothing."""
    by_person = {str(label.annotator_id): label for label in labels}
    shuffler = Shuffler(study.seed, ORDER_OF, str(pair.public_id))
    return [
        GivenLabel(
            letter=name_place(place),
            grade="" if label.grade is None else str(label.grade),
            grade_name=(
                "" if label.grade is None else names.get((label.rubric_version_id, label.grade), "")
            ),
            is_unsure=label.is_unsure,
            decided_by=label.decided_by.name if label.decided_by else "",
            clause=label.clause.name if label.clause else "",
            note=label.note,
            rubric_number=label.rubric_version.number,
            name=label.annotator.name if with_names else "",
        )
        for place, label in enumerate(by_person[key] for key in shuffler.shuffle(by_person))
    ]


def name_place(place: int) -> str:
    """A, B, …, Z, AA, AB, …"""
    letter = chr(ord("A") + place % 26)
    return name_place(place // 26 - 1) + letter if place >= 26 else letter


def name_grades(
    labels: Iterable[Judgment], finals: Iterable[FinalLabel]
) -> dict[tuple[int, int], str]:
    """The names of grades by rubric version and value."""
    versions = {label.rubric_version_id for label in labels}
    versions |= {final.rubric_version_id for final in finals}
    rows = Grade.objects.filter(rubric_version__in=versions)
    return {
        (version, value): name
        for version, value, name in rows.values_list("rubric_version_id", "value", "name")
    }


def start_values(
    standing: FinalLabel | None, labels: Sequence[Judgment], rubric: RubricSheet
) -> SettleValues:
    """What the form starts with: the decision that it would revise, as far as the rubric in
    force has its words; else nothing but what the labels themselves say of their citations."""
    if standing is None:
        return SettleValues(citation=compare_citations(labels))
    decision = as_decision(standing)
    dimensions = {one.name: {clause.name for clause in one.clauses} for one in rubric.dimensions}
    is_known = decision.decided_by in dimensions
    clauses = dimensions.get(decision.decided_by, set())
    return SettleValues(
        grade="" if decision.grade is None else str(decision.grade),
        decided_by=decision.decided_by if is_known else "",
        clause=decision.clause if decision.clause in clauses else "",
        reason=decision.reason,
        cause=decision.cause,
        citation=decision.citation,
        is_dropped=standing.is_dropped,
    )


def compare_citations(labels: Sequence[Judgment]) -> str:
    """Whether the labels cite the same reading; "" where one cites nothing or there is only one."""
    if len(labels) < 2 or any(label.decided_by is None for label in labels):
        return ""
    dimensions = {label.decided_by.name for label in labels if label.decided_by}
    if len(dimensions) > 1:
        return Citation.DIMENSIONS
    clauses = {label.clause.name if label.clause else "" for label in labels}
    return Citation.READINGS if len(clauses) > 1 else Citation.SAME


def choose_keys(rubric: RubricSheet) -> dict[str, str]:
    """A letter for each of `LETTERED` that the rubric's dimensions leave free, "" where none is."""
    dimensions = [dimension.name for dimension in rubric.dimensions]
    letters = choose_letters([*dimensions, *LETTERED])[len(dimensions) :]
    return dict(zip(LETTERED, letters, strict=True))


def list_choices(
    choices: Iterable[tuple[str, Any]], keys: Mapping[str, str], chosen: str
) -> list[Choice]:
    return [Choice(value, str(label), keys[value], value == chosen) for value, label in choices]


def tell_decision(final: FinalLabel, names: Mapping[tuple[int, int], str]) -> StandingDecision:
    grade = final.grade
    return StandingDecision(
        grade="" if grade is None else str(grade),
        grade_name="" if grade is None else names.get((final.rubric_version_id, grade), ""),
        is_dropped=final.is_dropped,
        decided_by=final.decided_by.name if final.decided_by else "",
        clause=final.clause.name if final.clause else "",
        cause=final.get_cause_display() if final.cause else "",
        citation=final.get_citation_display() if final.citation else "",
        reason=final.reason,
        rubric_number=final.rubric_version.number,
        by=final.by.name if final.by else "",
        decided_at=final.decided_at,
        ended_at=final.ended_at,
        ended_by=final.ended_by.name if final.ended_by else "",
    )


def explain_nothing(study: Study, focus: Focus, *, notice: str = "") -> NothingToSettle:
    wanted = want(focus)
    by_state = {"open": 0, "waiting": 0, "settled": 0}
    for count in count_pairs(study, wanted):
        if count.state in by_state:
            by_state[count.state] += count.pairs
    return NothingToSettle(
        study_slug=study.slug,
        settled=by_state["settled"],
        waiting=by_state["waiting"],
        not_yours=by_state["open"],
        focus=focus,
        notice=notice,
    )


def narrow(access: StudyAccess, case: Case, focus: Focus) -> Case:
    """The case with the focus that the next one is to keep to, and how many pairs it leaves."""
    found = find_candidates(access.study, access.member, want(focus), limit=1)
    return replace(case, focus=focus, left=found.left)


def want(focus: Focus) -> Wanted:
    return Wanted(query_class=focus.query_class or None, kind=focus.kind)


def find_needs(study: Study, pair: Pair) -> tuple[bool, bool]:
    """Whether a decision on the pair needs a cause, and what the labels cite: a contested pair
    needs a cause, and both where two labels or more can be compared."""
    found = list_pairs(study, Wanted(pairs=[pair.pk], with_agreed=True), limit=1)
    is_contested = bool(found) and found[0].kind in CONTESTED
    return is_contested, is_contested and len(list_current_labels(pair)) > 1

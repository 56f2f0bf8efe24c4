"""Writing the next rubric version: start, save, publish, discard; and judging on under another."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.db import transaction
from django.dispatch import Signal
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from studies.clause_requests import list_requests
from studies.formats.problems import Problems
from studies.formats.records import RubricFile
from studies.formats.rubrics import read_rubric
from studies.models import Member, Round, RubricDraft, RubricVersion, Study
from studies.rubric_drafts import (
    Draft,
    check_draft,
    draft_from_rubric,
    find_unknown_classes,
    remove_clause,
)
from studies.services.log import record_action
from studies.services.rubric_usage import UsedParts, count_used_parts
from studies.services.rubrics import (
    RubricRefused,
    complete_rubric,
    describe_rubric,
    publish_rubric,
    rubric_faults,
    take_missing_parts,
)

# Sent with `study` and `by`, within the transaction that throws a draft away.
draft_discarded = Signal()

STARTERS = Path(__file__).resolve().parent.parent / "starters"
STARTER_NAMES = ("graded", "three-point", "binary")


class DraftOutdated(Exception):
    """Another save, publication or discarding came in between; nothing was changed."""


class DraftRefused(Exception):
    """What keeps a draft from being published; `faults` are sentences with their place."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("; ".join(faults))


def read_starter(name: str) -> RubricFile:
    """A starter by its name. Raises RubricRefused for an unknown one."""
    if name not in STARTER_NAMES:
        raise RubricRefused(f"no starter is called {name!r}; there are {', '.join(STARTER_NAMES)}")
    problems = Problems()
    with (STARTERS / f"{name}.yaml").open("rb") as stream:
        rubric = read_rubric(stream, file=f"{name}.yaml", problems=problems)
    problems.raise_if_any()
    if rubric is None:
        raise ValueError(f"the starter {name} holds no rubric")
    return complete_rubric(rubric)


@transaction.atomic
def start_draft(
    *, study: Study, rubric: RubricFile, by: Member, based_on: RubricVersion | None = None
) -> RubricDraft:
    """Begin the next version with what a rubric says. Raises DraftOutdated where there is a
    draft already."""
    draft, is_new = RubricDraft.objects.get_or_create(
        study=study,
        defaults={
            "content": draft_from_rubric(complete_rubric(rubric)),
            "based_on": based_on,
            "saved_by": by,
        },
    )
    if not is_new:
        raise DraftOutdated
    _record(by, "rubric.draft_started", {"based_on": based_on.number if based_on else None})
    return draft


@transaction.atomic
def replace_draft(*, study: Study, rubric: RubricFile, by: Member) -> RubricDraft:
    """Put a rubric in the place of the draft's content, or begin a draft with it. Grades or
    dimensions that it leaves out are those of the newest version, or of the starter.

    The log keeps what the draft held before. Raises RubricRefused for what no version can hold.
    """
    newest = study.rubric_versions.filter(published_at__isnull=False).order_by("number").last()
    told = take_missing_parts(rubric, describe_rubric(newest)) if newest else rubric
    complete = complete_rubric(told)
    if faults := rubric_faults(complete):
        raise RubricRefused("; ".join(faults))
    draft, is_new = RubricDraft.objects.select_for_update().get_or_create(
        study=study, defaults={"content": draft_from_rubric(complete), "saved_by": by}
    )
    if is_new:
        _record(by, "rubric.draft_started", {"based_on": None})
        return draft
    _record(by, "rubric.draft_replaced", {"content": draft.content})
    return save_draft(
        study=study, content=draft_from_rubric(complete), edition=draft.edition, by=by
    )


@transaction.atomic
def save_draft(*, study: Study, content: Draft, edition: int, by: Member) -> RubricDraft:
    """Keep what was written. Raises DraftOutdated unless the draft is the edition shown."""
    draft = lock_draft(study, edition)
    draft.content = content
    draft.edition += 1
    draft.saved_by = by
    draft.save()
    return draft


@transaction.atomic
def add_clause(*, study: Study, dimension: str, name: str, text: str, by: Member) -> str:
    """Add a clause to a dimension of the draft, begun from the newest version where there is none.

    `name` is the name of a query class, which the clause is for, "" for every class. Returns the
    name of the clause: that of the class with a number that is free, in the draft and among what
    was asked for before. Who has the draft open is told on saving that it was saved meanwhile.
    Raises RubricRefused where the draft has no such dimension.
    """
    draft = _lock_or_start_draft(study, by)
    asked = list_requests(study, draft.content)
    found = next((one for one in draft.content["dimensions"] if one["name"] == dimension), None)
    if found is None:
        raise RubricRefused(
            _("The draft of the next version has no dimension “%(name)s”.") % {"name": dimension}
        )
    taken = {clause["name"] for clause in found["clauses"]}
    taken |= {one.clause for one in asked if one.dimension == dimension}
    numbered = (f"{name[:70] or 'clause'} {number}" for number in range(1, len(taken) + 2))
    clause = next(one for one in numbered if one not in taken)
    classes = [name] if name else []
    found["clauses"].append(
        {"name": clause, "text": text, "grade_when_failed": "", "classes": classes}
    )
    save_draft(study=study, content=draft.content, edition=draft.edition, by=by)
    return clause


def _lock_or_start_draft(study: Study, by: Member) -> RubricDraft:
    """The study's draft under a lock, begun from the newest version where there is none."""
    drafts = RubricDraft.objects.select_for_update().filter(study=study)
    if draft := drafts.first():
        return draft
    newest = study.rubric_versions.filter(published_at__isnull=False).last()
    if newest is None:
        raise RubricRefused(_("The study has no published rubric to add a clause to."))
    try:
        return start_draft(study=study, rubric=describe_rubric(newest), by=by, based_on=newest)
    except DraftOutdated:
        # Somebody else has begun it at this moment.
        return drafts.get()


@transaction.atomic
def take_clause_out(*, study: Study, dimension: str, clause: str, by: Member) -> bool:
    """Remove the clause of that name from the draft, which is locked from then on; returns whether
    it was there. Who has the draft open is told on saving that it was saved meanwhile."""
    draft = RubricDraft.objects.select_for_update().filter(study=study).first()
    if draft is None or not remove_clause(draft.content, dimension, clause):
        return False
    save_draft(study=study, content=draft.content, edition=draft.edition, by=by)
    return True


@transaction.atomic
def discard_draft(*, study: Study, edition: int, by: Member) -> None:
    """Throw the draft away; the log keeps what it held. Raises DraftOutdated."""
    draft = lock_draft(study, edition)
    _record(by, "rubric.draft_discarded", {"content": draft.content})
    draft.delete()
    draft_discarded.send(RubricDraft, study=study, by=by)


@transaction.atomic
def publish_draft(
    *, study: Study, note: str, edition: int, by: Member, rounds: Collection[str] = ()
) -> RubricVersion:
    """Publish the draft as the study's next version, which nothing changes any more.

    The named rounds that are not closed are judged on under it, the others go on under the version
    they had. Raises DraftOutdated, and DraftRefused with every reason that keeps it from being
    published.
    """
    draft = lock_draft(study, edition)
    rubric, faults = check_content(study, draft.content)
    if not note.strip():
        faults.append(_("Say in the note what changed and why."))
    if rubric is None or faults:
        raise DraftRefused(faults)
    noted = replace(rubric, note=note.strip().replace("\r\n", "\n"))
    version = publish_rubric(study=study, rubric=noted, user=by.user, member=by)
    draft.delete()
    for round in study.rounds.filter(name__in=rounds, closed_at__isnull=True).order_by("pk"):
        switch_round(round=round, version=version, by=by)
    return version


def check_content(study: Study, content: Draft) -> tuple[RubricFile | None, list[str]]:
    """The rubric that a draft makes, and all that keeps it from being published."""
    rubric, faults = check_draft(content)
    if rubric is None:
        return None, faults
    classes = study.query_classes.values_list("name", flat=True)
    history = {
        version.number: describe_rubric(version)
        for version in study.rubric_versions.filter(published_at__isnull=False)
    }
    return rubric, [
        *rubric_faults(rubric),
        *(problem.reason for problem in find_unknown_classes(rubric, classes)),
        *find_conflicts(rubric, history, count_used_parts(study)),
    ]


def find_conflicts(
    rubric: RubricFile, history: dict[int, RubricFile], used: UsedParts
) -> list[str]:
    """Values that would get another meaning, and parts that labels would be left without.

    `history` holds the published versions by number. A value means what its name says: a
    definition may be sharpened, a name may not go to another grade.
    """
    return [*_find_new_meanings(rubric, history), *_find_missing_parts(rubric, history, used)]


def _find_new_meanings(rubric: RubricFile, history: dict[int, RubricFile]) -> Iterator[str]:
    for grade in rubric.grades or []:
        number, name = _find_last_name(grade.value, history)
        named_in, value = _find_last_value(grade.name, history)
        if name and name != grade.name:
            yield _(
                "The value %(value)d means “%(name)s” in rubric %(number)d. A value is never used "
                "for another meaning: give “%(new)s” a value of its own."
            ) % {"value": grade.value, "name": name, "number": number, "new": grade.name}
        elif value is not None and value != grade.value:
            yield _(
                "“%(name)s” is the name of the value %(value)d in rubric %(number)d. A name never "
                "goes to another value: give the value %(new)d a name of its own."
            ) % {"name": grade.name, "value": value, "number": named_in, "new": grade.value}


def _find_last_name(value: int, history: dict[int, RubricFile]) -> tuple[int, str]:
    names = [
        (number, grade.name)
        for number, rubric in sorted(history.items())
        for grade in rubric.grades or []
        if grade.value == value
    ]
    return names[-1] if names else (0, "")


def _find_last_value(name: str, history: dict[int, RubricFile]) -> tuple[int, int | None]:
    values = [
        (number, grade.value)
        for number, rubric in sorted(history.items())
        for grade in rubric.grades or []
        if grade.name == name
    ]
    return values[-1] if values else (0, None)


def _find_missing_parts(
    rubric: RubricFile, history: dict[int, RubricFile], used: UsedParts
) -> Iterator[str]:
    values = {grade.value for grade in rubric.grades or []}
    for value, labels in sorted(used.grades.items()):
        if value not in values:
            yield ngettext(
                "%(count)d label, final ones counted, has the grade %(value)d “%(name)s”, which "
                "this version lacks.",
                "%(count)d labels, final ones counted, have the grade %(value)d “%(name)s”, which "
                "this version lacks.",
                labels,
            ) % {"count": labels, "value": value, "name": _find_last_name(value, history)[1]}
    names = {dimension.name for dimension in rubric.dimensions}
    for name, labels in sorted(used.dimensions.items()):
        if name not in names:
            yield ngettext(
                "%(count)d label, final ones counted, was decided by “%(name)s”, which this "
                "version lacks.",
                "%(count)d labels, final ones counted, were decided by “%(name)s”, which this "
                "version lacks.",
                labels,
            ) % {"count": labels, "name": name}


@transaction.atomic
def switch_round(*, round: Round, version: RubricVersion, by: Member) -> bool:
    """Let the round be judged on under another published version of its study.

    Pairs that are on somebody's screen keep the version they were shown with; so do the labels
    that were given. Returns whether anything changed. Raises RubricRefused for a closed round, a
    draft, and a version of another study.
    """
    # The round alone: labels that others write meanwhile point to the version.
    rounds = Round.objects.select_for_update(of=("self",), no_key=True)
    locked = rounds.select_related("rubric_version").get(pk=round.pk)
    if locked.closed_at is not None:
        raise RubricRefused(_("The round is closed: nothing is judged in it any more."))
    if version.study_id != locked.study_id or version.published_at is None:
        raise RubricRefused(_("Only a published version of this study can be judged under."))
    if locked.rubric_version_id == version.pk:
        return False
    before = locked.rubric_version.number
    locked.rubric_version = version
    locked.save(update_fields=["rubric_version"])
    _record(by, "round.switched", {"round": locked.name, "from": before, "to": version.number})
    return True


def lock_draft(study: Study, edition: int) -> RubricDraft:
    """The study's draft under a lock. Raises DraftOutdated unless it is the edition shown."""
    draft = RubricDraft.objects.select_for_update().filter(study=study, edition=edition).first()
    if draft is None:
        raise DraftOutdated
    return draft


def _record(by: Member, name: str, data: dict[str, Any]) -> None:
    record_action(by.study, name, user=by.user, member=by, data=data)

"""What the pages of the rubric show."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from studies.formats.records import ClauseSpec, ExampleSpec, GradeSpec, RubricFile
from studies.models import Member, Role, Round, RubricVersion, Study
from studies.rubric_diff import (
    Change,
    ClauseChange,
    DimensionChange,
    EdgeCaseChange,
    GradeChange,
    Piece,
    RubricDiff,
    compare_rubrics,
    compare_words,
)
from studies.services.rubrics import describe_rubric


@dataclass(frozen=True, slots=True)
class ChangedText:
    """A text of a changed part, word by word; `label` says which."""

    label: str
    pieces: Sequence[Piece]


@dataclass(frozen=True, slots=True)
class ShownChange:
    """One part that differs. `kind` is added, removed or changed; `name` is the rubric's own."""

    kind: str
    part: str
    name: str
    texts: Sequence[ChangedText]


@dataclass(frozen=True, slots=True)
class VersionLine:
    """A published version in the list; `note` is empty for those who judge blind, because a
    note may say how people agree."""

    number: int
    published_at: datetime | None
    published_by: str
    note: str
    rounds: Sequence[str]


# Kinds of rounds whose labels count, and are to be given under the newest rule.
RENEWED = (Round.Kind.MAIN, Round.Kind.RECHECK)


@dataclass(frozen=True, slots=True)
class RoundLine:
    """A round that is not closed and the version it is judged under. `is_suggested`: a new version
    is meant for it too, unlike for one that compares people or labels under one version."""

    key: int
    name: str
    number: int
    is_suggested: bool


@dataclass(frozen=True, slots=True)
class RubricPage:
    """A published version to read, and the versions there are, newest first."""

    study: Study
    rubric: RubricFile | None
    number: int
    versions: Sequence[VersionLine]
    rounds: Sequence[RoundLine]
    may_edit: bool
    draft_edition: int

    @property
    def numbers(self) -> list[int]:
        return [version.number for version in self.versions]

    @property
    def has_several(self) -> bool:
        return len(self.versions) > 1

    @property
    def newest(self) -> int:
        return self.versions[0].number

    @property
    def second_newest(self) -> int:
        return self.versions[min(1, len(self.versions) - 1)].number


def may_see_all(member: Member) -> bool:
    """Whether the member sees every published version with its note."""
    return member.has_role(Role.ADMIN, Role.LEAD, Role.ADJUDICATOR)


def list_visible_versions(member: Member) -> list[RubricVersion]:
    """The published versions a member may read, newest first: those of rounds that have opened,
    or all for who does not only judge."""
    versions = (
        RubricVersion.objects.filter(study=member.study_id, published_at__isnull=False)
        .select_related("published_by")
        .prefetch_related("rounds")
        .order_by("-number")
    )
    if may_see_all(member):
        return list(versions)
    return [one for one in versions if any(_has_opened(round) for round in one.rounds.all())]


def _has_opened(round: Round) -> bool:
    return round.is_open or round.closed_at is not None


def find_version_judged_under(member: Member, visible: Sequence[RubricVersion]) -> int:
    """Number of the version of the first open round, else of the newest visible; 0 for none."""
    for version in visible:
        if any(round.is_open for round in version.rounds.all()):
            return version.number
    return visible[0].number if visible else 0


def show_rubric(member: Member, visible: Sequence[RubricVersion], number: int) -> RubricPage:
    """The page of one visible version (0: the study has none yet)."""
    chosen = next((one for one in visible if one.number == number), None)
    is_admin = member.has_role(Role.ADMIN)
    draft = getattr(member.study, "rubric_draft", None) if is_admin else None
    return RubricPage(
        study=member.study,
        rubric=describe_rubric(chosen) if chosen else None,
        number=number,
        versions=[_show_version(one, with_note=may_see_all(member)) for one in visible],
        rounds=list_rounds(member.study) if is_admin else [],
        may_edit=is_admin,
        draft_edition=draft.edition if draft else 0,
    )


def _show_version(version: RubricVersion, *, with_note: bool) -> VersionLine:
    return VersionLine(
        number=version.number,
        published_at=version.published_at,
        published_by=str(version.published_by or "") if with_note else "",
        note=version.note if with_note else "",
        rounds=[round.name for round in version.rounds.all() if round.is_open],
    )


def list_rounds(study: Study) -> list[RoundLine]:
    """The rounds that are not closed, those to come too."""
    rounds = Round.objects.filter(study=study, closed_at__isnull=True).order_by("position", "pk")
    rows = rounds.values_list("pk", "name", "rubric_version__number", "kind")
    return [RoundLine(key, name, number, kind in RENEWED) for key, name, number, kind in rows]


def show_diff(before: RubricVersion, after: RubricVersion) -> list[ShownChange]:
    """What differs between two versions, part by part."""
    return show_changes(compare_rubrics(describe_rubric(before), describe_rubric(after)))


def show_changes(diff: RubricDiff) -> list[ShownChange]:
    return [show_change(change) for change in diff.changes]


def show_change(change: Change) -> ShownChange:
    """One change in words."""
    match change:
        case GradeChange():
            part, name, texts = _("grade"), _name_grade(change), _grade_texts(change)
        case DimensionChange():
            part, name = _("dimension"), change.name
            texts = _texts((_("test"), change.before, change.after))
        case ClauseChange():
            part, name = _("clause"), f"{change.dimension} · {change.name}"
            texts = _clause_texts(change)
        case EdgeCaseChange():
            part, name = _("edge case"), change.case
            texts = _texts((_("ruling"), change.before, change.after))
    return ShownChange(change.kind, part, name, texts)


def _name_grade(change: GradeChange) -> str:
    grade = change.after or change.before
    return f"{change.value} {grade.name if grade else ''}".strip()


def _grade_texts(change: GradeChange) -> list[ChangedText]:
    labels = (_("name"), _("definition"), _("counts as relevant"))
    facts = zip(labels, _describe_grade(change.before), _describe_grade(change.after), strict=True)
    gone = [(_("example"), _say_example(one), "") for one in change.gone_examples]
    new = [(_("example"), "", _say_example(one)) for one in change.new_examples]
    return _texts(*facts, *gone, *new)


def _describe_grade(grade: GradeSpec | None) -> tuple[str, str, str]:
    if grade is None:
        return "", "", ""
    return grade.name, grade.definition, _("yes") if grade.relevant else _("no")


def _say_example(example: ExampleSpec) -> str:
    kinds = {
        "positive": _("this grade"),
        "negative": _("not this grade"),
        "confusable": _("easily confused"),
    }
    parts = [example.query, example.document, example.why]
    return f"{kinds[example.kind]}: {' → '.join(part for part in parts if part)}"


def _clause_texts(change: ClauseChange) -> list[ChangedText]:
    labels = (_("text"), _("for queries of class"), _("grade when the test fails"))
    before, after = _describe_clause(change.before), _describe_clause(change.after)
    return _texts(*zip(labels, before, after, strict=True))


def _describe_clause(clause: ClauseSpec | None) -> tuple[str, str, str]:
    if clause is None:
        return "", "", ""
    failed = clause.grade_when_failed
    classes = ", ".join(clause.classes) or _("every class")
    return clause.text, classes, "" if failed is None else str(failed)


def _texts(*found: tuple[str, str | None, str | None]) -> list[ChangedText]:
    """The texts that differ, word by word."""
    return [
        ChangedText(label, compare_words(before or "", after or ""))
        for label, before, after in found
        if before != after
    ]

"""Recording, revising and taking back labels: an event in the log and the current state."""

import uuid
from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from django.db import transaction
from django.utils import timezone

from annotation import statements
from annotation.assigned import is_assigned, leave_out_judged_anew
from annotation.models import CarriedLabel, Claim, Judgment
from annotation.services.claims import (
    count_label_changes,
    describe_settling,
    reclaim,
    recount_surplus,
    settle_claim,
)
from annotation.tokens import ShownPair
from studies.models import Action, Clause, Dimension, Member, Pair, RoundQuery, RubricVersion
from studies.rows import build_parts, mark_inserted, prepared_cursor, read_values
from studies.selectors import get_rubric_with_parts
from studies.services.log import record_action
from studies.services.rounds import hold_round

# What an event says of a judgment, fetched with it.
WITH_EVENT = (
    "round__study",
    "rubric_version",
    "decided_by",
    "clause",
    "pair__query",
    "pair__document",
)


@dataclass(frozen=True, slots=True)
class Label:
    """What an annotator says of a pair: a grade or unsure (`grade` None), what decided it, with
    which reading, and why."""

    grade: int | None
    decided_by: str
    clause: str = ""
    note: str = ""

    @property
    def is_unsure(self) -> bool:
        return self.grade is None

    def list_values(self) -> dict[str, Any]:
        """The values by name, as the log holds them."""
        return {
            "grade": self.grade,
            "decided_by": self.decided_by,
            "clause": self.clause,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a submission.

    `recorded` and `repeated` (the same form again; nothing changed) lead on, and have the
    judgment they speak of. `surplus` is kept
    but no longer counts. `outdated` changed nothing: the pair already has another label of this
    annotator. `closed` and `not_held` changed nothing either.
    """

    kind: Literal["recorded", "repeated", "surplus", "outdated", "closed", "not_held"]
    judgment: Judgment | None = None

    @property
    def leads_on(self) -> bool:
        return self.kind in {"recorded", "repeated"}


@transaction.atomic
def record_judgment(
    *, shown: ShownPair, annotator: Member, label: Label, key: uuid.UUID
) -> Outcome:
    """Record one label of the pair that was shown.

    Everything happens under the lock of the query's row in the round, so that a double click,
    two tabs and a retry are told apart from one another by what is already there.
    """
    locked = lock_pair(shown.round_id, shown.pair_id, annotator)
    if locked is None:
        return Outcome("not_held")
    round_query, pair = locked
    standing = read_standing(round_query, pair, annotator, key)
    if standing.label_id is not None:
        existing = Judgment.objects.select_related("decided_by", "clause").get(pk=standing.label_id)
        return Outcome("repeated" if as_label(existing) == label else "outdated", existing)
    if standing.is_key_used:
        return Outcome("outdated")
    if not round_query.round.is_open:
        return Outcome("closed")
    claim = reclaim(standing.claim, round_query, annotator=annotator)
    if claim is None and standing.claim is None:
        return Outcome("not_held")
    judgment = Judgment(
        round=round_query.round,
        pair=pair,
        annotator=annotator,
        rubric_version_id=shown.rubric_version_id,
        is_surplus=claim is None,
    )
    set_label(judgment, label)
    insert_label(judgment, claim, round_query, shown=shown, key=key)
    return Outcome("recorded" if claim is not None else "surplus", judgment)


@transaction.atomic
def revise_judgment(
    *, shown: ShownPair, annotator: Member, label: Label, key: uuid.UUID
) -> Outcome:
    """Change an own label while its round is open, if it still says what was shown."""
    is_open = hold_round(shown.round_id)
    judgment = (
        Judgment.objects.select_for_update(of=("self",))
        .select_related(*WITH_EVENT)
        .filter(public_id=shown.judgment_id, annotator=annotator, source=Judgment.Source.APP)
        .first()
    )
    if judgment is None:
        return Outcome("outdated")
    if as_label(judgment) == label:
        return Outcome("repeated", judgment)
    if describe_state(judgment) != shown.state or Action.objects.filter(key=key).exists():
        return Outcome("outdated", judgment)
    if not is_open or judgment.round_id != shown.round_id:
        return Outcome("closed", judgment)
    before = as_label(judgment).list_values()
    active, away = shown.measure_time()
    set_label(judgment, label)
    judgment.revised_at = timezone.now()
    judgment.active_seconds = (judgment.active_seconds or 0) + active
    judgment.save()
    # It was carried to later rubric versions for what it said before.
    CarriedLabel.objects.filter(judgment=judgment).delete()
    record_action(
        judgment.round.study,
        "judgment.revised",
        user=annotator.user,
        member=annotator,
        data=describe_event(judgment) | {"before": before},
        active_seconds=active,
        away_seconds=away,
        key=key,
    )
    count_label_changes({(judgment.round_id, annotator.pk): 1})
    return Outcome("recorded", judgment)


@transaction.atomic
def undo_judgment(*, judgment_id: uuid.UUID, annotator: Member) -> Outcome:
    """Take back the annotator's latest label, which must be the one named; the pair is open
    again and comes next. The log keeps what was said. Without a place on the query, where the pair
    could not come again, the label stays as it is."""
    latest = find_latest(annotator)
    if latest is None or latest.public_id != judgment_id:
        return Outcome("outdated")
    if not hold_round(latest.round_id):
        return Outcome("closed", latest)
    locked = lock_pair(latest.round_id, latest.pair.public_id, annotator)
    judgment = Judgment.objects.select_related(*WITH_EVENT).filter(pk=latest.pk).first()
    if judgment is None or locked is None:
        return Outcome("outdated")
    round_query, _ = locked
    claim = Claim.objects.filter(round_query=round_query, annotator=annotator).first()
    claim = reclaim(claim, round_query, annotator=annotator)
    if claim is None:
        return Outcome("not_held", judgment)
    record_action(
        judgment.round.study,
        "judgment.undone",
        user=annotator.user,
        member=annotator,
        data=describe_event(judgment),
    )
    judgment.delete()
    undone = Counter({(judgment.round_id, annotator.pk): 1})
    count_label_changes(undone + settle_claim(claim))
    return Outcome("recorded", judgment)


def lock_pair(
    round_id: int, pair_id: uuid.UUID, annotator: Member
) -> tuple[RoundQuery, Pair] | None:
    """Lock the query of the annotator's study that the pair belongs to, in the round; None when
    the round has no such pair. Its round cannot be closed until the transaction ends."""
    parameters: dict[str, Any] = {"round": round_id, "pair": pair_id, "study": annotator.study_id}
    with prepared_cursor() as cursor:
        cursor.execute(statements.LOCK_PAIR, parameters)
        row = cursor.fetchone()
    if row is None:
        return None
    round_query, round, pair, query, document = build_parts(row, *statements.LOCKED)
    round.study = annotator.study
    round_query.round, round_query.query = round, query
    pair.query, pair.document = query, document
    return round_query, pair


@dataclass(frozen=True, slots=True)
class Standing:
    """What there is of a locked pair for one annotator: the label, the claim on its query, and
    whether the form's one-time key has been used."""

    is_key_used: bool
    label_id: int | None
    claim: Claim | None


def read_standing(
    round_query: RoundQuery, pair: Pair, annotator: Member, key: uuid.UUID
) -> Standing:
    parameters: dict[str, Any] = {
        "key": key,
        "round": round_query.round_id,
        "round_query": round_query.pk,
        "pair": pair.pk,
        "annotator": annotator.pk,
    }
    with prepared_cursor() as cursor:
        cursor.execute(statements.STANDING, parameters)
        is_key_used, label_id, *claim = cursor.fetchone()
    has_claim = claim[0] is not None
    return Standing(is_key_used, label_id, statements.CLAIM.build(claim) if has_claim else None)


def find_latest(annotator: Member) -> Judgment | None:
    """The label that the annotator gave last in the app, of those within their reach."""
    own = Judgment.objects.filter(annotator=annotator, source=Judgment.Source.APP)
    latest = leave_out_judged_anew(own).select_related("round", "pair")
    return latest.order_by("-pk").first()


def insert_label(
    judgment: Judgment,
    claim: Claim | None,
    round_query: RoundQuery,
    *,
    shown: ShownPair,
    key: uuid.UUID,
) -> None:
    """Save a new judgment with the event that says so, settle the annotator's claim on its query,
    if there is one, and count the change."""
    active, away = shown.measure_time()
    judgment.active_seconds = active
    event = Action(
        study=judgment.round.study,
        name="judgment.recorded",
        user=judgment.annotator.user,
        member=judgment.annotator,
        data=describe_event(judgment) | {"surplus": judgment.is_surplus},
        active_seconds=active,
        away_seconds=away,
        key=key,
    )
    settling = describe_settling(
        claim, round_query, judgment.annotator_id, labelled=judgment.pair_id
    )
    gives_single_pairs = is_assigned(judgment.round)
    with prepared_cursor() as cursor:
        cursor.execute(
            statements.RECORD_ASSIGNED_LABEL if gives_single_pairs else statements.RECORD_LABEL,
            read_values(judgment) | read_values(event) | settling,
        )
        label_id, state = cursor.fetchone()
    mark_inserted(judgment, label_id)
    if claim is not None and state == Claim.State.FINISHED:
        # The statement left its own change to be counted with those that follow from it.
        own = Counter({(judgment.round_id, judgment.annotator_id): 1})
        finished_by = judgment.annotator_id
        count_label_changes(own + recount_surplus(round_query, finished_by=finished_by))


def set_label(judgment: Judgment, label: Label) -> None:
    """Raises Dimension.DoesNotExist or Clause.DoesNotExist for names the version has not."""
    version = get_rubric_with_parts(judgment.rubric_version_id)
    judgment.rubric_version = version
    judgment.grade = label.grade
    judgment.is_unsure = label.is_unsure
    judgment.decided_by = find_dimension(version, label.decided_by)
    judgment.clause = find_clause(judgment.decided_by, label.clause) if label.clause else None
    judgment.note = label.note


def find_dimension(version: RubricVersion, name: str) -> Dimension:
    for dimension in version.dimensions.all():
        if dimension.name == name:
            return dimension
    raise Dimension.DoesNotExist(name)


def find_clause(dimension: Dimension, name: str) -> Clause:
    for clause in dimension.clauses.all():
        if clause.name == name:
            return clause
    raise Clause.DoesNotExist(name)


def as_label(judgment: Judgment) -> Label:
    return Label(
        grade=judgment.grade,
        decided_by=judgment.decided_by.name if judgment.decided_by else "",
        clause=judgment.clause.name if judgment.clause else "",
        note=judgment.note,
    )


def describe_state(judgment: Judgment) -> str:
    """What a label says and since when: changes with every revision."""
    since = judgment.revised_at or judgment.judged_at
    return f"{judgment.pk}:{since.timestamp()}"


def describe_event(judgment: Judgment) -> dict[str, Any]:
    """What the log says of a label: enough to replay it without other tables."""
    pair = judgment.pair
    return as_label(judgment).list_values() | {
        "query_id": pair.query.external_id,
        "doc_id": pair.document.external_id,
        "round": judgment.round.name,
        "rubric_version": judgment.rubric_version.number,
        "judgment": str(judgment.public_id),
    }

"""`state.json`: what an exported study carries beside its contents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import BinaryIO

from studies.formats.fields import instant_cell, json_kind
from studies.formats.jsontext import whole_json
from studies.formats.problems import Problems, RecordError

LONGEST_SEED = 64
LARGEST = 32_767
CLAIMS_IN_FORCE = ("held", "finished")
CLAIM_STATES = (*CLAIMS_IN_FORCE, "lapsed", "released")
CARRIED_WHY = ("untouched", "kept")
SPLIT_KINDS = ("slip", "underspecified", "undecided")
REPORT_KINDS = ("missing", "broken", "wrong", "other")
LARGEST_QUOTA = 2**31 - 1

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class ClaimState:
    """An annotator's hold on a query of a round; `slot` is None for one not in force."""

    round: str
    query_id: str
    annotator: str
    state: str
    slot: int | None
    claimed_at: datetime
    expires_at: datetime


@dataclass(frozen=True, slots=True)
class SurplusLabel:
    """A label that is kept and set aside."""

    round: str
    query_id: str
    doc_id: str
    annotator: str


@dataclass(frozen=True, slots=True)
class AssignedPair:
    """A pair that an annotator is to judge in a round which gives out single pairs."""

    round: str
    query_id: str
    doc_id: str
    annotator: str


@dataclass(frozen=True, slots=True)
class CarriedState:
    """A label said to be valid under a later rubric version; `by` is None where nobody is named."""

    round: str
    query_id: str
    doc_id: str
    annotator: str
    rubric_version: int
    why: str
    by: str | None
    at: datetime


@dataclass(frozen=True, slots=True)
class QuotaState:
    """How many queries of a round one annotator is to judge; by hand (`is_fixed`) or as a share."""

    round: str
    annotator: str
    queries: int
    is_fixed: bool


@dataclass(frozen=True, slots=True)
class ReportState:
    """An annotator's word that something is wrong with the document of a pair."""

    query_id: str
    doc_id: str
    annotator: str
    kind: str
    note: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ToldState:
    """The rubric version that an annotator knows they judge under, and since when."""

    annotator: str
    rubric_version: int
    at: datetime


@dataclass(frozen=True, slots=True)
class NoteState:
    """What a split of a calibration round was found to be; `by` is None where nobody is named."""

    round: str
    query_id: str
    doc_id: str
    kind: str
    note: str
    by: str | None
    at: datetime


@dataclass(frozen=True)
class UnblindedState:
    """Since when an annotator does not judge a round blind."""

    annotator: str
    round: str
    at: datetime


@dataclass(frozen=True)
class StudyState:
    """The seed of all orders, when rounds open and were closed and how many "all annotators" were
    then, who is a machine or inactive, when people joined, who is not blind in which round,
    queries planned for another number of annotators than their round (None: all), surplus labels,
    claims, pairs assigned one by one, labels carried to later rubric versions, quotas, reports of
    problems, who knows of which rubric version, and notes on the splits of calibrations."""

    seed: str = ""
    claim_minutes: int | None = None
    opens_at: dict[str, datetime] = field(default_factory=dict)
    closed_rounds: dict[str, datetime] = field(default_factory=dict)
    team_sizes: dict[str, int] = field(default_factory=dict)
    machines: list[str] = field(default_factory=list)
    inactive: list[str] = field(default_factory=list)
    joined: dict[str, datetime] = field(default_factory=dict)
    unblinded: list[UnblindedState] = field(default_factory=list)
    planned: dict[str, dict[str, int | None]] = field(default_factory=dict)
    surplus: list[SurplusLabel] = field(default_factory=list)
    claims: list[ClaimState] = field(default_factory=list)
    assignments: list[AssignedPair] = field(default_factory=list)
    carried: list[CarriedState] = field(default_factory=list)
    quotas: list[QuotaState] = field(default_factory=list)
    problem_reports: list[ReportState] = field(default_factory=list)
    rubric_told: list[ToldState] = field(default_factory=list)
    calibration_notes: list[NoteState] = field(default_factory=list)

    @property
    def people(self) -> set[str]:
        """Whom no other file need name."""
        return {
            *self.inactive,
            *(one.annotator for one in self.unblinded),
            *(quota.annotator for quota in self.quotas),
            *(report.annotator for report in self.problem_reports),
            *(told.annotator for told in self.rubric_told),
        }


def read_state(stream: BinaryIO, *, file: str, problems: Problems) -> StudyState | None:
    """Read the state; every key may be missing. None when anything was refused."""
    value = whole_json(
        stream, file=file, problems=problems, read=lambda text, start: text.value("", start)
    )
    if value is None:
        return None
    try:
        return _state(_object(value, "the file"))
    except RecordError as error:
        problems.add(file, None, str(error))
        return None


def _state(fields: Fields) -> StudyState:
    seed = _text(fields, "seed") if "seed" in fields else ""
    if len(seed) > LONGEST_SEED:
        raise RecordError(f'"seed" has {len(seed)} characters, more than {LONGEST_SEED}')
    planned = _object(fields.get("planned") or {}, '"planned"')
    return StudyState(
        seed=seed,
        claim_minutes=_number(fields, "claim_minutes") if "claim_minutes" in fields else None,
        opens_at=_moments(fields, "opens_at"),
        closed_rounds=_moments(fields, "closed_rounds"),
        team_sizes=_team_sizes(fields),
        machines=_names(fields, "machines"),
        inactive=_names(fields, "inactive"),
        joined=_moments(fields, "joined"),
        unblinded=[_unblinded(item) for item in _objects(fields, "unblinded")],
        planned={name: _plan(planned[name], name) for name in planned},
        surplus=[_surplus(item) for item in _objects(fields, "surplus")],
        claims=[_claim(item) for item in _objects(fields, "claims")],
        assignments=[AssignedPair(*_label_names(item)) for item in _objects(fields, "assignments")],
        carried=[_carried(item) for item in _objects(fields, "carried")],
        quotas=[_quota(item) for item in _objects(fields, "quotas")],
        problem_reports=[_report(item) for item in _objects(fields, "problem_reports")],
        rubric_told=[_told(item) for item in _objects(fields, "rubric_told")],
        calibration_notes=[_note(item) for item in _objects(fields, "calibration_notes")],
    )


def _object(value: object, what: str) -> Fields:
    if not isinstance(value, dict):
        raise RecordError(f"{what} must be an object, not {json_kind(value)}")
    return value


def _list(fields: Fields, key: str) -> list[object]:
    value = fields.get(key) or []
    if not isinstance(value, list):
        raise RecordError(f'"{key}" must be a list, not {json_kind(value)}')
    return value


def _objects(fields: Fields, key: str) -> Iterator[Fields]:
    return (_object(item, f'an item of "{key}"') for item in _list(fields, key))


def _text(fields: Fields, key: str) -> str:
    value = fields.get(key)
    if not isinstance(value, str):
        raise RecordError(f'"{key}" must be a string, not {json_kind(value)}')
    return value


def _number(fields: Fields, key: str, *, low: int = 1, high: int = LARGEST) -> int:
    value = fields.get(key)
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        reason = f'"{key}" must be a whole number from {low} to {high}, not {value!r}'
        raise RecordError(reason)
    return value


def _moment(fields: Fields, key: str) -> datetime:
    moment = instant_cell(_text(fields, key), f'"{key}"')
    if moment is None:
        raise RecordError(f'"{key}" needs a time')
    return moment


def _moments(fields: Fields, key: str) -> dict[str, datetime]:
    moments = _object(fields.get(key) or {}, f'"{key}"')
    return {name: _moment(moments, name) for name in moments}


def _team_sizes(fields: Fields) -> dict[str, int]:
    sizes = _object(fields.get("team_sizes") or {}, '"team_sizes"')
    return {name: _number(sizes, name) for name in sizes}


def _names(fields: Fields, key: str) -> list[str]:
    return [_text({key: item}, key) for item in _list(fields, key)]


def _plan(value: object, round_name: str) -> dict[str, int | None]:
    queries = _object(value, f"the plan of {round_name}")
    return {
        query_id: None if planned == "all" else _number(queries, query_id)
        for query_id, planned in queries.items()
    }


def _label_names(fields: Fields) -> tuple[str, str, str, str]:
    round_name, query_id = _text(fields, "round"), _text(fields, "query_id")
    return round_name, query_id, _text(fields, "doc_id"), _text(fields, "annotator")


def _surplus(fields: Fields) -> SurplusLabel:
    return SurplusLabel(*_label_names(fields))


def _unblinded(fields: Fields) -> UnblindedState:
    return UnblindedState(_text(fields, "annotator"), _text(fields, "round"), _moment(fields, "at"))


def _carried(fields: Fields) -> CarriedState:
    why = _text(fields, "why")
    if why not in CARRIED_WHY:
        raise RecordError(f"a label is carried as {why!r}, not one of {', '.join(CARRIED_WHY)}")
    return CarriedState(
        *_label_names(fields),
        rubric_version=_number(fields, "rubric_version"),
        why=why,
        by=None if fields.get("by") is None else _text(fields, "by"),
        at=_moment(fields, "at"),
    )


def _note(fields: Fields) -> NoteState:
    kind = _text(fields, "kind")
    if kind not in SPLIT_KINDS:
        raise RecordError(f"a split is noted as {kind!r}, not one of {', '.join(SPLIT_KINDS)}")
    return NoteState(
        round=_text(fields, "round"),
        query_id=_text(fields, "query_id"),
        doc_id=_text(fields, "doc_id"),
        kind=kind,
        note=_text(fields, "note"),
        by=None if fields.get("by") is None else _text(fields, "by"),
        at=_moment(fields, "at"),
    )


def _quota(fields: Fields) -> QuotaState:
    is_fixed = fields.get("is_fixed")
    if not isinstance(is_fixed, bool):
        raise RecordError(f'"is_fixed" must be true or false, not {json_kind(is_fixed)}')
    return QuotaState(
        round=_text(fields, "round"),
        annotator=_text(fields, "annotator"),
        queries=_number(fields, "queries", low=0, high=LARGEST_QUOTA),
        is_fixed=is_fixed,
    )


def _report(fields: Fields) -> ReportState:
    kind = _text(fields, "kind")
    if kind not in REPORT_KINDS:
        raise RecordError(f"a problem is {kind!r}, not one of {', '.join(REPORT_KINDS)}")
    return ReportState(
        query_id=_text(fields, "query_id"),
        doc_id=_text(fields, "doc_id"),
        annotator=_text(fields, "annotator"),
        kind=kind,
        note=_text(fields, "note"),
        at=_moment(fields, "at"),
    )


def _told(fields: Fields) -> ToldState:
    return ToldState(
        annotator=_text(fields, "annotator"),
        rubric_version=_number(fields, "rubric_version"),
        at=_moment(fields, "at"),
    )


def _claim(fields: Fields) -> ClaimState:
    state = _text(fields, "state")
    if state not in CLAIM_STATES:
        raise RecordError(f"a claim is {state!r}, not one of {', '.join(CLAIM_STATES)}")
    return ClaimState(
        round=_text(fields, "round"),
        query_id=_text(fields, "query_id"),
        annotator=_text(fields, "annotator"),
        state=state,
        slot=_number(fields, "slot") if state in CLAIMS_IN_FORCE else None,
        claimed_at=_moment(fields, "claimed_at"),
        expires_at=_moment(fields, "expires_at"),
    )

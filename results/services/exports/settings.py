"""A study's settings, rubrics and state as the records that files are written from."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any, Literal, cast

from annotation.models import (
    CarriedLabel,
    Claim,
    Judgment,
    ProblemReport,
    RoundAssignment,
    RubricTold,
)
from results.models import CalibrationNote
from results.selectors.targets import get_target
from studies.formats.records import (
    ClassSpec,
    ClauseSpec,
    ConsensusRule,
    DimensionSpec,
    EdgeCaseSpec,
    ExampleSpec,
    GradeSpec,
    Ordering,
    PersonSpec,
    Role,
    RoundKind,
    RoundSpec,
    RubricFile,
    StudyFile,
    TargetSpec,
    TargetWeights,
)
from studies.models import (
    Clause,
    Dimension,
    Grade,
    Member,
    Pair,
    Quota,
    Round,
    RoundQuery,
    RubricVersion,
    Study,
    Unblinding,
)

DEFAULT_DEPTH = 5
NO_NOTE = "No note was kept."


def describe_settings(study: Study, problems: list[str]) -> StudyFile:
    """What `study.yaml` holds. A round without queries cannot stand there; it is a problem."""
    return StudyFile(
        study=study.slug,
        title=study.title,
        description=study.description,
        annotators_per_query=study.annotators_per_query,
        minimum_votes=study.minimum_votes,
        ordering=cast(Ordering, str(study.ordering)),
        depth=study.depth or DEFAULT_DEPTH,
        documents="required" if study.documents_required else "optional",
        consensus=cast(ConsensusRule, str(study.consensus)),
        settle_own_pairs=study.settle_own_pairs,
        judges_read_results=study.judges_read_results,
        target=_target_spec(study),
        classes=[
            ClassSpec(found.name, found.title, found.is_high_risk, found.minimum_queries)
            for found in study.query_classes.order_by("position", "name")
        ],
        people=[
            PersonSpec(member.name, cast(list[Role], member.roles))
            for member in study.members.order_by("name")
            if member.roles
        ],
        rounds=list(_rounds(study, problems)),
    )


def _target_spec(study: Study) -> TargetSpec | None:
    found = get_target(study)
    if found is None:
        return None
    return TargetSpec(cast(TargetWeights, found.weights), found.at_least)


def _rounds(study: Study, problems: list[str]) -> Iterator[RoundSpec]:
    pooled = set(
        Pair.objects.filter(study=study, pool_rank__isnull=False)
        .order_by()
        .values_list("query__external_id", flat=True)
        .distinct()
    )
    plans = _plans(study)
    for round in study.rounds.select_related("rubric_version").order_by("position", "pk"):
        plan = plans[round.pk]
        if not plan:
            problems.append(f"The round {round.name} has no query; it is left out.")
            continue
        planned = _usual(plan)
        yield RoundSpec(
            name=round.name,
            kind=cast(RoundKind, round.kind),
            queries=None if plan.keys() == pooled else sorted(plan),
            annotators_per_query="all" if planned is None else planned,
            rubric_version=round.rubric_version.number,
        )


def _plans(study: Study) -> dict[int, dict[str, int | None]]:
    """By round, the planned number of annotators of each query id; None means all."""
    plans: dict[int, dict[str, int | None]] = defaultdict(dict)
    rows = RoundQuery.objects.filter(round__study=study).values_list(
        "round_id", "query__external_id", "annotators"
    )
    for round_id, query_id, annotators in rows.order_by("round_id", "query__external_id"):
        plans[round_id][query_id] = annotators
    return plans


def _usual(plan: dict[str, int | None]) -> int | None:
    return Counter(plan.values()).most_common(1)[0][0]


def list_rubrics(study: Study) -> Iterator[tuple[int, RubricFile]]:
    """Number and content of each published rubric version, and of drafts that a round uses."""
    versions = study.rubric_versions.prefetch_related(
        "grades", "dimensions__clauses__classes", "edge_cases", "rounds"
    ).order_by("number")
    for version in versions:
        if version.published_at or version.rounds.all():
            yield version.number, _rubric_file(version)


def _rubric_file(version: RubricVersion) -> RubricFile:
    return RubricFile(
        grades=[_grade_spec(grade) for grade in version.grades.all()],
        dimensions=[_dimension_spec(dimension) for dimension in version.dimensions.all()],
        edge_cases=[EdgeCaseSpec(found.case, found.ruling) for found in version.edge_cases.all()],
        # The file needs a note from the second version on; rubrics of old may lack one.
        note=version.note or (NO_NOTE if version.number > 1 else ""),
    )


def _grade_spec(grade: Grade) -> GradeSpec:
    examples = [ExampleSpec(**example) for example in grade.examples]
    return GradeSpec(grade.value, grade.name, grade.definition, grade.is_relevant, examples)


def _dimension_spec(dimension: Dimension) -> DimensionSpec:
    clauses = [_clause_spec(clause) for clause in dimension.clauses.all()]
    return DimensionSpec(dimension.name, dimension.test, clauses)


def _clause_spec(clause: Clause) -> ClauseSpec:
    classes = [found.name for found in clause.classes.all()]
    return ClauseSpec(clause.name, classes, clause.text, clause.grade_when_failed)


def collect_state(study: Study) -> dict[str, Any]:
    """What `state.json` holds: all that the other files have no place for."""
    rounds = list(study.rounds.order_by("position", "pk"))
    return {
        "seed": study.seed,
        "claim_minutes": study.claim_minutes,
        "opens_at": {round.name: round.opens_at.isoformat() for round in rounds},
        "closed_rounds": {
            round.name: round.closed_at.isoformat() for round in rounds if round.closed_at
        },
        "team_sizes": {round.name: round.team_size for round in rounds if round.team_size},
        "machines": _names(study, is_machine=True),
        "inactive": _names(study, is_active=False),
        "joined": {
            member.name: member.created_at.isoformat() for member in study.members.order_by("name")
        },
        "unblinded": _unblinded(study),
        "planned": _exceptions(study, rounds),
        "surplus": _surplus(study),
        "claims": _claims(study),
        "assignments": _assignments(study),
        "carried": _carried(study),
        "quotas": _quotas(study),
        "problem_reports": _problem_reports(study),
        "rubric_told": _rubric_told(study),
        "calibration_notes": _calibration_notes(study),
    }


def _unblinded(study: Study) -> list[dict[str, str]]:
    rows = Unblinding.objects.filter(round__study=study).order_by("round__position", "id")
    return [
        {"annotator": name, "round": round_name, "at": at.isoformat()}
        for name, round_name, at in rows.values_list("member__name", "round__name", "at")
    ]


def _names(study: Study, **condition: bool) -> list[str]:
    members = Member.objects.filter(study=study, **condition)
    return list(members.order_by("name").values_list("name", flat=True))


def _exceptions(study: Study, rounds: list[Round]) -> dict[str, dict[str, int | Literal["all"]]]:
    """By round, the queries planned for another number of annotators than the round's others."""
    plans = _plans(study)
    found: dict[str, dict[str, int | Literal["all"]]] = {}
    for round in rounds:
        plan = plans[round.pk]
        others = {
            query_id: "all" if planned is None else planned
            for query_id, planned in plan.items()
            if planned != _usual(plan)
        }
        if others:
            found[round.name] = cast(dict[str, int | Literal["all"]], others)
    return found


LABEL_COLUMNS = {
    "round": "round__name",
    "query_id": "pair__query__external_id",
    "doc_id": "pair__document__external_id",
    "annotator": "annotator__name",
}


def _surplus(study: Study) -> list[dict[str, str]]:
    rows = Judgment.objects.filter(round__study=study, is_surplus=True).order_by("id")
    values = rows.values_list(*LABEL_COLUMNS.values())
    return [dict(zip(LABEL_COLUMNS, row, strict=True)) for row in values]


def _assignments(study: Study) -> list[dict[str, str]]:
    rows = RoundAssignment.objects.filter(round__study=study).order_by("id")
    values = rows.values_list(*LABEL_COLUMNS.values())
    return [dict(zip(LABEL_COLUMNS, row, strict=True)) for row in values]


def _carried(study: Study) -> list[dict[str, Any]]:
    columns = {name: f"judgment__{path}" for name, path in LABEL_COLUMNS.items()}
    columns |= {"rubric_version": "rubric_version__number", "why": "why", "by": "by__name"}
    rows = CarriedLabel.objects.filter(judgment__round__study=study).order_by("id")
    return [
        dict(zip(columns, row, strict=True)) | {"at": at.isoformat()}
        for *row, at in rows.values_list(*columns.values(), "at")
    ]


def _claims(study: Study) -> list[dict[str, Any]]:
    claims = Claim.objects.filter(round_query__round__study=study).order_by("id")
    return [
        {
            "round": claim.round_query.round.name,
            "query_id": claim.round_query.query.external_id,
            "annotator": claim.annotator.name,
            "state": claim.state,
            "slot": claim.slot,
            "claimed_at": claim.claimed_at.isoformat(),
            "expires_at": claim.expires_at.isoformat(),
        }
        for claim in claims.select_related("round_query__round", "round_query__query", "annotator")
    ]


def _quotas(study: Study) -> list[dict[str, Any]]:
    """The quotas of rounds that are exported: those with a query."""
    columns = ("round", "annotator", "queries", "is_fixed")
    rows = Quota.objects.filter(round__study=study, round__round_queries__isnull=False).distinct()
    values = rows.order_by("id").values_list("round__name", "member__name", "queries", "is_fixed")
    return [dict(zip(columns, row, strict=True)) for row in values]


def _problem_reports(study: Study) -> list[dict[str, Any]]:
    columns = LABEL_COLUMNS | {"kind": "kind", "note": "note"}
    del columns["round"]
    rows = ProblemReport.objects.filter(pair__study=study).order_by("id")
    return [
        dict(zip(columns, row, strict=True)) | {"at": at.isoformat()}
        for *row, at in rows.values_list(*columns.values(), "reported_at")
    ]


def _calibration_notes(study: Study) -> list[dict[str, Any]]:
    columns = LABEL_COLUMNS | {"kind": "kind", "note": "note", "by": "by__name"}
    del columns["annotator"]
    rows = CalibrationNote.objects.filter(round__study=study).order_by("id")
    return [
        dict(zip(columns, row, strict=True)) | {"at": at.isoformat()}
        for *row, at in rows.values_list(*columns.values(), "at")
    ]


def _rubric_told(study: Study) -> list[dict[str, Any]]:
    rows = RubricTold.objects.filter(annotator__study=study).order_by("annotator__name")
    return [
        {"annotator": name, "rubric_version": number, "at": at.isoformat()}
        for name, number, at in rows.values_list("annotator__name", "rubric_version__number", "at")
    ]

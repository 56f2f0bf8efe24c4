"""Rounds: which queries are judged, by how many annotators, under which rubric version."""

from __future__ import annotations

from collections.abc import Sequence

from django.db.backends.utils import CursorWrapper

from studies.formats.records import RoundSpec
from studies.models import Round, RubricVersion, Study, User
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import execute
from studies.services.rounds import close_round

FILE = "study.yaml"
STATE_FILE = "state.json"

ADD_WHOLE_POOL = """
INSERT INTO studies_roundquery (round_id, query_id, annotators)
SELECT %(round)s, q.id, %(annotators)s FROM studies_query q
WHERE q.study_id = %(study)s AND EXISTS (SELECT FROM studies_pair p WHERE p.query_id = q.id)
ORDER BY q.id
ON CONFLICT (round_id, query_id) DO NOTHING
"""

ADD_NAMED = """
INSERT INTO studies_roundquery (round_id, query_id, annotators)
SELECT %(round)s, q.id, %(annotators)s FROM studies_query q
WHERE q.study_id = %(study)s AND q.external_id = ANY(%(queries)s)
ORDER BY q.id
ON CONFLICT (round_id, query_id) DO NOTHING
"""


def add_rounds(cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport) -> None:
    """Create rounds, and add to open ones the queries that are new in the pool or named anew."""
    versions = {version.number: version for version in study.rubric_versions.all()}
    known = {round.name: round for round in study.rounds.all()}
    new = 0
    for position, spec in enumerate(plan.settings.rounds):
        if spec.rubric_version is not None and spec.rubric_version not in versions:
            reason = f"the round {spec.name} names rubric {spec.rubric_version}, which is missing"
            report.refuse("rounds", FILE, None, reason)
            continue
        round = known.get(spec.name)
        if round is None:
            round = _create_round(study, spec, position, versions)
            new += 1
        else:
            _compare(round, spec, report)
        _add_queries(cursor, study, round, spec, report)
    report.count("rounds", read=len(plan.settings.rounds), new=new)


def _create_round(
    study: Study, spec: RoundSpec, position: int, versions: dict[int, RubricVersion]
) -> Round:
    return Round.objects.create(
        study=study,
        name=spec.name,
        kind=spec.kind,
        rubric_version=versions[spec.rubric_version or max(versions)],
        position=position,
    )


def _compare(round: Round, spec: RoundSpec, report: ImportReport) -> None:
    if round.kind != spec.kind:
        reason = f"the round {spec.name} is of the kind {round.kind} in the study"
        report.conflict("rounds", FILE, None, reason)
    number = round.rubric_version.number
    if spec.rubric_version not in (None, number):
        reason = f"the round {spec.name} runs under rubric {number} in the study"
        report.conflict("rounds", FILE, None, reason)


def _add_queries(
    cursor: CursorWrapper, study: Study, round: Round, spec: RoundSpec, report: ImportReport
) -> None:
    """Put the round's queries into it; a closed round takes none and says so."""
    values = {
        "study": study.pk,
        "round": round.pk,
        "annotators": _annotators(study, spec),
        "queries": spec.queries,
    }
    statement = ADD_WHOLE_POOL if spec.queries is None else ADD_NAMED
    if round.closed_at is not None:
        report.note(FILE, f"the round {round.name} is closed: it takes no further queries")
        return
    added = execute(cursor, statement, values)
    report.count("round queries", read=round.round_queries.count(), new=added)


def _annotators(study: Study, spec: RoundSpec) -> int | None:
    if spec.annotators_per_query == "all":
        return None
    return spec.annotators_per_query or study.annotators_per_query


def find_rounds_to_close(study: Study, plan: StudyPlan) -> list[Round]:
    """The open rounds that were closed where the files come from, locked so that nobody gives a
    label in them before the import has ended."""
    closed = plan.state.closed_rounds if plan.state else {}
    rounds = study.rounds.select_for_update(no_key=True).order_by("pk")
    return list(rounds.filter(name__in=closed, closed_at=None))


def close_rounds(study: Study, plan: StudyPlan) -> None:
    """Close the rounds of a study that moves here, when they were closed where it comes from."""
    for name, moment in (plan.state.closed_rounds if plan.state else {}).items():
        study.rounds.filter(name=name, closed_at=None).update(closed_at=moment)


def close_rounds_here(rounds: Sequence[Round], report: ImportReport, user: User | None) -> None:
    """Close rounds of a study that has been judged here."""
    for round in rounds:
        close_round(round=round, user=user)
        report.note(STATE_FILE, f"the round {round.name} is closed: it takes no labels any more")
    if rounds:
        report.count("rounds closed", read=len(rounds), new=len(rounds))

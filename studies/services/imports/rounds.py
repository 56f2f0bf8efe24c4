"""Rounds: which queries are judged, by how many annotators, under which rubric version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.db.backends.utils import CursorWrapper
from django.utils import timezone

from studies.formats.records import RoundSpec
from studies.models import Round, RubricVersion, Study, User
from studies.services.imports.plan import StudyPlan
from studies.services.imports.report import ImportReport
from studies.services.imports.staging import execute, fetch
from studies.services.rounds import close_round

STATE_FILE = "state.json"

# What the round asks for and does not hold yet: the whole pool, or the queries it names.
NEW_QUERIES = """
FROM studies_query q
WHERE q.study_id = %(study)s
    AND CASE WHEN %(queries)s::text[] IS NULL
        THEN EXISTS (SELECT FROM studies_pair p WHERE p.query_id = q.id)
        ELSE q.external_id = ANY(%(queries)s) END
    AND NOT EXISTS (
        SELECT FROM studies_roundquery known
        WHERE known.round_id = %(round)s AND known.query_id = q.id
    )
"""

ADD_QUERIES = f"""
INSERT INTO studies_roundquery (round_id, query_id, annotators)
SELECT %(round)s, q.id, %(annotators)s {NEW_QUERIES}
ORDER BY q.id
"""

COUNT_QUERIES = f"SELECT count(*) {NEW_QUERIES}"


def add_rounds(cursor: CursorWrapper, study: Study, plan: StudyPlan, report: ImportReport) -> None:
    """Create rounds, and add to open ones the queries that are new in the pool or named anew."""
    versions = {version.number: version for version in study.rubric_versions.all()}
    known = {round.name: round for round in study.rounds.all()}
    new = odd = 0
    for position, spec in enumerate(plan.settings.rounds):
        if spec.rubric_version is not None and spec.rubric_version not in versions:
            reason = f"the round {spec.name} names rubric {spec.rubric_version}, which is missing"
            report.refuse("rounds", plan.settings_file, None, reason)
            odd += 1
            continue
        round = known.get(spec.name)
        if round is None:
            round = _create_round(study, spec, position, versions)
            new += 1
        elif differing := " and ".join(_compare(round, spec)):
            reason = f"the round {spec.name} {differing} in the study"
            report.conflict("rounds", plan.settings_file, None, reason)
            odd += 1
        _add_queries(cursor, study, round, spec, plan.settings_file, report)
    report.count("rounds", read=len(plan.settings.rounds), new=new, odd=odd)


def _create_round(
    study: Study, spec: RoundSpec, position: int, versions: dict[int, RubricVersion]
) -> Round:
    return Round.objects.create(
        study=study,
        name=spec.name,
        kind=spec.kind,
        rubric_version=versions[spec.rubric_version or max(versions)],
        position=position,
        opens_at=spec.opens_at or timezone.now(),
    )


def _compare(round: Round, spec: RoundSpec) -> Iterator[str]:
    """What the study says otherwise of the round."""
    if round.kind != spec.kind:
        yield f"is of the kind {round.kind}"
    number = round.rubric_version.number
    if spec.rubric_version not in (None, number):
        yield f"runs under rubric {number}"


def _add_queries(
    cursor: CursorWrapper,
    study: Study,
    round: Round,
    spec: RoundSpec,
    file: str,
    report: ImportReport,
) -> None:
    """Put the round's queries into it; a closed round takes none, and says so of new ones."""
    values = {
        "study": study.pk,
        "round": round.pk,
        "annotators": _annotators(study, spec),
        "queries": spec.queries,
    }
    if round.closed_at is not None:
        ((left,),) = fetch(cursor, COUNT_QUERIES, values)
        if left:
            reason = f"the round {round.name} is closed: it takes no further queries ({left:,} new)"
            if round.kind == Round.Kind.MAIN:
                reason += "; another main round that study.yaml names takes them"
            report.note(file, reason)
        return
    added = execute(cursor, ADD_QUERIES, values)
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
        # None, of a study exported before the sizes were kept: the database counts the people.
        size = plan.state.team_sizes.get(name) if plan.state else None
        rounds = study.rounds.filter(name=name, closed_at=None)
        rounds.update(closed_at=moment, team_size=size)


def close_rounds_here(rounds: Sequence[Round], report: ImportReport, user: User | None) -> None:
    """Close rounds of a study that has been judged here."""
    for round in rounds:
        close_round(round=round, user=user)
        report.note(STATE_FILE, f"the round {round.name} is closed: it takes no labels any more")
    if rounds:
        report.count("rounds closed", read=len(rounds), new=len(rounds))

"""A small study whose release gate is green, line by line."""

from collections.abc import Sequence

from django.utils import timezone

from results.models import AgreementTarget
from results.services.gate import override_gate, read_gate
from results.services.releases import run_everything
from studies.models import Member, Pair, QueryClass, Round, RoundQuery, Study
from tests import factories as make
from tests.cast import Cast
from tests.results.exported import judge

REASON = "The baseline is frozen on Friday."


def make_releasable(cast: Cast) -> Study:
    """Every pair judged by both, one tie in a class of high risk settled, two calibration rounds
    alike, a target that is reached, two runs; everything computed."""
    QueryClass.objects.update(minimum_queries=1)
    QueryClass.objects.filter(name="procedural").update(is_high_risk=True)
    for name, grades in (("cal-1", [0, 1, 2, 0]), ("cal-2", [2, 1, 0, 0])):
        calibrate(cast, name, grades)
    judge(cast.main, cast.pairs, cast.ana, [0, 1, 2, 0, 1, 2, 0, 1, 2])
    judge(cast.main, cast.pairs, cast.ben, [2, 1, 2, 0, 1, 2, 0, 1, 2])
    make.make_final_label(cast.pairs[0], 2, by=cast.ada)
    Round.objects.filter(closed_at=None).update(closed_at=timezone.now())
    AgreementTarget.objects.create(study=cast.study, weights="nominal", at_least="0.60")
    for name, order in (("bm25", (1, 2, 3)), ("dense", (3, 2, 1))):
        hits = {f"q{q}": [f"q{q}-d{d}" for d in order] for q in (1, 2, 3)}
        make.make_run(cast.study, name, hits)
    compute(cast.study)
    return cast.study


def calibrate(cast: Cast, name: str, grades: list[int]) -> Round:
    """A closed calibration round in which ana and ben agree on each of the first pairs."""
    round = make.make_round(
        cast.study, name, kind=Round.Kind.CALIBRATION, position=cast.study.rounds.count()
    )
    plan(round, cast.pairs[: len(grades)])
    for member in (cast.ana, cast.ben):
        judge(round, cast.pairs[: len(grades)], member, grades)
    round.closed_at = timezone.now()
    round.save()
    return round


def plan(round: Round, pairs: Sequence[Pair]) -> None:
    """Put the queries of the pairs into the round, for everybody."""
    for query in {pair.query_id for pair in pairs}:
        RoundQuery.objects.create(round=round, query_id=query)


def compute(study: Study) -> None:
    """Compute what the gate rests on."""
    run_everything(study)


def list_states(study: Study) -> dict[str, str]:
    return {line.key: line.state for line in read_gate(study).lines}


def list_codes(study: Study, key: str) -> set[str]:
    return {
        finding.code
        for line in read_gate(study).lines
        if line.key == key
        for finding in line.findings
    }


def open_exports(member: Member) -> None:
    """Say why labels are exported in spite of the red gate."""
    override_gate(study=member.study, member=member, reason=REASON)

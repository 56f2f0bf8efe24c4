"""Reads of calibration and relabel rounds, and of the notes on their splits."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db.models import Count, Max, Q, Sum

from annotation.models import CarriedLabel, Judgment, LabelChanges
from results.models import AgreementReport, CalibrationNote
from results.selectors.reports import REPORT_FORMAT
from results.services.scopes import Scope
from studies.models import Job, Member, Pair, Role, Round, Study


@dataclass(frozen=True, slots=True)
class Given:
    """How many outcomes somebody has given in a round, of how many pairs it has for them."""

    name: str
    outcomes: int
    pairs: int

    @property
    def missing(self) -> int:
        return max(self.pairs - self.outcomes, 0)


def list_rounds(study: Study, *kinds: Round.Kind) -> list[Round]:
    """Rounds of these kinds, the oldest first, with their number of queries as `size`."""
    rounds = study.rounds.filter(kind__in=kinds).select_related("rubric_version")
    return list(rounds.annotate(size=Count("round_queries")).order_by("position", "pk"))


def find_calibration(study: Study, name: str) -> Round | None:
    return (
        study.rounds.select_related("rubric_version")
        .filter(name=name, kind=Round.Kind.CALIBRATION)
        .first()
    )


def list_reports(study: Study, rounds: Collection[Round]) -> dict[str, AgreementReport]:
    """The stored numbers of these rounds, by name of the round: those read after it was closed."""
    closed = {Scope(round=one.name).key: one for one in rounds if one.closed_at is not None}
    found = AgreementReport.objects.filter(
        study=study, scope__in=closed, payload__format=REPORT_FORMAT
    )
    return {
        closed[report.scope].name: report
        for report in found
        if (closed_at := closed[report.scope].closed_at) and report.computed_at >= closed_at
    }


def list_outdated(study: Study, reports: Mapping[Round, AgreementReport]) -> set[str]:
    """Names of the relabel rounds among these whose numbers are older than what they rest on: a
    label of the round or a current one, against which they are held, is another by now, or more
    are carried to the round's version."""
    relabels = {one: found for one, found in reports.items() if one.kind == Round.Kind.RELABEL}
    if not relabels:
        return set()
    changes = dict(
        LabelChanges.objects.filter(round__study=study)
        .order_by()
        .values_list("round")
        .annotate(Sum("count"))
    )
    carried = dict(
        CarriedLabel.objects.filter(rubric_version__study=study)
        .order_by()
        .values_list("rubric_version")
        .annotate(Max("pk"))
    )
    current = study.rounds.filter(kind__in=[Round.Kind.MAIN, Round.Kind.RECHECK])
    current_changes = sum(changes.get(key, 0) for key in current.values_list("pk", flat=True))
    return {
        one.name
        for one, report in relabels.items()
        if current_changes + changes.get(one.pk, 0) > report.label_changes
        or carried.get(one.rubric_version_id, 0) > report.payload["carried"]
    }


def list_waiting_scopes(study: Study, kind: str) -> set[str]:
    """The scopes that a worker is computing, or is to; not those of a worker that is gone."""
    jobs = Job.objects.filter(
        study=study, kind=kind, state__in=[Job.State.QUEUED, Job.State.RUNNING]
    )
    return {job.arguments.get("scope", "") for job in jobs if job.is_at_work}


def count_given(round: Round) -> list[Given]:
    """Who has given how many outcomes in a round that everybody judges whole."""
    pairs = Pair.objects.filter(query__round_queries__round=round).count()
    counts = dict(
        Judgment.objects.filter(round=round, annotator__is_machine=False, is_surplus=False)
        .order_by()
        .values_list("annotator__name")
        .annotate(Count("pk"))
    )
    team = Member.objects.filter(
        Q(is_active=True, roles__contains=[Role.ANNOTATOR.value]) | Q(name__in=counts),
        study=round.study_id,
    )
    names = team.order_by("name").values_list("name", flat=True)
    return [Given(name, counts.get(name, 0), pairs) for name in names]


def list_notes(round: Round) -> Mapping[int, CalibrationNote]:
    """The notes on the round's splits, by key of the pair."""
    notes = CalibrationNote.objects.filter(round=round).select_related("by")
    return {note.pair_id: note for note in notes}

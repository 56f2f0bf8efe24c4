"""What the pages of the results room show; a page and its fragment take the same object."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from annotation.models import Judgment
from results.agreement_figures import judge_payload
from results.figure_parts import Figures
from results.figures import read_figures
from results.models import AgreementReport
from results.selectors.blindness import find_blinding_rounds
from results.selectors.changes import count_changed_labels, count_classes_since, has_other_plan
from results.selectors.export_accounts import COUNT_EXPORTS
from results.selectors.release import COMPUTE_RELEASE
from results.selectors.reports import get_latest_job, get_report
from results.selectors.revisions import COMPUTE_ACCOUNT
from results.selectors.targets import read_target
from results.services.reading import record_reading
from results.services.reports import count_final_changes_since, count_new_pairs
from results.services.scopes import Comparison, Scope, find_rounds
from results.tables import Table, make_tables
from studies.access import StudyAccess
from studies.models import Job, Member, Role, Round, Study

TABS = (
    ("results:overview", gettext_noop("Overview")),
    ("results:splits", gettext_noop("Where people split")),
    ("results:agreement", gettext_noop("Agreement")),
    ("results:queries", gettext_noop("Queries")),
    ("results:people", gettext_noop("Annotators")),
    ("results:final-labels", gettext_noop("Final labels")),
    ("results:rounds", gettext_noop("Rounds")),
    ("results:revision", gettext_noop("Revisions")),
    ("results:systems", gettext_noop("Systems")),
    ("results:gate", gettext_noop("Release gate")),
    ("results:exports", gettext_noop("Exports")),
)


@dataclass(frozen=True, slots=True)
class Link:
    label: str
    url: str
    is_current: bool


@dataclass(frozen=True, slots=True)
class Choice:
    value: str
    label: str
    is_chosen: bool


@dataclass(frozen=True, slots=True)
class Filters:
    """What the numbers can be narrowed to, and in `said` what they are narrowed to now."""

    url: str
    rounds: Sequence[Choice]
    versions: Sequence[Choice]
    classes: Sequence[Choice]
    annotators: Sequence[Choice]
    with_controls: bool
    said: Sequence[str]


@dataclass(frozen=True, slots=True)
class JobProgress:
    """A job as its progress bar shows it; `back` is the page that has its numbers."""

    url: str
    back: str
    state: str
    done: int
    total: int
    message: str
    error: str

    @property
    def is_over(self) -> bool:
        return self.state in {Job.State.DONE, Job.State.FAILED}


@dataclass(frozen=True, slots=True)
class ReportStatus:
    """How the numbers on the page stand to the labels at hand.

    `computing` and `failed` may go together with older numbers, which then stay on the page.
    `final_changes` make only what is told of final labels older, so the state stays fresh.
    """

    state: str
    judgments: int = 0
    computed_at: datetime | None = None
    changes: int = 0
    class_changes: int = 0
    new_pairs: int = 0
    has_other_plan: bool = False
    final_changes: int = 0
    progress: JobProgress | None = None


@dataclass(frozen=True, slots=True)
class ResultsPage:
    """A page about one scope. Without `figures` there are no numbers yet; with `hidden_by`,
    names of rounds, they are withheld from this person."""

    study: Study
    scope: Scope
    query: str
    tabs: Sequence[Link]
    scopes: Sequence[Link]
    filters: Filters
    hidden_by: Sequence[str] = ()
    status: ReportStatus | None = None
    figures: Figures | None = None
    tables: Mapping[str, Table] = field(default_factory=dict)
    can_administer: bool = False


def show_results(
    access: StudyAccess, scope: Scope, view_name: str, tables: Sequence[str] = ()
) -> ResultsPage:
    """The page of a scope with these tables, by name. Raises UnknownScope where the study does
    not have it."""
    study = access.study
    rounds = find_rounds(study, scope)
    page = ResultsPage(
        study=study,
        scope=scope,
        query=write_query(scope),
        tabs=list_tabs(study, scope, view_name),
        scopes=list_scopes(study, scope, view_name),
        filters=list_filters(study, scope, view_name),
        hidden_by=find_blinding_rounds(access.member, rounds.labels),
        can_administer=access.member.has_role(Role.ADMIN),
    )
    if page.hidden_by:
        return page
    report = get_report(study, scope)
    page = replace(page, status=show_status(study, scope, report))
    if report is None:
        return page
    record_reading(access, rounds.labels)
    payload = judge_payload(report.payload, read_target(study))
    return replace(page, figures=read_figures(payload), tables=make_tables(payload, *tables))


def show_status(study: Study, scope: Scope, report: AgreementReport | None) -> ReportStatus:
    job = get_latest_job(study, scope)
    changes = count_changed_labels(report) if report else 0
    class_changes = count_classes_since(report) if report else 0
    new_pairs = count_new_pairs(report) if report else 0
    is_replanned = report is not None and has_other_plan(report)
    return ReportStatus(
        state=name_state(report, job, changes + class_changes + new_pairs + is_replanned),
        judgments=report.payload["judgments"] if report else 0,
        computed_at=report.computed_at if report else None,
        changes=changes,
        class_changes=class_changes,
        new_pairs=new_pairs,
        has_other_plan=is_replanned,
        final_changes=count_final_changes_since(report) if report else 0,
        progress=show_job(study, job) if job else None,
    )


def name_state(report: AgreementReport | None, job: Job | None, changes: int) -> str:
    if job and job.is_at_work:
        return "computing"
    if job and job.has_failed and (changes or not report):
        return "failed"
    if report is None:
        return "empty"
    return "stale" if changes else "fresh"


def show_job(study: Study, job: Job) -> JobProgress:
    return JobProgress(
        url=reverse("results:job", args=[study.slug, job.public_id]),
        back=find_page_of(study, job),
        state=Job.State.FAILED if job.has_failed else job.state,
        done=job.progress,
        total=job.total,
        message=_(job.message) if job.message else "",
        error=job.fault,
    )


def find_page_of(study: Study, job: Job) -> str:
    """The address of the page that has the job's numbers."""
    if job.kind == COMPUTE_ACCOUNT:
        sides = (Scope.parse(job.arguments[side]) for side in ("before", "after"))
        query = urlencode(Comparison(*sides).fields)
        return f"{reverse('results:revision', args=[study.slug])}?{query}"
    if job.kind == COMPUTE_RELEASE:
        return reverse("results:gate", args=[study.slug])
    if job.kind == COUNT_EXPORTS:
        asked = f"?{urlencode(job.arguments)}" if job.arguments else ""
        return reverse("results:exports", args=[study.slug]) + asked
    scope = Scope.parse(job.arguments.get("scope", Scope().key))
    return reverse("results:overview", args=[study.slug]) + write_query(scope)


def list_tabs(study: Study, scope: Scope, view_name: str) -> list[Link]:
    return [
        Link(_(label), reverse(name, args=[study.slug]) + write_query(scope), name == view_name)
        for name, label in TABS
    ]


def list_shown_rounds(study: Study) -> list[str]:
    """Names of the rounds that have numbers: a calibration round once it is closed."""
    rounds = study.rounds.exclude(kind=Round.Kind.CALIBRATION, closed_at__isnull=True)
    return list(rounds.order_by("position", "pk").values_list("name", flat=True))


def list_scopes(study: Study, scope: Scope, view_name: str) -> list[Link]:
    """What the page could speak of instead: the rounds, and the rubric versions if several."""
    rounds = list_shown_rounds(study)
    versions = list(study.rubric_versions.order_by("number").values_list("number", flat=True))
    choices = [(_("current labels"), Scope())]
    choices += [(name, Scope(round=name)) for name in rounds]
    if len(versions) > 1:
        choices += [
            (_("rubric %(number)d") % {"number": number}, Scope(rubric=number))
            for number in versions
        ]
    url = reverse(view_name, args=[study.slug])
    return [Link(label, url + write_query(choice), choice == scope) for label, choice in choices]


def list_filters(study: Study, scope: Scope, view_name: str) -> Filters:
    """The choices of the filters, with those of the scope chosen."""
    rounds = list_shown_rounds(study)
    versions = study.rubric_versions.order_by("number").values_list("number", flat=True)
    classes = study.query_classes.order_by("position", "name").values_list("name", flat=True)
    return Filters(
        url=reverse(view_name, args=[study.slug]),
        rounds=_offer(rounds, scope.rounds),
        versions=_offer(map(str, versions), [str(scope.rubric)]),
        classes=_offer(classes, [scope.query_class]),
        annotators=_offer(list_labelling(study), scope.annotators),
        with_controls=scope.with_controls,
        said=list(say_filters(scope)),
    )


def list_labelling(study: Study) -> list[str]:
    """Names of who has a label in the study, machines too."""
    judged = Judgment.objects.filter(annotator=OuterRef("pk"))
    members = Member.objects.filter(Exists(judged), study=study).order_by("name")
    return list(members.values_list("name", flat=True))


def say_filters(scope: Scope) -> Iterator[str]:
    """What a scope is narrowed to, beyond one round or one version."""
    if len(scope.rounds) > 1:
        yield _("rounds %(names)s") % {"names": ", ".join(scope.rounds)}
    if scope.query_class is not None:
        yield _("class %(name)s") % {"name": scope.query_class}
    if scope.annotators:
        yield _("labels of %(names)s") % {"names": ", ".join(scope.annotators)}
    if scope.with_controls:
        yield _("with control pairs")


def write_query(scope: Scope) -> str:
    """The scope as the query of an address, "" for the current labels."""
    return f"?{urlencode(scope.parameters)}" if scope.parameters else ""


def _offer(values: Iterable[str], chosen: Collection[str | None]) -> list[Choice]:
    return [Choice(value, value, value in chosen) for value in values]

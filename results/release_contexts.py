"""What the pages of the release show: the gate line by line, and the runs' scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal

from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from results.contexts import JobProgress, Link, list_tabs, show_job
from results.dropped import MEASURES, judge_dropped_share
from results.gate import Finding, Line, State
from results.gate_facts import Freshness
from results.gate_wording import TITLES, say
from results.models import ReleaseReport
from results.selectors.release import get_release_job, get_release_report, tell_freshness
from results.services.gate import Gate, read_gate
from results.services.reading import open_results
from results.services.scopes import Scope
from studies.access import StudyAccess
from studies.models import Job, Role, Study

COMPUTE = "#compute"

# What an admin can mend: the page, the place on it of the form, and what the form does.
FORMS = {
    "no_target": ("results:agreement", "#target-form", gettext_lazy("Set a target")),
    "too_few_rounds": ("results:rounds", "#next-round", gettext_lazy("Open a calibration round")),
    "no_class": ("studies:classes", "", gettext_lazy("Classify the queries")),
    "no_rubric": ("rubric:page", "#next-version", gettext_lazy("Write one")),
    "draft_open": ("rubric:draft", "", gettext_lazy("Go on with the draft")),
    "round_under_another": (
        "rubric:page",
        "#next-version",
        gettext_lazy("Judge on under another version"),
    ),
}


@dataclass(frozen=True, slots=True)
class ReleaseStatus:
    """How the stored numbers stand to what they were counted from."""

    state: str
    computed_at: datetime | None = None
    progress: JobProgress | None = None


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A sentence, where its cause is to be seen, and what can be done there, "" to look only."""

    sentence: str
    url: str
    act: str = ""


@dataclass(frozen=True, slots=True)
class ShownLine:
    key: str
    title: str
    state: State | Literal["stale"]
    findings: Sequence[ShownFinding]


@dataclass(frozen=True, slots=True)
class GatePage:
    study: Study
    tabs: Sequence[Link]
    hidden_by: Sequence[str] = ()
    status: ReleaseStatus | None = None
    gate: Gate | None = None
    lines: Sequence[ShownLine] = ()
    red: int = 0
    stale: int = 0
    warnings: int = 0
    may_pass: bool = False
    reason: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class Score:
    """A measure as it stands, and with the dropped pairs at their worst and their best."""

    value: float | None
    worst: float | None
    best: float | None


@dataclass(frozen=True, slots=True)
class RunRow:
    name: str
    scores: Sequence[Score]


@dataclass(frozen=True, slots=True)
class SystemsPage:
    """The runs under the consensus. `queries` were scored; `queries_dropped` are those of which
    every pair was dropped: they count in the bounds only."""

    study: Study
    tabs: Sequence[Link]
    hidden_by: Sequence[str] = ()
    status: ReleaseStatus | None = None
    k: int = 0
    relevant_from: int | None = None
    queries: int = 0
    queries_dropped: int = 0
    dropped: int = 0
    dropped_share: float | None = None
    dropped_level: str = ""
    pairs_dropped: int = 0
    runs: Sequence[RunRow] = ()


def show_gate(access: StudyAccess, *, reason: str = "", error: str = "") -> GatePage:
    study = access.study
    page = GatePage(study, list_tabs(study, Scope(), "results:gate"))
    if hidden_by := open_results(access):
        return replace(page, hidden_by=hidden_by)
    gate = read_gate(study)
    is_admin = access.member.has_role(Role.ADMIN)
    lines = [show_line(study, line, is_admin=is_admin) for line in gate.lines]
    return replace(
        page,
        status=show_release_status(study, get_release_report(study)),
        gate=gate,
        lines=lines,
        red=sum(line.state == "red" for line in lines),
        stale=sum(line.state == "stale" for line in lines),
        warnings=sum(line.state == "warning" for line in lines),
        may_pass=gate.is_open and access.member.has_role(Role.LEAD),
        reason=reason,
        error=error,
    )


def show_line(study: Study, line: Line, *, is_admin: bool) -> ShownLine:
    return ShownLine(
        key=line.key,
        title=str(TITLES[line.key]),
        state="stale" if line.is_to_be_computed else line.state,
        findings=[
            show_finding(study, line.key, finding, is_admin=is_admin) for finding in line.findings
        ],
    )


def show_finding(study: Study, key: str, finding: Finding, *, is_admin: bool) -> ShownFinding:
    """With a link to the very form that mends it, where there is one and this person may use it."""
    sentence = say(finding)
    if is_admin and finding.code in FORMS:
        name, fragment, act = FORMS[finding.code]
        return ShownFinding(sentence, _link(study, name) + fragment, str(act))
    url = find_cause(study, key, finding, is_admin=is_admin)
    return ShownFinding(sentence, url, _("Compute") if url == COMPUTE else "")


def find_cause(study: Study, key: str, finding: Finding, *, is_admin: bool) -> str:
    """The address where the cause of a finding is to be seen. Leads cannot open the draft nor
    recheck labels, so the rubric itself is shown to them."""
    values = finding.values
    match finding.code:
        case "splits_open" | "splits_reviewed":
            return _link(study, "results:final-labels", {"class": values["class"]})
        case "hole":
            return _link(study, "results:pairs", {"class": values["class"]})
        case "finals_concerned":
            return _link(study, "results:final-labels", {"recheck": "1"})
        case "labels_outside":
            return _link(study, "recheck:page" if is_admin else "rubric:page")
        case "clauses_asked_for":
            return _link(study, "results:final-labels") + "#clauses"
        case "draft_open":
            return _link(study, "rubric:page")
        case "too_few_rounds":
            return _link(study, "results:rounds")
        case "moved" | "steady" | "undefined":
            return _link(study, "results:overview", {"round": values["to"]})
        case "round_not_measured" | "round_measured_before":
            return _link(study, "results:overview", {"round": values["round"]})
        case "not_measured" | "measured_before" | "not_diagnosed" | "diagnosed_before":
            return COMPUTE
        case "no_target":
            return _link(study, "results:agreement") + "#target"
    name, query = PAGES[key]
    return _link(study, name, query)


PAGES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "queries": ("results:exports", {}),
    "high_risk": ("results:final-labels", {}),
    "ties": ("results:final-labels", {"kind": "tie"}),
    "holes": ("results:splits", {}),
    "rubric": ("rubric:page", {}),
    "stable": ("results:overview", {}),
    "targets": ("results:agreement", {}),
    "dropped": ("results:final-labels", {"dropped": "1"}),
    "exports": ("results:exports", {}),
}


def _link(study: Study, name: str, query: Mapping[str, Any] | None = None) -> str:
    url = reverse(name, args=[study.slug])
    return f"{url}?{urlencode(query)}" if query else url


def show_release_status(study: Study, report: ReleaseReport | None) -> ReleaseStatus:
    job = get_release_job(study)
    return ReleaseStatus(
        state=name_release_state(tell_freshness(study, report), job),
        computed_at=report.computed_at if report else None,
        progress=show_job(study, job) if job else None,
    )


def name_release_state(freshness: Freshness, job: Job | None) -> str:
    if job and job.is_at_work:
        return "computing"
    if freshness == "current":
        return "fresh"
    if job and job.has_failed:
        return "failed"
    return "empty" if freshness == "missing" else "stale"


def show_systems(access: StudyAccess) -> SystemsPage:
    study = access.study
    page = SystemsPage(study, list_tabs(study, Scope(), "results:systems"))
    if hidden_by := open_results(access):
        return replace(page, hidden_by=hidden_by)
    report = get_release_report(study)
    page = replace(page, status=show_release_status(study, report))
    if report is None:
        return page
    systems, counts = report.payload["systems"], report.payload["counts"]
    return replace(
        page,
        k=systems["k"],
        relevant_from=systems["relevant_from"],
        queries=systems["queries"],
        queries_dropped=systems["queries_dropped"],
        dropped=counts["dropped"],
        dropped_share=counts["dropped_share"],
        dropped_level=judge_dropped_share(counts["dropped_share"]),
        pairs_dropped=systems["pairs_dropped"],
        runs=[
            RunRow(row["run"], [Score(**row[measure]) for measure in MEASURES])
            for row in systems["runs"]
        ],
    )


def ask_for_reason() -> str:
    return _("Write the reason: the log and every manifest keep it.")


def say_not_overridden(gate: Gate) -> str:
    if gate.is_open:
        return _("No line of the gate is red any more: nothing was recorded.")
    return _("Compute the checklist first: a reason is for what was found. Nothing was recorded.")

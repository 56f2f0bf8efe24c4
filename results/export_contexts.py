"""What the page of exports shows: the counts before the download, and how old they are."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.core.paginator import Page, Paginator
from django.db.models import Exists, OuterRef
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from annotation.models import Judgment
from results.contexts import Link, list_tabs, show_job
from results.dropped import judge_dropped_share
from results.gate import list_red
from results.gate_wording import TITLES
from results.models import AgreementReport
from results.release_contexts import ReleaseStatus, name_release_state
from results.selectors.export_accounts import get_count_job, name_arguments
from results.selectors.reports import get_report
from results.services.export_accounts import Counted, read_counts
from results.services.exports import KINDS, ExportKind, Manifest
from results.services.exports.decisions import DecidedQuery
from results.services.exports.manifest import POSITIVES_FROM
from results.services.exports.records import count_actions
from results.services.gate import Gate
from results.services.reading import open_results
from results.services.reports import OpenHoles, count_final_changes_since
from results.services.scopes import Scope
from results.services.shortfalls import find_shortfalls
from results.wording import as_count
from studies.access import StudyAccess
from studies.models import Member, Role, Study

WITHHELD_PER_PAGE = 50

ABOUT = {
    "consensus-qrels": gettext_lazy(
        "TREC lines for evaluation: the final label where there is one, else the majority's."
    ),
    "annotator-qrels": gettext_lazy("TREC lines of one annotator's own labels."),
    "training-pairs": gettext_lazy(
        "JSON lines: per query its positives, and its hard negatives in the pool's order."
    ),
    "ground-truth": gettext_lazy("The rows of the consensus qrels as a table with a header."),
    "beir": gettext_lazy("Corpus, queries and qrels as BEIR's loader reads them."),
    "judgments": gettext_lazy("One row for each query, document and annotator, with what decided."),
    "action-log": gettext_lazy("Every action as a JSON line, with active and away time."),
    "agreement-report": gettext_lazy("The numbers of the overview as Markdown, to be kept beside."),
    "study": gettext_lazy("Everything, so that another installation can read it back."),
}
REASONS = {
    "not_planned": gettext_lazy("in no main round"),
    "incomplete": gettext_lazy("outcomes missing"),
    "too_few_votes": gettext_lazy("too few votes"),
    "tie": gettext_lazy("a tie to settle"),
    "not_unanimous": gettext_lazy("votes that differ"),
    "unsure_only": gettext_lazy("nobody was sure"),
    "all_dropped": gettext_lazy("all pairs dropped"),
}
DECIDED = (
    ("unanimous", gettext_lazy("unanimous")),
    ("majority", gettext_lazy("by majority")),
    ("single_vote", gettext_lazy("on a single vote")),
    ("final", gettext_lazy("by a final label")),
    ("dropped", gettext_lazy("dropped")),
)


@dataclass(frozen=True, slots=True)
class Tally:
    """So many exported pairs, decided in one way."""

    name: str
    pairs: int
    share: float | None


@dataclass(frozen=True, slots=True)
class WithheldFor:
    """How many queries are withheld for one reason, and for how many of their pairs it holds."""

    reason: str
    queries: int
    pairs: int


@dataclass(frozen=True, slots=True)
class WithheldQuery:
    """A query that stays; `url` leads to its pairs, where they can be settled. Where its main
    `rounds` are closed, so that what is missing can come no more, `shortfall_url` leads to counting
    it with what is there."""

    query_id: str
    message: str
    url: str
    rounds: Sequence[str] = ()
    shortfall_url: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """What would leave the study and what would stay, with the reasons."""

    annotator: str | None
    queries: int
    queries_exported: int
    pairs: int
    pairs_exported: int
    judgments: int
    unsure: int
    decided: Sequence[Tally]
    reasons: Sequence[WithheldFor]
    withheld: Sequence[WithheldQuery]
    withheld_page: Page[DecidedQuery]
    minimum_votes: int
    is_unanimous: bool
    dropped: int
    dropped_share: float | None
    dropped_level: str

    @property
    def asked(self) -> str:
        """Whose labels these are, as the end of an address."""
        return write_asked(self.annotator)

    @property
    def queries_withheld(self) -> int:
        return self.queries - self.queries_exported


@dataclass(frozen=True, slots=True)
class KindEntry:
    name: str
    title: str
    about: str
    holds: str
    url: str
    manifest_url: str
    needs_annotator: bool
    offers_texts: bool
    is_ready: bool
    is_locked: bool
    note: str = ""


@dataclass(frozen=True, slots=True)
class ExportsPage:
    """Without `account` nothing has been counted yet. `status` tells of the counts of a pool that
    is too large to be counted at each visit, and `is_current` whether they still hold."""

    study: Study
    tabs: Sequence[Link]
    hidden_by: Sequence[str] = ()
    annotator: str = ""
    status: ReleaseStatus | None = None
    is_current: bool = True
    account: Account | None = None
    kinds: Sequence[KindEntry] = ()
    annotators: Sequence[str] = ()
    report_note: str = ""
    holes: OpenHoles | None = None
    gate: Gate | None = None
    red: Sequence[Link] = ()
    may_count_without: bool = False
    error: str = ""


def show_exports(
    access: StudyAccess, annotator: str | None = None, *, page: str | None = None, error: str = ""
) -> ExportsPage:
    """The page of exports, with the account of the consensus or of one annotator's labels, and
    the withheld queries of one `page`.

    Raises ExportRefused for an annotator that the study does not know.
    """
    study = access.study
    tabs = list_tabs(study, Scope(), "results:exports")
    hidden_by = open_results(access)
    if hidden_by:
        return ExportsPage(study=study, tabs=tabs, hidden_by=hidden_by)
    counted = read_counts(study, annotator)
    manifest = counted.manifest
    report = get_report(study, Scope())
    gate = manifest.gate
    return ExportsPage(
        study=study,
        tabs=tabs,
        annotator=annotator or "",
        status=show_status(study, counted),
        is_current=counted.freshness == "current",
        account=None if counted.freshness == "missing" else read_account(study, manifest, page),
        kinds=[
            show_kind(study, kind, counted, is_ready=name != "agreement-report" or bool(report))
            for name, kind in KINDS.items()
        ],
        annotators=list_annotators(study),
        holes=manifest.open_holes,
        gate=gate,
        red=link_red_lines(study, gate) if gate else (),
        may_count_without=access.member.has_role(Role.ADMIN),
        error=error,
        report_note=say_how_old(report, manifest.open_holes) if report else "",
    )


def show_status(study: Study, counted: Counted) -> ReleaseStatus | None:
    if counted.is_of_now:
        return None
    job = get_count_job(study, counted.manifest.annotator)
    return ReleaseStatus(
        state=name_release_state(counted.freshness, job),
        computed_at=counted.computed_at,
        progress=show_job(study, job) if job else None,
    )


def link_red_lines(study: Study, gate: Gate) -> list[Link]:
    url = reverse("results:gate", args=[study.slug])
    return [
        Link(str(TITLES[key]), f"{url}#line-{key}", is_current=False)
        for key in list_red(gate.lines)
    ]


def say_how_old(report: AgreementReport, holes: OpenHoles | None) -> str:
    """`holes` are those of the report, and tell already whether labels have changed."""
    if holes and holes.is_stale:
        return _("Labels or the pool have changed since it was computed.")
    if count_final_changes_since(report):
        return _("Final labels have changed since it was computed; agreement is as it was.")
    return ""


def show_kind(study: Study, kind: ExportKind, counted: Counted, *, is_ready: bool) -> KindEntry:
    manifest = counted.manifest
    return KindEntry(
        name=kind.name,
        title=str(kind.title),
        about=str(ABOUT.get(kind.name, "")),
        holds=say_what_it_holds(study, kind, counted),
        url=reverse("results:export", args=[study.slug, kind.name]),
        manifest_url=reverse("results:manifest", args=[study.slug, kind.name]),
        needs_annotator=kind.needs_annotator,
        offers_texts=kind.offers_texts,
        is_ready=is_ready,
        is_locked=kind.is_release and bool(manifest.gate and manifest.gate.asks_for_reason),
        note=say_what_is_positive(manifest) if kind.name == "training-pairs" else "",
    )


def say_what_is_positive(manifest: Manifest) -> str:
    """Where a positive of the training pairs is not what the rubric calls relevant."""
    relevant = manifest.relevant_from
    if relevant is None or relevant == POSITIVES_FROM:
        return ""
    return _(
        "Positives are pairs of grade %(positive)d or more; the rubric calls a document relevant "
        "only from %(relevant)d."
    ) % {"positive": POSITIVES_FROM, "relevant": relevant}


def say_what_it_holds(study: Study, kind: ExportKind, counted: Counted) -> str:
    """How much a kind would hold now; nothing where that is known only once it is made, or once it
    is counted anew."""
    manifest = counted.manifest
    is_known = counted.freshness == "current" and manifest.annotator is None
    if kind.name in {"consensus-qrels", "ground-truth"} and is_known:
        return count_lines(manifest.counts["pairs_exported"])
    if kind.name in {"training-pairs", "beir"} and is_known:
        number = manifest.counts["queries_exported"]
        return ngettext("%(count)s query", "%(count)s queries", number) % {
            "count": as_count(number)
        }
    if kind.name == "judgments" and counted.recorded is not None:
        return count_lines(counted.recorded)
    if kind.name == "action-log":
        return count_lines(count_actions(study))
    return ""


def count_lines(number: int) -> str:
    return ngettext("%(count)s line", "%(count)s lines", number) % {"count": as_count(number)}


def read_account(study: Study, manifest: Manifest, page: str | None) -> Account:
    counts = manifest.counts
    exported = counts["pairs_exported"]
    withheld = Paginator(manifest.withheld, WITHHELD_PER_PAGE).get_page(page)
    return Account(
        annotator=manifest.annotator,
        queries=counts["queries"],
        queries_exported=counts["queries_exported"],
        pairs=counts["pairs"],
        pairs_exported=exported,
        judgments=counts["judgments"],
        unsure=counts["unsure"],
        decided=[
            Tally(str(name), counts[key], share_of(counts[key], exported, key))
            for key, name in DECIDED
            if key in counts
        ],
        reasons=count_reasons(manifest),
        withheld=list_withheld(study, manifest, withheld),
        withheld_page=withheld,
        minimum_votes=manifest.minimum_votes,
        is_unanimous=manifest.policy == "unanimous",
        dropped=counts["dropped"],
        dropped_share=manifest.dropped_share,
        dropped_level=judge_dropped_share(manifest.dropped_share),
    )


def list_withheld(
    study: Study, manifest: Manifest, queries: Iterable[DecidedQuery]
) -> list[WithheldQuery]:
    """The queries with their reasons; one annotator's own labels have no plan to fall short of."""
    found = list(queries)
    incomplete = [
        query.query_id
        for query in found
        if any(reason.code == "incomplete" for reason in query.reasons)
    ]
    short = find_shortfalls(study, incomplete) if manifest.annotator is None else {}
    return [
        WithheldQuery(
            query.query_id,
            query.message,
            link_to_pairs(study, query.query_id),
            short[query.query_id].rounds if query.query_id in short else (),
            link_to_shortfall(study, query.query_id) if query.query_id in short else "",
        )
        for query in found
    ]


def write_asked(annotator: str | None) -> str:
    """The end of the address of the page about one annotator's labels, "" about the consensus."""
    return f"?{urlencode(name_arguments(annotator))}" if annotator else ""


def link_to_shortfall(study: Study, query_id: str) -> str:
    url = reverse("results:shortfall", args=[study.slug])
    return f"{url}?{urlencode({'query': query_id})}"


def link_to_pairs(study: Study, query_id: str) -> str:
    url = reverse("results:final-labels", args=[study.slug])
    return f"{url}?{urlencode({'query': query_id})}"


def share_of(pairs: int, exported: int, key: str) -> float | None:
    """A dropped pair is none of those exported, so it has no share of them."""
    return pairs / exported if exported and key != "dropped" else None


def count_reasons(manifest: Manifest) -> list[WithheldFor]:
    """The reasons for which queries are withheld, the most frequent first."""
    queries: Counter[str] = Counter()
    pairs: Counter[str] = Counter()
    for query in manifest.withheld:
        for reason in query.reasons:
            queries[reason.code] += 1
            pairs[reason.code] += reason.pairs
    return [
        WithheldFor(str(REASONS.get(code, code)), number, pairs[code])
        for code, number in queries.most_common()
    ]


def list_annotators(study: Study) -> list[str]:
    labels = Judgment.objects.filter(annotator=OuterRef("pk"))
    return list(
        Member.objects.filter(Exists(labels), study=study)
        .order_by("name")
        .values_list("name", flat=True)
    )

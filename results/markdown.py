"""A report as Markdown that can be committed beside a data set.

Plain English whatever the language of the person who asks: the file is read by others. Names
are escaped, so that an annotator called `a|b` does not break a table.
"""

from collections.abc import Iterable, Iterator, Sequence

from django.utils import translation

from results.figure_parts import AlphaEntry, Figures, KappaEntry
from results.figures import Payload, read_figures
from results.findings import Diagnosis
from results.markdown_blocks import Cell, escape, section, table
from results.wording import (
    as_count,
    as_duration,
    as_interval,
    as_ratio,
    as_share,
    as_share_interval,
)


def render_payload(payload: Payload) -> str:
    """The whole report of one scope, ending in a line end."""
    with translation.override("en"):
        figures = read_figures(payload)
        blocks = [
            *_introduce(payload, figures),
            *section("Self-agreement", _self_rows(payload), _SELF, "lrrrrll"),
            *_describe(figures),
        ]
    return "\n\n".join(blocks) + "\n"


def _introduce(payload: Payload, figures: Figures) -> Iterator[str]:
    yield f"# Agreement: {escape(payload['title'])}"
    yield escape(" ".join([figures.diagnosis.headline, figures.sentence]))
    rounds = ", ".join(map(escape, figures.rounds)) or "none"
    version = "none" if figures.rubric_version is None else str(figures.rubric_version)
    yield (
        f"Study `{payload['study']}`, labels: {escape(payload['scope'])}, rounds: {rounds}, "
        f"rubric version {version}. Computed {payload['computed_at']} from "
        f"{as_count(figures.judgments)} judgments, {as_count(figures.unsure)} of them unsure."
    )


def _self_rows(payload: Payload) -> Iterator[Sequence[Cell]]:
    """Each annotator of a relabel round against their own earlier labels."""
    for row in payload["self_agreement"]:
        bounds = row["interval95"]
        yield (
            escape(row["name"]),
            as_count(row["pairs"]),
            as_share(row["observed"]),
            as_share(row["expected"]),
            as_ratio(row["kappa"]),
            as_interval((bounds[0], bounds[1]) if bounds else None),
            row["band"] or row["reason"],
        )


def _describe(figures: Figures) -> Iterator[str]:
    yield from _tell_verdicts(figures.diagnosis)
    yield from section("What was judged", _size_rows(figures), ["", "n"], "lr")
    if figures.beside:
        yield "\n".join(f"- {escape(sentence)}" for sentence in figures.beside)
    yield from section("Labels", _label_rows(figures), ["grade", "name", "n", "share"], "llrr")
    yield from section("Agreement of all", _overall_rows(figures), _OVERALL, "lrlrl")
    yield from section("Two annotators", map(_kappa_row, figures.kappas), _KAPPA, "llrrrrlrrl")
    yield from _describe_confusions(figures.kappas)
    yield from section(
        "People and machines", map(_kappa_row, figures.machine_kappas), _KAPPA, "llrrrrlrrl"
    )
    yield from section("Classes against the rest", _class_rows(figures), _CLASS, "lrrrlrrr")
    yield from section("What decided", _dimension_rows(figures), _DIMENSION, "lrrr")
    if figures.citations:
        yield escape(figures.citations)
    yield from section("Annotators", _annotator_rows(figures), _ANNOTATOR, "llrrrrl")
    yield _HOW_TO_READ


def _tell_verdicts(diagnosis: Diagnosis) -> Iterator[str]:
    """A paragraph for each class, and one for each lenient annotator."""
    if diagnosis.findings or diagnosis.remarks:
        yield "## Verdicts"
    for found in diagnosis.findings:
        told = escape(" ".join([*found.evidence, *found.advice]))
        yield f"**{escape(found.name)}: {found.tag}.** {told}"
    yield from map(escape, diagnosis.remarks)


_OVERALL = ["measure", "value", "95% interval", "n", "reading"]
_KAPPA = [
    "a",
    "b",
    "pairs",
    "observed",
    "by chance",
    "κ",
    "95% interval",
    "κ linear",
    "κ quadratic",
    "reading",
]
_SELF = ["annotator", "pairs", "observed", "by chance", "κ", "95% interval", "reading"]
_CLASS = ["class", "pairs", "splits", "rate", "95% interval", "rest: pairs", "splits", "rate"]
_DIMENSION = ["dimension", "citations", "splits that cite it", "share of splits"]
_ANNOTATOR = ["annotator", "", "judgments", "unsure", "not blind", "active time", "labels"]

_HOW_TO_READ = """\
## How to read this

Unsure and missing labels enter no table. κ: Cohen (1960), on the pairs both labelled; bands of
Landis and Koch (1977). α: Krippendorff (2011), on the pairs labelled at least twice; bands of
Krippendorff (2004): reliable from 0.800, tentative conclusions only from 0.667. AC1: Gwet
(2008). Intervals of κ and α: bootstrap over queries with a fixed seed; of rates: Wilson (1927).
A measure that is undefined is left blank (–) and has its reason beside it. Verdicts: whole queries
are compared, so that pairs of one query count as one finding; hole, slips, noise and too little
data exclude each other."""


def _size_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    yield "queries", as_count(figures.queries)
    yield "queries fully judged", as_count(figures.queries_fully_judged)
    yield "pairs", as_count(figures.pairs)
    yield "pairs labelled at least twice", as_count(figures.pairs_labelled_twice)
    yield "splits", as_count(figures.splits)
    yield "judgments", as_count(figures.judgments)
    yield "unsure", as_count(figures.unsure)
    yield "active time", as_duration(figures.active_seconds)
    yield "judgments whose active time is known", as_count(figures.timed)
    if figures.final:
        yield "pairs with a final grade", as_count(figures.final.graded)
        dropped = f"{as_count(figures.final.dropped)} ({as_share(figures.final.share)} of the pool)"
        warning = {"warning": ", more than a few", "alarm": ", too many to trust a score"}
        yield "pairs dropped", dropped + warning.get(figures.final.level, "")


def _label_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    for label in figures.labels:
        yield label.grade, escape(label.name), as_count(label.count), as_share(label.share)


def _overall_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    yield (
        "raw agreement",
        as_share(figures.raw_agreement),
        "",
        f"{as_count(figures.comparisons)} comparisons",
        figures.raw_reason,
    )
    for alpha in figures.alphas:
        yield _alpha_row(alpha)
    pairs = f"{as_count(figures.pairs_labelled_twice)} pairs"
    interval = as_interval(figures.ac1_interval)
    yield "Gwet's AC1", as_ratio(figures.ac1), interval, pairs, figures.ac1_reason


def _alpha_row(alpha: AlphaEntry) -> Sequence[Cell]:
    return (
        f"Krippendorff's α, {alpha.level}",
        as_ratio(alpha.value),
        as_interval(alpha.interval) if alpha.interval else alpha.interval_reason,
        f"{as_count(alpha.pairs)} pairs",
        alpha.band or alpha.reason,
    )


def _kappa_row(entry: KappaEntry) -> Sequence[Cell]:
    return (
        escape(entry.a),
        escape(entry.b),
        as_count(entry.pairs),
        as_share(entry.observed),
        as_share(entry.expected),
        as_ratio(entry.value),
        as_interval(entry.interval) if entry.interval else entry.interval_reason,
        as_ratio(entry.linear),
        as_ratio(entry.quadratic),
        entry.band or entry.reason,
    )


def _describe_confusions(kappas: Iterable[KappaEntry]) -> Iterator[str]:
    for entry in kappas:
        if entry.pairs:
            head = [f"{escape(entry.a)} ↓ {escape(entry.b)} →", *entry.grades]
            rows = [
                [row.grade, *(as_count(cell.count) for cell in row.cells)] for row in entry.heat
            ]
            yield table(head, rows, "l" + "r" * len(entry.grades))


def _class_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    for row in figures.classes:
        yield (
            escape(row.name),
            as_count(row.pairs),
            as_count(row.splits),
            as_share(row.rate),
            as_share_interval(row.interval),
            as_count(row.rest_pairs),
            as_count(row.rest_splits),
            as_share(row.rest_rate),
        )


def _dimension_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    for row in figures.dimensions:
        yield (
            escape(row.name),
            as_count(row.citations),
            as_count(row.splits),
            as_share(row.share_of_splits),
        )


def _annotator_rows(figures: Figures) -> Iterator[Sequence[Cell]]:
    for row in figures.annotators:
        labels = ", ".join(f"{label.grade}: {as_count(label.count)}" for label in row.labels)
        yield (
            escape(row.name),
            "machine" if row.is_machine else "",
            as_count(row.judgments),
            as_count(row.unsure),
            as_count(row.not_blind),
            as_duration(row.active_seconds),
            labels,
        )

"""What the pages show of a stored report: its payload as small objects, ready for a template."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

from django.utils.translation import gettext as _

from results import wording
from results.diagnosis_wording import TAGS
from results.dropped import judge_dropped_share
from results.findings import Diagnosis, read_diagnosis

Payload = Mapping[str, Any]
Bounds = tuple[float, float] | None

HEAT_LEVELS = 9


@dataclass(frozen=True, slots=True)
class Mark:
    """A value with its interval on an axis of 100 units, as attributes of an SVG."""

    value: str
    low: str
    width: str


@dataclass(frozen=True, slots=True)
class LabelShare:
    grade: str
    name: str
    count: int
    share: float | None


@dataclass(frozen=True, slots=True)
class HeatCell:
    """A cell of a confusion matrix; `level` is its tint, 0 for none to 9."""

    count: int
    level: int
    agrees: bool


@dataclass(frozen=True, slots=True)
class HeatRow:
    grade: str
    cells: Sequence[HeatCell]


@dataclass(frozen=True, slots=True)
class KappaEntry:
    """Two annotators on the pairs both labelled; `value` None goes with a `reason`."""

    a: str
    b: str
    pairs: int
    observed: float | None
    expected: float | None
    value: float | None
    linear: float | None
    quadratic: float | None
    interval: Bounds
    interval_reason: str
    band: str
    reason: str
    grades: Sequence[str]
    heat: Sequence[HeatRow]
    mark: Mark | None


@dataclass(frozen=True, slots=True)
class AlphaEntry:
    level: str
    value: float | None
    interval: Bounds
    interval_reason: str
    pairs: int
    band: str
    reason: str

    @property
    def is_reliable(self) -> bool:
        return self.value is not None and self.value >= wording.RELIABLE


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A query class against the rest; the marks share one axis, from 0 to the page's `axis`."""

    name: str
    pairs: int
    splits: int
    rate: float | None
    interval: Bounds
    rest_pairs: int
    rest_splits: int
    rest_rate: float | None
    rest_interval: Bounds
    fisher_p: float | None
    mark: Mark | None
    rest_mark: Mark | None
    verdict: str
    tag: str


@dataclass(frozen=True, slots=True)
class DimensionEntry:
    name: str
    citations: int
    splits: int
    share_of_splits: float | None


@dataclass(frozen=True, slots=True)
class DirectionEntry:
    a: str
    b: str
    query_class: str
    pairs: int
    a_higher: int
    b_higher: int


@dataclass(frozen=True, slots=True)
class AnnotatorEntry:
    name: str
    is_machine: bool
    judgments: int
    unsure: int
    active_seconds: float | None
    timed: int
    labels: Sequence[LabelShare]


@dataclass(frozen=True, slots=True)
class FinalCounts:
    """Final labels of the study: `share` is that of the dropped pairs in the pool, `level` says
    whether it is to be warned of."""

    graded: int
    dropped: int
    share: float | None
    level: str


@dataclass(frozen=True, slots=True)
class Figures:
    """A whole report. `axis` is the upper end of the axis of split rates, a share."""

    diagnosis: Diagnosis
    sentence: str
    beside: Sequence[str]
    queries: int
    queries_fully_judged: int
    pairs: int
    pairs_labelled: int
    pairs_labelled_twice: int
    judgments: int
    unsure: int
    splits: int
    active_seconds: float | None
    timed: int
    raw_agreement: float | None
    comparisons: int
    raw_reason: str
    ac1: float | None
    ac1_reason: str
    labels: Sequence[LabelShare]
    alphas: Sequence[AlphaEntry]
    kappas: Sequence[KappaEntry]
    machine_kappas: Sequence[KappaEntry]
    classes: Sequence[ClassEntry]
    axis: float
    dimensions: Sequence[DimensionEntry]
    citations: str
    directions: Sequence[DirectionEntry]
    annotators: Sequence[AnnotatorEntry]
    rounds: Sequence[str]
    rubric_version: int | None
    final: FinalCounts | None = None

    @property
    def alpha(self) -> AlphaEntry:
        return self.alphas[0]

    @property
    def split_rate(self) -> float | None:
        return self.splits / self.pairs_labelled_twice if self.pairs_labelled_twice else None

    @property
    def shared_kappas(self) -> Sequence[KappaEntry]:
        """Those who share a pair, the least agreeing first."""
        shared = [entry for entry in self.kappas if entry.pairs]
        return sorted(shared, key=lambda entry: (entry.value is None, entry.value or 0.0))

    @property
    def is_empty(self) -> bool:
        return not self.judgments


def read_figures(payload: Payload) -> Figures:
    names = {str(grade["value"]): grade["name"] for grade in payload["grades"]}
    axis = _find_axis(payload["classes"])
    splits = payload["splits"]
    return Figures(
        diagnosis=read_diagnosis(payload),
        sentence=wording.say_where_it_splits(payload),
        beside=wording.say_what_stands_beside(payload),
        queries=payload["queries"],
        queries_fully_judged=payload["queries_fully_judged"],
        pairs=payload["pairs"],
        pairs_labelled=payload["pairs_labelled"],
        pairs_labelled_twice=payload["pairs_labelled_twice"],
        judgments=payload["judgments"],
        unsure=payload["unsure"],
        splits=splits,
        active_seconds=payload["active_seconds"],
        timed=payload["timed"],
        raw_agreement=payload["raw_agreement"]["value"],
        comparisons=payload["raw_agreement"]["comparisons"],
        raw_reason=wording.as_words(payload["raw_agreement"].get("reason")),
        ac1=payload["gwet_ac1"]["value"],
        ac1_reason=wording.as_words(payload["gwet_ac1"].get("reason")),
        labels=_read_shares(payload["labels"], names),
        alphas=[
            _read_alpha(level, entry) for level, entry in payload["krippendorff_alpha"].items()
        ],
        kappas=[_read_kappa(entry, list(names)) for entry in payload["cohen_kappa"]],
        machine_kappas=[_read_kappa(entry, list(names)) for entry in payload["machine_kappa"]],
        classes=[_read_class(row, axis) for row in payload["classes"]],
        axis=axis,
        dimensions=[_read_dimension(row, splits) for row in payload["dimensions"]],
        citations=wording.say_citations(payload),
        directions=[_read_direction(row) for row in payload["directions"]],
        annotators=[_read_annotator(row, names) for row in payload["annotators"]],
        rounds=payload["rounds"],
        rubric_version=payload["rubric_version"],
        final=_read_final(payload.get("final_labels")),
    )


def _read_final(counts: Payload | None) -> FinalCounts | None:
    """None for a scope that final labels do not belong to, or numbers that know of none yet."""
    if counts is None:
        return None
    share = counts["dropped_share"]
    return FinalCounts(counts["graded"], counts["dropped"], share, judge_dropped_share(share))


def _read_shares(labels: Mapping[str, int], names: Mapping[str, str]) -> list[LabelShare]:
    total = sum(labels.values())
    return [
        LabelShare(grade, names.get(grade, ""), count, count / total if total else None)
        for grade, count in labels.items()
    ]


def _read_alpha(level: str, entry: Payload) -> AlphaEntry:
    return AlphaEntry(
        level=_(level),
        value=entry["value"],
        interval=_read_bounds(entry["interval95"]),
        interval_reason=wording.as_words(entry.get("interval95_reason")),
        pairs=entry["pairs"],
        band=wording.as_words(entry["band"]),
        reason=wording.as_words(entry.get("reason")),
    )


def _read_kappa(entry: Payload, grades: Sequence[str]) -> KappaEntry:
    interval = _read_bounds(entry["interval95"])
    return KappaEntry(
        a=entry["a"],
        b=entry["b"],
        pairs=entry["pairs"],
        observed=entry["observed"],
        expected=entry["expected"],
        value=entry["nominal"],
        linear=entry["linear"],
        quadratic=entry["quadratic"],
        interval=interval,
        interval_reason=wording.as_words(entry.get("interval95_reason")),
        band=wording.as_words(entry["band"]),
        reason=wording.as_words(entry.get("reason")),
        grades=grades,
        heat=_read_heat(entry["confusion"], grades),
        mark=_place(entry["nominal"], interval, 1.0),
    )


def _read_heat(confusion: Sequence[Sequence[int]], grades: Sequence[str]) -> list[HeatRow]:
    most = max((count for row in confusion for count in row), default=0)
    return [
        HeatRow(
            grade=grade,
            cells=[
                HeatCell(count, tint(count, most), agrees=column == place)
                for column, count in enumerate(row)
            ],
        )
        for place, (grade, row) in enumerate(zip(grades, confusion, strict=True))
    ]


def tint(count: int, most: int) -> int:
    """By the root of the share, so that a few splits beside many agreements can still be seen."""
    return ceil(HEAT_LEVELS * sqrt(count / most)) if count else 0


def _read_class(row: Payload, axis: float) -> ClassEntry:
    interval, rest_interval = _read_bounds(row["interval95"]), _read_bounds(row["rest_interval95"])
    return ClassEntry(
        name=_("without a class") if row["class"] is None else row["class"],
        pairs=row["pairs"],
        splits=row["splits"],
        rate=row["rate"],
        interval=interval,
        rest_pairs=row["rest_pairs"],
        rest_splits=row["rest_splits"],
        rest_rate=row["rest_rate"],
        rest_interval=rest_interval,
        fisher_p=row["fisher_p"],
        mark=_place(row["rate"], interval, axis),
        rest_mark=_place(row["rest_rate"], rest_interval, axis),
        verdict=row.get("verdict", ""),
        tag=wording.as_words(TAGS.get(row.get("verdict", ""))),
    )


def _find_axis(classes: Sequence[Payload]) -> float:
    """The end of the common axis: the next tenth above every interval."""
    ends = [row[key][1] for row in classes for key in ("interval95", "rest_interval95") if row[key]]
    return min(max(ceil(10 * max(ends, default=0.1)) / 10, 0.1), 1.0)


def _read_dimension(row: Payload, splits: int) -> DimensionEntry:
    share = row["splits"] / splits if splits else None
    return DimensionEntry(row["dimension"], row["citations"], row["splits"], share)


def _read_direction(row: Payload) -> DirectionEntry:
    name = _("without a class") if row["class"] is None else row["class"]
    return DirectionEntry(row["a"], row["b"], name, row["pairs"], row["a_higher"], row["b_higher"])


def _read_annotator(row: Payload, names: Mapping[str, str]) -> AnnotatorEntry:
    return AnnotatorEntry(
        name=row["name"],
        is_machine=row["machine"],
        judgments=row["judgments"],
        unsure=row["unsure"],
        active_seconds=row["active_seconds"],
        timed=row["timed"],
        labels=_read_shares(row["labels"], names),
    )


def _read_bounds(interval: Sequence[float] | None) -> Bounds:
    return None if interval is None else (interval[0], interval[1])


def _place(value: float | None, interval: Bounds, axis: float) -> Mark | None:
    """Where a value stands on the axis from 0; what lies below 0 stands at its end."""
    if value is None:
        return None
    low, high = interval or (value, value)
    start, end = (min(max(100 * bound / axis, 0.0), 100.0) for bound in (low, high))
    place = min(max(100 * value / axis, 0.0), 100.0)
    return Mark(value=f"{place:.2f}", low=f"{start:.2f}", width=f"{end - start:.2f}")

"""What the pages show of a stored report: its payload as small objects, ready for a template."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import ceil
from typing import Any

from django.utils.translation import gettext as _

from results import wording
from results.asked_labels import AskedLabel
from results.diagnosis_wording import TAGS
from results.dropped import judge_dropped_share
from results.figure_parts import (
    AlphaEntry,
    AnnotatorEntry,
    Bounds,
    ClassEntry,
    DimensionEntry,
    DirectionEntry,
    Figures,
    FinalCounts,
    KappaEntry,
    LabelShare,
    MainCause,
    Mark,
    ReadingCounts,
    TargetOutcome,
    ThirdVote,
)
from results.findings import read_diagnosis
from results.models import Cause

Payload = Mapping[str, Any]

# Queries to discuss that a page names; the table of the target names them all.
SHOWN_QUERIES = 10


def read_figures(payload: Payload) -> Figures:
    names = {str(grade["value"]): grade["name"] for grade in payload["grades"]}
    axis = find_axis(payload["classes"], "interval95", "rest_interval95")
    splits = payload["splits"]
    return Figures(
        diagnosis=read_diagnosis(payload),
        sentence=wording.say_where_it_splits(payload),
        beside=wording.say_what_stands_beside(payload),
        not_blind=wording.say_not_blind(payload["not_blind"]),
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
        ac1_interval=_read_bounds(payload["gwet_ac1"]["interval95"]),
        ac1_interval_reason=wording.as_words(payload["gwet_ac1"].get("interval95_reason")),
        labels=_read_shares(payload["labels"], names, AskedLabel()),
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
        target=_read_target(payload["targets"]),
        third_votes=[_read_third_vote(row) for row in payload["third_vote"]],
        is_over_time=len(payload["over_time"]) > 1,
        seconds_per_pair=payload["time"]["median_of_pairs"],
        timed_pairs=payload["time"]["pairs"],
        main_cause=_find_main_cause(payload.get("final_labels")),
    )


def _find_main_cause(counts: Payload | None) -> MainCause | None:
    """The cause to mend first: slips of a person are none that a change of anything mends."""
    causes: Mapping[str, int] = (counts or {}).get("causes", {})
    systematic = {name: count for name, count in causes.items() if name != Cause.SLIP and count}
    if not systematic:
        return None
    name = max(systematic, key=lambda name: systematic[name])
    return MainCause(str(Cause(name).label), systematic[name], sum(causes.values()))


def _read_target(targets: Sequence[Payload]) -> TargetOutcome | None:
    for row in targets:
        outcomes = [pair["outcome"] for pair in row["pairs"]]
        return TargetOutcome(
            weights=row["weights"],
            at_least=row["at_least"],
            met=row["met"],
            failing=outcomes.count("fail"),
            judged=len(outcomes) - outcomes.count("undefined"),
            undefined=outcomes.count("undefined"),
            queries=row["queries"][:SHOWN_QUERIES],
        )
    return None


def _read_third_vote(row: Payload) -> ThirdVote:
    grades = sorted({*row["lower"], *row["higher"]}, key=int)
    return ThirdVote(
        name=row["class"],
        queries=row["queries"],
        pairs=row["pairs"],
        splits=row["splits"],
        settled=row["settled"],
        dropped=row["dropped"],
        dropped_share=row["dropped_share"],
        dropped_level=judge_dropped_share(row["dropped_share"]),
        labels=[
            ReadingCounts(grade, row["lower"].get(grade, 0), row["higher"].get(grade, 0))
            for grade in grades
        ],
    )


def _read_final(counts: Payload | None) -> FinalCounts | None:
    """None for a scope that final labels do not belong to, or numbers that know of none yet."""
    if counts is None:
        return None
    share = counts["dropped_share"]
    return FinalCounts(counts["graded"], counts["dropped"], share, judge_dropped_share(share))


def _read_shares(
    labels: Mapping[str, int], names: Mapping[str, str], asked: AskedLabel | None
) -> list[LabelShare]:
    """`asked` says whose labels they are; None for a machine's, whose pairs are not shown."""
    total = sum(labels.values())
    return [
        LabelShare(
            grade,
            names.get(grade, ""),
            count,
            count / total if total else None,
            replace(asked, grade=int(grade)).link if asked and count else (),
        )
        for grade, count in labels.items()
    ]


def _read_alpha(level: str, entry: Payload) -> AlphaEntry:
    return AlphaEntry(
        level=str(wording.LEVELS[level]),
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
        linear_interval=_read_bounds(entry["linear_interval95"]),
        quadratic_interval=_read_bounds(entry["quadratic_interval95"]),
        interval_reason=wording.as_words(entry.get("interval95_reason")),
        band=wording.as_words(entry["band"]),
        reason=wording.as_words(entry.get("reason")),
        grades=grades,
        confusion=entry["confusion"],
        mark=place_mark(entry["nominal"], interval, 1.0),
    )


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
        mark=place_mark(row["rate"], interval, axis),
        rest_mark=place_mark(row["rest_rate"], rest_interval, axis),
        verdict=row.get("verdict", ""),
        tag=wording.as_words(TAGS.get(row.get("verdict", ""))),
        link=() if row["class"] is None else (("class", row["class"]),),
    )


def find_axis(rows: Sequence[Payload], *keys: str) -> float:
    """The end of the common axis: the next tenth above every interval that these keys hold."""
    ends = [row[key][1] for row in rows for key in keys if row[key]]
    return min(max(ceil(10 * max(ends, default=0.1)) / 10, 0.1), 1.0)


def _read_dimension(row: Payload, splits: int) -> DimensionEntry:
    share = row["splits"] / splits if splits else None
    return DimensionEntry(row["dimension"], row["citations"], row["splits"], share)


def _read_direction(row: Payload) -> DirectionEntry:
    name = _("without a class") if row["class"] is None else row["class"]
    between = (("annotator", row["a"]), ("annotator", row["b"]))
    return DirectionEntry(
        a=row["a"],
        b=row["b"],
        query_class=name,
        pairs=row["pairs"],
        a_higher=row["a_higher"],
        b_higher=row["b_higher"],
        link=between if row["class"] is None else (("class", row["class"]), *between),
    )


def _read_annotator(row: Payload, names: Mapping[str, str]) -> AnnotatorEntry:
    asked = None if row["machine"] else AskedLabel(row["name"])
    return AnnotatorEntry(
        name=row["name"],
        is_machine=row["machine"],
        judgments=row["judgments"],
        unsure=row["unsure"],
        active_seconds=row["active_seconds"],
        timed=row["timed"],
        not_blind=row["not_blind"],
        labels=_read_shares(row["labels"], names, asked),
    )


def _read_bounds(interval: Sequence[float] | None) -> Bounds:
    return None if interval is None else (interval[0], interval[1])


def place_mark(value: float | None, interval: Bounds, axis: float) -> Mark | None:
    """Where a value stands on the axis from 0; what lies below 0 stands at its end."""
    if value is None:
        return None
    low, high = interval or (value, value)
    start, end = (min(max(100 * bound / axis, 0.0), 100.0) for bound in (low, high))
    place = min(max(100 * value / axis, 0.0), 100.0)
    return Mark(value=f"{place:.2f}", low=f"{start:.2f}", width=f"{end - start:.2f}")

"""The account of a rubric revision as Markdown that can be committed beside a data set.

Plain English whatever the language of the person who asks.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils import translation

from results.dropped import MEASURES, read_bounds
from results.markdown_blocks import Cell, escape, section
from results.revision_wording import name_side
from results.wording import as_count, as_interval, as_ratio, as_share

Account = Mapping[str, Any]

_HOW_TO_READ = """\
## How to read this

The same pairs stand on both sides: those with labels under both versions (labels carried forward
count under both), or in both rounds. Agreement is over the pairs labelled at least twice on both
sides. κ: Cohen (1960); of more than two annotators pooled (De Vries et al. 2008). Chance agreement
that moves by more than 0.05 says that the label mix shifted. Transitions count pairs by their
consensus. recall@k is the share of queries with a relevant document in the first k. A query can
lose its hit only where a pair of it lost “relevant”, so lost hits are bounded by such pairs.
Runs with dropped pairs: over the queries that both sides decide, those dropped whole among them,
each measure with the dropped pairs at the grades that are worst, and that are best, for the run."""


def render_account(account: Account) -> str:
    """The whole account, ending in a line end."""
    with translation.override("en"):
        return "\n\n".join(_blocks(account)) + "\n"


def _blocks(account: Account) -> Iterator[str]:
    sides = [escape(name_side(account[side])) for side in ("before", "after")]
    yield f"# Revision: {escape(account['title'])}, {' → '.join(sides)}"
    yield (
        f"{as_count(account['pairs_compared'])} pairs have labels on both sides; "
        f"{as_count(account['pairs_only_before'])} only before ({sides[0]}), "
        f"{as_count(account['pairs_only_after'])} only after ({sides[1]}). "
        f"{as_count(account['after']['carried'])} labels were carried forward."
    )
    if account["warnings"]:
        yield "\n".join(f"- **{escape(sentence)}**" for sentence in account["warnings"])
    yield from section("Agreement", _agreement_rows(account), ["", *sides], "lrr")
    yield from section("Splits by class", _class_rows(account), _CLASS, "lrrrrrr")
    yield from section("Where pairs went", _move_rows(account, "transitions"), _MOVE, "llr")
    labels = _move_rows(account, "label_transitions")
    yield from section("Where single labels went", labels, _MOVE, "llr")
    yield from section("Relevant before, not after", _lost_rows(account), ["now", "n"], "lr")
    yield from section("Runs", _run_rows(account), _list_run_head(account), "lrrrrrrrr")
    yield from section("Runs with dropped pairs", _bound_rows(account), _BOUND, "llrr")
    yield _say_what_runs_lack(account, sides)
    yield _HOW_TO_READ


_CLASS = [
    "class",
    *(f"{name} {side}" for side in ("before", "after") for name in ("pairs", "splits", "rate")),
]
_MOVE = ["before", "after", "n"]
_BOUND = ["run", "measure", "before", "after"]


def _agreement_rows(account: Account) -> Iterator[Sequence[Cell]]:
    sides = account["before"], account["after"]
    yield "pairs labelled at least twice", *(as_count(side["pairs"]) for side in sides)
    yield "comparisons", *(as_count(side["comparisons"]) for side in sides)
    yield "raw agreement", *(as_ratio(side["observed"]) for side in sides)
    yield "κ", *(as_ratio(side["kappa"]) for side in sides)
    yield "chance agreement", *(as_ratio(side["expected"]) for side in sides)
    yield "splits", *(as_count(side["splits"]) for side in sides)


def _class_rows(account: Account) -> Iterator[Sequence[Cell]]:
    after = {row["class"]: row for row in account["after"]["classes"]}
    for row in account["before"]["classes"]:
        now = after.get(row["class"])
        yield escape(row["class"] or "no class"), *_split_cells(row, now, "")
        yield "— the rest", *_split_cells(row, now, "rest_")


def _split_cells(
    before: Mapping[str, Any], after: Mapping[str, Any] | None, part: str
) -> Iterator[str]:
    for row in (before, after):
        if row is None:
            yield from ("–", "–", "–")
        else:
            yield as_count(row[f"{part}pairs"])
            yield as_count(row[f"{part}splits"])
            yield as_share(row[f"{part}rate"])


def _move_rows(account: Account, kind: str) -> Iterator[Sequence[Cell]]:
    for before, after, count in account[kind]:
        yield (
            _name(account["before"], before),
            _name(account["after"], after),
            as_count(count),
        )


def _lost_rows(account: Account) -> Iterator[Sequence[Cell]]:
    lost = account["lost_relevant"]
    for grade, count in lost["to"]:
        yield _name(account["after"], grade), as_count(count)
    for reason, count in lost["without_label"].items():
        yield reason, as_count(count)


def _name_measures(account: Account) -> Sequence[str]:
    return f"recall@{account['k']}", f"nDCG@{account['k']}", "MRR"


def _list_run_head(account: Account) -> list[str]:
    measures = _name_measures(account)
    moves = [f"{name} {side}" for name in measures for side in ("before", "after")]
    return ["run", *moves, "hits lost", "at most"]


def _say_what_runs_lack(account: Account, sides: Sequence[str]) -> str:
    found = account["before"], account["after"]
    dropped = ", ".join(
        f"{as_count(side['dropped'])} pairs ({as_share(side['dropped_share'])} of those decided) "
        f"with {name}"
        for side, name in zip(found, sides, strict=True)
    )
    return (
        f"Dropped: {dropped}. {as_count(account['queries_scored'])} queries are scored on both "
        f"sides; {as_count(account['queries_only_before'])} only before, "
        f"{as_count(account['queries_only_after'])} only after."
    )


def _bound_rows(account: Account) -> Iterator[Sequence[Cell]]:
    """Each measure with the dropped pairs at their worst and best; nothing where none is."""
    sides = account["before"]["runs"], account["after"]["runs"]
    for before, after in zip(*sides, strict=True):
        for measure, name in zip(MEASURES, _name_measures(account), strict=True):
            bounds = read_bounds(before, measure), read_bounds(after, measure)
            if any(bounds):
                yield escape(before["run"]), name, *map(as_interval, bounds)


def _run_rows(account: Account) -> Iterator[Sequence[Cell]]:
    for run in account["runs"]:
        values = (
            as_ratio(run[measure][side]) for measure in MEASURES for side in ("before", "after")
        )
        bound = as_count(run["bound"]) if account["bound_checked"] else "–"
        yield escape(run["run"]), *values, as_count(run["queries_lost"]), bound


def _name(side: Mapping[str, Any], grade: int) -> str:
    names = {one["value"]: one["name"] for one in side["grades"]}
    return f"{grade} {escape(names.get(grade, ''))}".strip()

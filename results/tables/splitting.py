"""Where labels split: classes, directions, dimensions, queries, causes, readings."""

from collections.abc import Mapping

from django.utils.translation import gettext as _

from results.asked_labels import AskedLabel, Link
from results.dropped import MEASURES, read_bounds
from results.models import Cause
from results.tables.making import (
    SLICE,
    Column,
    Payload,
    Table,
    beside,
    list_slice_columns,
    make_table,
    name_class,
    pick,
)


@make_table("classes")
def classes(payload: Payload) -> Table:
    keys = (
        "pairs", "splits", "rate", "interval95", "rest_pairs", "rest_splits", "rest_rate",
        "rest_interval95", "fisher_p", "ratio", "p_value", "p_adjusted", "verdict", "observed",
        "alpha", "alpha_interval95",
    )  # fmt: skip
    rows = payload["classes"]
    return Table(
        "classes",
        _("Each class against the rest"),
        [
            Column("class", _("class"), "text"),
            Column("pairs", _("pairs")),
            Column("splits", _("splits")),
            Column("rate", _("rate"), "share"),
            Column("interval95", _("interval"), "share_interval"),
            Column("rest_pairs", _("rest: pairs")),
            Column("rest_splits", _("rest: splits")),
            Column("rest_rate", _("rest: rate"), "share"),
            Column("rest_interval95", _("rest: interval"), "share_interval"),
            Column("fisher_p", _("Fisher’s p"), "p"),
            Column("ratio", _("ratio"), "ratio"),
            Column("p_value", "p", "p"),
            Column("p_adjusted", _("p after Holm"), "p"),
            Column("verdict", _("verdict"), "text"),
            Column("observed", _("raw agreement"), "share"),
            Column("alpha", "α", "ratio"),
            Column("alpha_interval95", _("interval"), "interval"),
        ],
        [[name_class(row["class"]), *values] for row, values in beside(rows, keys)],
    )


@make_table("class-directions")
def class_directions(payload: Payload) -> Table:
    keys = ("a", "b", "a_higher", "b_higher", "rest_a_higher", "rest_b_higher", "against")
    return Table(
        "class-directions",
        _("Direction"),
        [
            Column("class", _("class"), "text"),
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("a_higher", _("first higher")),
            Column("b_higher", _("second higher")),
            Column("rest_a_higher", _("elsewhere: first higher")),
            Column("rest_b_higher", _("elsewhere: second higher")),
            Column("against", _("against"), "text"),
            Column("p_value", "p", "p"),
        ],
        [
            [row["class"], *values]
            for row in payload["classes"]
            for values in pick(row.get("direction", ()), *keys, "p_value")
        ],
    )


@make_table("class-citations")
def class_citations(payload: Payload) -> Table:
    keys = ("different_dimension", "different_reading", "same_reading", "unknown", "p_value")
    return Table(
        "class-citations",
        _("Citation"),
        [
            Column("class", _("class"), "text"),
            Column("different_dimension", _("different dimensions")),
            Column("different_reading", _("one dimension, different readings")),
            Column("same_reading", _("the same reading")),
            Column("unknown", _("unknown")),
            Column("p_value", "p", "p"),
        ],
        [
            [row["class"], *pick([row["citation"]], *keys)[0]]
            for row in payload["classes"]
            if "citation" in row
        ],
    )


@make_table("class-grades")
def class_grades(payload: Payload) -> Table:
    return Table(
        "class-grades",
        _("Grades between which a class splits"),
        [
            Column("class", _("class"), "text"),
            Column("low", _("lowest grade")),
            Column("high", _("highest grade")),
            Column("splits", _("splits")),
        ],
        [
            [row["class"], *values]
            for row in payload["classes"]
            for values in pick(row.get("grades", ()), "low", "high", "splits")
        ],
    )


@make_table("directions")
def directions(payload: Payload) -> Table:
    rows = payload["directions"]
    return Table(
        "directions",
        _("Who is higher, class by class"),
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("class", _("class"), "text"),
            Column("pairs", _("pairs")),
            Column("a_higher", _("first higher")),
            Column("b_higher", _("second higher")),
        ],
        [
            [row["a"], row["b"], name_class(row["class"]), *values]
            for row, values in beside(rows, ("pairs", "a_higher", "b_higher"))
        ],
    )


@make_table("leniency")
def leniency(payload: Payload) -> Table:
    return Table(
        "leniency",
        _("Leniency"),
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("a_higher", _("first higher")),
            Column("b_higher", _("second higher")),
            Column("p_value", "p", "p"),
            Column("lenient", _("more lenient"), "text"),
        ],
        pick(payload["leniency"], "a", "b", "a_higher", "b_higher", "p_value", "lenient"),
    )


@make_table("dimensions")
def dimensions(payload: Payload) -> Table:
    rows = payload["by_dimension"]
    cited = {row["dimension"]: row["citations"] for row in payload["dimensions"]}
    return Table(
        "dimensions",
        _("Agreement by deciding dimension"),
        [
            Column("dimension", _("dimension"), "text"),
            Column("citations", _("labels that cite it, unsure aside")),
            *list_slice_columns(),
        ],
        [
            [row["dimension"], cited.get(row["dimension"], 0), *values]
            for row, values in beside(rows, SLICE)
        ],
        note=_("the pairs of which at least one label cites the dimension"),
        links=[_link_splits(row) for row in rows],
        cell_links=[
            [(), _link_citations(row["dimension"], cited), (), _link_splits(row), *[()] * 5]
            for row in rows
        ],
    )


def _link_splits(row: Payload) -> Link:
    return (("dimension", row["dimension"]),) if row["splits"] else ()


def _link_citations(dimension: str, cited: Mapping[str, int]) -> Link:
    return AskedLabel(dimension=dimension).link if cited.get(dimension) else ()


@make_table("dimensions-on-splits")
def dimensions_on_splits(payload: Payload) -> Table:
    return Table(
        "dimensions-on-splits",
        _("What the two sides of a split cite"),
        [
            Column("one_side", _("one side"), "text"),
            Column("other_side", _("the other side"), "text"),
            Column("labels", "n"),
        ],
        sorted(payload["decided_by_on_splits"], key=lambda row: -row[2]),
    )


@make_table("queries")
def queries(payload: Payload) -> Table:
    rows = payload["queries_by_disagreement"]
    keys, counts = ("query_id", "query"), ("pairs", "splits", "rate", "far_apart", "widest")
    return Table(
        "queries",
        _("Queries by disagreement"),
        [
            Column("query_id", _("query id"), "id"),
            Column("query", _("query"), "text"),
            Column("class", _("class"), "text"),
            Column("pairs", _("pairs")),
            Column("splits", _("splits")),
            Column("rate", _("rate"), "share"),
            Column("far_apart", _("two or more grades apart")),
            Column("widest", _("widest, in steps")),
        ],
        [[*names, row["class"], *pick([row], *counts)[0]] for row, names in beside(rows, keys)],
        links=[(("query", row["query_id"]),) for row in rows],
    )


@make_table("causes")
def causes(payload: Payload) -> Table:
    counted = (payload["final_labels"] or {}).get("causes", {})
    total = sum(counted.values())
    named = dict(Cause.choices)
    return Table(
        "causes",
        _("Why labels came apart"),
        [
            Column("cause", _("cause"), "text"),
            Column("pairs", _("pairs")),
            Column("share", _("share"), "share"),
        ],
        [
            [str(named[cause]), count, count / total if total else None]
            for cause, count in sorted(counted.items(), key=lambda row: -row[1])
            if total
        ],
        note=_("causes named when pairs were settled"),
    )


@make_table("third-vote")
def third_vote(payload: Payload) -> Table:
    return Table(
        "third-vote",
        _("What each run scores under either reading"),
        [
            Column("class", _("class"), "text"),
            Column("run", _("run"), "text"),
            Column("queries", _("queries")),
            Column("dropped", _("dropped")),
            Column("dropped_share", _("share"), "share"),
            Column("measure", _("measure"), "text"),
            Column("lower", _("lower reading"), "ratio"),
            Column("lower_bounds", _("bounds"), "interval"),
            Column("higher", _("higher reading"), "ratio"),
            Column("higher_bounds", _("bounds"), "interval"),
            Column("difference", _("difference"), "ratio"),
        ],
        [
            [
                row["class"],
                run["run"],
                row["queries"],
                row["dropped"],
                row["dropped_share"],
                _name_measure(measure, row["k"]),
                run["lower"][measure],
                read_bounds(run["lower"], measure),
                run["higher"][measure],
                read_bounds(run["higher"], measure),
                _subtract(run["higher"][measure], run["lower"][measure]),
            ]
            for row in payload["third_vote"]
            for run in row["runs"]
            for measure in MEASURES
        ],
        note=_(
            "recall@k is the share of queries with a relevant document in the first k; bounds take "
            "the dropped pairs with the grades that are worst, and that are best, for the run."
        ),
    )


@make_table("third-vote-labels")
def third_vote_labels(payload: Payload) -> Table:
    return Table(
        "third-vote-labels",
        _("Labels of the class"),
        [
            Column("class", _("class"), "text"),
            Column("grade", _("grade"), "text"),
            Column("lower", _("lower reading")),
            Column("higher", _("higher reading")),
        ],
        [
            [row["class"], grade, row["lower"].get(grade, 0), row["higher"].get(grade, 0)]
            for row in payload["third_vote"]
            for grade in sorted({*row["lower"], *row["higher"]}, key=int)
        ],
    )


def _name_measure(measure: str, k: int) -> str:
    return {"success_at_k": f"recall@{k}", "ndcg": f"nDCG@{k}", "mrr": "MRR"}[measure]


def _subtract(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before

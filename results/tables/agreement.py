"""How far people agree: measures, two annotators, class by class, over time, the target."""

from collections.abc import Sequence

from django.utils.translation import gettext as _

from results.figures import find_axis, place_mark
from results.tables.making import (
    SLICE,
    Column,
    Payload,
    Table,
    Value,
    beside,
    list_slice_columns,
    make_table,
    name_class,
    name_two,
    pick,
)


@make_table("agreement")
def agreement(payload: Payload) -> Table:
    raw, ac1 = payload["raw_agreement"], payload["gwet_ac1"]
    rows: list[list[Value]] = [
        ["raw agreement", raw["value"], None, raw["comparisons"], None, raw.get("reason")]
    ]
    for level, row in payload["krippendorff_alpha"].items():
        told = [row["value"], row["interval95"], row["pairs"], row["band"], row.get("reason")]
        rows.append([f"Krippendorff's α, {level}", *told])
    rows.append(
        ["Gwet's AC1", ac1["value"], ac1["interval95"], ac1["pairs"], None, ac1.get("reason")]
    )
    return Table(
        "agreement",
        _("All annotators together"),
        [
            Column("measure", _("measure"), "text"),
            Column("value", _("value"), "ratio"),
            Column("interval95", _("interval"), "interval"),
            Column("n", "n"),
            Column("band", _("reading"), "text"),
            Column("reason", _("reason"), "text"),
        ],
        rows,
    )


def _describe_kappas(name: str, title: str, rows: Sequence[Payload]) -> Table:
    keys = (
        "a", "b", "pairs", "observed", "expected", "nominal", "interval95", "linear",
        "linear_interval95", "quadratic", "quadratic_interval95", "band", "reason",
    )  # fmt: skip
    return Table(
        name,
        title,
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("pairs", _("pairs")),
            Column("observed", _("observed"), "share"),
            Column("expected", _("by chance"), "share"),
            Column("nominal", "κ", "ratio"),
            Column("interval95", _("interval"), "interval"),
            Column("linear", _("κ linear"), "ratio"),
            Column("linear_interval95", _("interval"), "interval"),
            Column("quadratic", _("κ quadratic"), "ratio"),
            Column("quadratic_interval95", _("interval"), "interval"),
            Column("band", _("reading"), "text"),
            Column("reason", _("reason"), "text"),
        ],
        pick(rows, *keys),
        links=[name_two(row) for row in rows],
    )


@make_table("kappas")
def kappas(payload: Payload) -> Table:
    return _describe_kappas("kappas", _("Two annotators"), payload["cohen_kappa"])


@make_table("machine-kappas")
def machine_kappas(payload: Payload) -> Table:
    return _describe_kappas("machine-kappas", _("People and machines"), payload["machine_kappa"])


@make_table("weighted-kappas")
def weighted_kappas(payload: Payload) -> Table:
    keys = ("nominal", "linear", "linear_interval95", "quadratic", "quadratic_interval95")
    rows = [row for row in payload["cohen_kappa"] if row["pairs"]]
    return Table(
        "weighted-kappas",
        _("Weighted κ"),
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("pairs", _("pairs")),
            Column("nominal", _("nominal"), "ratio"),
            Column("linear", _("linear"), "ratio"),
            Column("linear_interval95", _("interval"), "interval"),
            Column("quadratic", _("quadratic"), "ratio"),
            Column("quadratic_interval95", _("interval"), "interval"),
        ],
        pick(rows, "a", "b", "pairs", *keys),
        links=[name_two(row) for row in rows],
    )


@make_table("confusions")
def confusions(payload: Payload) -> Table:
    scale = [grade["value"] for grade in payload["grades"]]
    rows = [
        [entry["a"], entry["b"], scale[first], scale[second], count]
        for entry in (*payload["cohen_kappa"], *payload["machine_kappa"])
        for first, row in enumerate(entry["confusion"])
        for second, count in enumerate(row)
    ]
    return Table(
        "confusions",
        _("Confusion matrices"),
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("grade_of_a", _("grade of a")),
            Column("grade_of_b", _("grade of b")),
            Column("pairs", _("pairs")),
        ],
        rows,
    )


@make_table("class-agreement")
def class_agreement(payload: Payload) -> Table:
    keys = ("pairs", "observed", "alpha", "alpha_interval95")
    rows = payload["classes"]
    return Table(
        "class-agreement",
        _("Agreement by class"),
        [
            Column("class", _("class"), "text"),
            Column("pairs", _("pairs")),
            Column("observed", _("raw agreement"), "share"),
            Column("alpha", "α", "ratio"),
            Column("alpha_interval95", _("interval"), "interval"),
            Column("reason", _("reason"), "text"),
        ],
        [[name_class(row["class"]), *values, _explain(row)] for row, values in beside(rows, keys)],
        note=_("Krippendorff’s α, nominal, over the pairs labelled at least twice"),
        links=[
            (("class", row["class"]),) if row["class"] and row["splits"] else () for row in rows
        ],
    )


def _explain(row: Payload) -> str:
    """Why a class has no alpha, or no interval of it."""
    reason = row.get("alpha_reason") or row.get("alpha_interval95_reason")
    return _(reason) if reason else ""


@make_table("rubric-versions")
def rubric_versions(payload: Payload) -> Table:
    rows = payload["by_rubric_version"]
    return Table(
        "rubric-versions",
        _("Agreement by rubric version"),
        [
            Column("rubric_version", _("version"), "text"),
            Column("judgments", _("labels")),
            *list_slice_columns(),
        ],
        pick(rows, "rubric_version", "judgments", *SLICE),
        note=_("labels given under a version, compared among themselves"),
        links=[(("rubric", str(row["rubric_version"])),) if row["splits"] else () for row in rows],
    )


@make_table("over-time")
def over_time(payload: Payload) -> Table:
    rows = payload["over_time"]
    axis = find_axis(rows, "interval95")
    return Table(
        "over-time",
        _("Agreement over time"),
        [
            Column("from", _("from"), "text"),
            Column("to", _("to"), "text"),
            *list_slice_columns(),
        ],
        [[_day(row["from"]), _day(row["to"]), *values] for row, values in beside(rows, SLICE)],
        note=_("pairs in equal parts by the moment of their last label, UTC"),
        marks=[place_mark(row["rate"], row["interval95"], axis) for row in rows],
        axis=axis,
        links=[(("from", row["from"]), ("to", row["to"])) if row["splits"] else () for row in rows],
    )


def _day(moment: str) -> str:
    """A moment to the minute, as it is written in a table."""
    return moment[:16].replace("T", " ")


@make_table("targets")
def targets(payload: Payload) -> Table:
    rows = [row for target in payload["targets"] for row in target["pairs"]]
    return Table(
        "targets",
        _("The target, pair by pair"),
        [
            Column("a", "a", "text"),
            Column("b", "b", "text"),
            Column("pairs", _("pairs")),
            Column("value", "κ", "ratio"),
            Column("outcome", _("outcome"), "text"),
            Column("discuss", _("queries to discuss"), "text"),
        ],
        [
            [
                *pick([row], "a", "b", "pairs", "value")[0],
                {"pass": _("pass"), "fail": _("fail")}.get(row["outcome"], _("undefined")),
                " ".join(query["query_id"] for query in row["discuss"]),
            ]
            for row in rows
        ],
        # Who agrees on every pair, or has no kappa for want of a second label, has no split.
        links=[() if row["value"] in {None, 1.0} else name_two(row) for row in rows],
    )

"""Who gave which labels, citing what, in what time."""

from collections.abc import Collection

from django.utils.translation import gettext as _

from results.asked_labels import AskedLabel, Link
from results.tables.making import (
    Column,
    Payload,
    Table,
    make_table,
    name_class,
)


@make_table("labels")
def labels(payload: Payload) -> Table:
    names = {str(grade["value"]): grade["name"] for grade in payload["grades"]}
    total = sum(payload["labels"].values())
    return Table(
        "labels",
        _("Share of each label"),
        [
            Column("grade", _("grade"), "text"),
            Column("name", _("name"), "text"),
            Column("labels", "n"),
            Column("share", _("share"), "share"),
        ],
        [
            [grade, names.get(grade, ""), count, count / total if total else None]
            for grade, count in payload["labels"].items()
        ],
    )


@make_table("annotators")
def annotators(payload: Payload) -> Table:
    grades = list(payload["labels"])
    return Table(
        "annotators",
        _("Labels of each annotator"),
        [
            Column("name", _("name"), "text"),
            Column("machine", _("machine"), "text"),
            Column("judgments", _("judgments")),
            Column("unsure", _("unsure")),
            Column("not_blind", _("not blind")),
            Column("active_seconds", _("active time"), "time"),
            *(Column(f"grade_{grade}", grade) for grade in grades),
        ],
        [
            [
                row["name"],
                "machine" if row["machine"] else "",
                row["judgments"],
                row["unsure"],
                row["not_blind"],
                row["active_seconds"],
                *(row["labels"][grade] for grade in grades),
            ]
            for row in payload["annotators"]
        ],
    )


@make_table("time")
def time(payload: Payload) -> Table:
    rows = [row for row in payload["time"]["annotators"] if row["judgments"]]
    return Table(
        "time",
        _("Time for a label"),
        [
            Column("annotator", _("annotator"), "text"),
            Column("judgments", _("timed judgments")),
            Column("median", _("median"), "time"),
            Column("lower_quartile", _("a quarter takes at most"), "time"),
            Column("upper_quartile", _("a quarter takes at least"), "time"),
        ],
        [
            [row["name"], row["judgments"], row["median"], *(row["quartiles"] or (None, None))]
            for row in rows
        ],
        note=_("active seconds from opening a pair to its label; imported labels often have none"),
    )


def _describe_use(payload: Payload, name: str, title: str, who: Column, key: str) -> Table:
    rows = payload[key]
    people = {row["name"] for row in payload["annotators"] if not row["machine"]}
    counted = [Column(dimension, dimension) for dimension in payload["dimension_names"]]
    return Table(
        name,
        title,
        [who, *counted, Column("none", _("none named"))],
        [[name_class(row[who.name]), *row["counts"]] for row in rows],
        note=_("labels decided by each dimension, unsure aside"),
        cell_links=[_link_cells(payload, row, people) for row in rows],
    )


def _link_cells(payload: Payload, row: Payload, people: Collection[str]) -> list[Link]:
    """Pairs with such a label, of the annotator or in the class. Those of machines are not shown,
    and no address asks for queries without a class."""
    name = row.get("annotator")
    if row.get("class") is None and name not in people:
        return [()] * (len(row["counts"]) + 1)
    among = () if name else (("class", row["class"]),)
    cited = zip((*payload["dimension_names"], ""), row["counts"], strict=True)
    return [
        (),
        *(
            (*among, *AskedLabel(name, dimension=dimension).link) if count else ()
            for dimension, count in cited
        ),
    ]


@make_table("dimensions-by-annotator")
def dimensions_by_annotator(payload: Payload) -> Table:
    who = Column("annotator", _("annotator"), "text")
    title = _("What decided, annotator by annotator")
    return _describe_use(payload, "dimensions-by-annotator", title, who, "decided_by_annotator")


@make_table("dimensions-by-class")
def dimensions_by_class(payload: Payload) -> Table:
    who = Column("class", _("class"), "text")
    title = _("What decided, class by class")
    return _describe_use(payload, "dimensions-by-class", title, who, "decided_by_class")

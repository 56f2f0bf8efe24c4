"""Labels of a scope handed to the statistics, and what comes back with its names.

Imports numpy: only workers and commands import this module.
"""

from typing import Any

import numpy as np

from results.services.columns import (
    UNSURE,
    ScopeLabels,
    build_table,
    keep_grades,
)
from results.statistics.breakdowns import (
    Context,
    describe_by_dimension,
    describe_by_rubric,
    describe_citations,
    describe_over_time,
    describe_time,
    rank_queries,
)
from results.statistics.diagnosis import diagnose
from results.statistics.report import describe_agreement, describe_classes, describe_splits
from results.statistics.table import BoolArray
from studies.models import Query

Json = dict[str, Any]


def measure_labels(read: ScopeLabels, resamples: int) -> Json:
    """Every number of these labels but their diagnosis. Queries are named by their keys, which
    `name_queries` turns into what readers know them by."""
    labels, vocabulary = read.labels, read.vocabulary
    rows = keep_grades(read)
    table = build_table(read, rows)
    count = len(vocabulary.annotator_names)
    unsure = np.bincount(labels.annotator[labels.grade == UNSURE], minlength=count)
    seen = np.bincount(labels.annotator[~labels.is_blind], minlength=count)
    is_timed = ~np.isnan(labels.seconds)
    with_time = labels.where(is_timed)
    timed = np.bincount(with_time.annotator, minlength=count)
    seconds = np.bincount(with_time.annotator, weights=with_time.seconds, minlength=count)
    is_person = ~np.isin(rows.annotator, list(vocabulary.machine))
    people = table.without(vocabulary.machine)
    context = Context(rows.rubric, rows.moment).where(is_person)
    names, human = vocabulary.dimension_names, labels.where(is_human(read) & is_timed)
    measured = {
        **describe_agreement(
            table,
            machine=vocabulary.machine,
            unsure=dict(enumerate(unsure.tolist())),
            active_seconds={code: float(seconds[code]) for code in np.flatnonzero(timed).tolist()},
            timed=dict(enumerate(timed.tolist())),
            not_blind=dict(enumerate(seen.tolist())),
            resamples=resamples,
        ),
        **describe_splits(table, machine=vocabulary.machine, dimensions=names),
        "by_dimension": describe_by_dimension(people, names),
        "by_rubric_version": describe_by_rubric(people, context),
        "over_time": describe_over_time(people, context),
        "queries_by_disagreement": rank_queries(people),
        **describe_citations(table, names),
        "time": describe_time(
            human.seconds, human.pair, human.annotator, vocabulary.annotator_names
        ),
        "pairs_labelled": _count_labelled(read),
        "without_dimension": int((people.dimension < 0).sum()),
        "active_seconds": float(human.seconds.sum()) if len(human) else None,
        "timed": len(human),
    }
    for row in _list_query_rows(measured):
        row["query"] = int(read.pool.query_key[row["query"]])
    return measured


def diagnose_labels(
    read: ScopeLabels, query_class: str | None, *, rates: list[Json], resamples: int
) -> Json:
    """The diagnosis; what it finds of a class joins the `rates` of that class. With `query_class`
    only that class is told of, held against all the others, and so its rates are taken anew."""
    vocabulary = read.vocabulary
    table = build_table(read)
    found = diagnose(table, dimension_names=vocabulary.dimension_names, machine=vocabulary.machine)
    told = (found if query_class is None else found.of_class(query_class)).to_json()
    by_name = {row["class"]: row for row in told["classes"]}
    if query_class is not None:
        rates = describe_classes(table.without(vocabulary.machine), resamples=resamples)
    return {
        **told,
        "classes": [
            {**row, **by_name.get(row["class"], {})}
            for row in rates
            if query_class is None or row["class"] == query_class
        ],
    }


def name_queries(measured: Json) -> None:
    """Put the id and the text of each query that is named into the place of its key."""
    rows = _list_query_rows(measured)
    keys = {row["query"] for row in rows}
    found = {
        key: (external_id, text)
        for key, external_id, text in Query.objects.filter(pk__in=keys).values_list(
            "pk", "external_id", "text"
        )
    }
    for row in rows:
        row["query_id"], row["query"] = found[row["query"]]


def count_people(read: ScopeLabels) -> int:
    return int(is_human(read).sum())


def is_human(read: ScopeLabels) -> BoolArray:
    return ~np.isin(read.labels.annotator, list(read.vocabulary.machine))


def _list_query_rows(measured: Json) -> list[Json]:
    of_two = [row for key in ("cohen_kappa", "machine_kappa") for row in measured[key]]
    rows: list[Json] = list(measured["queries_by_disagreement"])
    return rows + [query for row in of_two for query in row["discuss"]]


def _count_labelled(read: ScopeLabels) -> int:
    """Pairs that at least one person has given a grade."""
    rows = is_human(read) & (read.labels.grade != UNSURE)
    return int(np.count_nonzero(np.bincount(read.labels.pair[rows])))

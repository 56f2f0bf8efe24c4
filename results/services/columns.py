"""A study's labels as the narrow integer columns that the statistics take.

No text and no model instance is read. The caller holds a snapshot, so that everything read here
is of one moment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from django.db import connection

from results.selectors.labels import select_planned_annotators
from results.selectors.unblinded import IS_BLIND, JOIN_UNBLINDING
from results.services.packed import Row, copy_rows, expect_packing, spread, unpack
from results.services.scopes import ScopeRounds
from results.services.vocabulary import Vocabulary, read_vocabulary
from results.statistics.table import NONE, BoolArray, FloatArray, IntArray, LabelTable
from studies.models import QueryClass, Study, Unblinding

UNSURE = -1

# PostgreSQL counts microseconds from the year 2000; these are the seconds from 1970 to it.
START_OF_TIME = 946_684_800


# Whatever has few values is a key: a million labels come over as some hundred rows.
def select_labels(join: str, is_blind: str) -> str:
    """The statement that packs the labels of `rounds`; both arguments are constants of the code."""
    return f"""
SELECT j.round_id, j.annotator_id, j.rubric_version_id, j.is_surplus, j.grade,
    j.decided_by_id, j.clause_id, {is_blind},
    string_agg(int8send(j.pair_id), ''::bytea),
    string_agg(float8send(coalesce(j.active_seconds, 'NaN')), ''::bytea),
    string_agg(timestamptz_send(j.judged_at), ''::bytea)
FROM annotation_judgment j {join}
WHERE j.round_id = ANY({{rounds}})
    AND ({{rubric}} = 0
        OR j.rubric_version_id IN (
            SELECT id FROM studies_rubricversion WHERE study_id = {{study}} AND number = {{rubric}})
        OR j.id IN (
            SELECT c.judgment_id
            FROM annotation_carriedlabel c
            JOIN studies_rubricversion v ON v.id = c.rubric_version_id
            WHERE v.study_id = {{study}} AND v.number = {{rubric}}))
GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
"""  # noqa: S608 - put together from constants


LABELS = select_labels(JOIN_UNBLINDING, IS_BLIND)
# Where nobody could read others' labels, which is the rule: a fifth less to do for the server.
BLIND_LABELS = select_labels("", "true")
LABEL_TYPES = (*("int8",) * 3, "bool", "int2", "int8", "int8", "bool", *("bytea",) * 3)

PAIRS = """
SELECT c.pair_id IS NOT NULL, p.pool_rank IS NOT NULL,
    string_agg(int8send(p.id), ''::bytea), string_agg(int8send(p.query_id), ''::bytea)
FROM studies_pair p
LEFT JOIN studies_controlpair c ON c.pair_id = p.id
WHERE p.study_id = {study}
    AND (p.pool_rank IS NOT NULL OR ({with_controls} AND c.pair_id IS NOT NULL))
GROUP BY 1, 2
"""
PAIR_TYPES = ("bool", "bool", "bytea", "bytea")

PLAN = f"""
WITH {select_planned_annotators("r.id = ANY (%(rounds)s)")}
SELECT query_id, annotators FROM planned
"""  # noqa: S608 - put together from constants


@dataclass(frozen=True, eq=False)
class Pool:
    """The pairs spoken of, in the order of their keys: key, query code, whether it is a control
    pair, whether a run returned it (length P).

    By query code (length Q): `query_key`, `planned` annotators, 0 where the query is in no round,
    `query_class`, an index into `classes` or -1, and whether the scope asks for it at all.
    """

    key: IntArray
    query: IntArray
    is_control: BoolArray
    is_returned: BoolArray
    query_key: IntArray
    planned: IntArray
    query_class: IntArray
    is_asked: BoolArray
    classes: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Labels:
    """One row for each outcome, a grade or unsure (length n), by pair, annotator and rank.

    `pair` is a position in the pool, `rank` the place of the round in its scope, `rubric` a
    version's number, `grade` a position on the scale or `UNSURE`, `seconds` the active time, NaN
    where it is unknown, and `moment` when it was judged, in seconds since 1970; `is_blind` is
    false where its annotator could read others' labels of the round before; the others are codes
    of the vocabulary, -1 for none.
    """

    pair: IntArray
    annotator: IntArray
    rank: IntArray
    rubric: IntArray
    grade: IntArray
    dimension: IntArray
    clause: IntArray
    seconds: FloatArray
    moment: IntArray
    is_surplus: BoolArray
    is_blind: BoolArray

    def __len__(self) -> int:
        return len(self.pair)

    def take(self, rows: IntArray | BoolArray) -> "Labels":
        return Labels(**{name: column[rows] for name, column in vars(self).items()})

    def where(self, rows: BoolArray) -> "Labels":
        """The rows where `rows` is true; the same labels where that is all of them."""
        return self if rows.all() else self.take(np.flatnonzero(rows))


@dataclass(frozen=True, eq=False)
class ScopeLabels:
    """What is read of a scope. `labels` holds one outcome for each annotator and pair at most;
    `surplus` is the number of labels left out as such."""

    pool: Pool
    vocabulary: Vocabulary
    labels: Labels
    surplus: int


def read_labels(
    study: Study,
    rounds: ScopeRounds,
    *,
    rubric: int | None = None,
    with_controls: bool = False,
    with_surplus: bool = False,
) -> ScopeLabels:
    """Read the outcomes on the pool's pairs in these rounds, within the caller's snapshot.

    `rubric` narrows them to one version: labels given under it or carried to it. Of several
    labels of one annotator on one pair the one of the round named last counts. Surplus labels,
    and control pairs that no run returned, stay outside unless asked for.
    """
    expect_packing()
    pool = _read_pool(study, rounds, with_controls)
    rows = _read_rows(study, rounds, rubric)
    vocabulary = read_vocabulary(
        study,
        annotators={row[1] for row in rows},
        versions={row[2] for row in rows} | {round.rubric_version_id for round in rounds.labels},
    )
    every = _unpack_labels(study, rows, rounds, vocabulary)
    inside = _find_in_pool(every, pool)
    kept = inside if with_surplus else inside.where(~inside.is_surplus)
    return ScopeLabels(
        pool=pool,
        vocabulary=vocabulary,
        labels=_keep_latest(kept),
        surplus=len(inside) - len(kept),
    )


def leave_controls_out(scope: ScopeLabels) -> ScopeLabels:
    """The same without the labels of control pairs."""
    labels = scope.labels.where(~scope.pool.is_control[scope.labels.pair])
    return replace(scope, labels=labels)


def keep_annotators(scope: ScopeLabels, names: Sequence[str]) -> ScopeLabels:
    """The same with the labels of these annotators only, and no word of any other."""
    vocabulary = scope.vocabulary
    kept = [code for code, name in enumerate(vocabulary.annotator_names) if name in names]
    codes = np.full(len(vocabulary.annotator_names), NONE, dtype=np.int32)
    codes[kept] = np.arange(len(kept))
    labels = scope.labels.where(codes[scope.labels.annotator] != NONE)
    return replace(
        scope,
        labels=replace(labels, annotator=codes[labels.annotator]),
        vocabulary=vocabulary.of_annotators(kept),
    )


def keep_class(scope: ScopeLabels, name: str) -> ScopeLabels:
    """The same with the pairs and labels of one class only. The pool keeps its queries' codes;
    those of other classes have no pair and no plan left."""
    pool = scope.pool
    is_inside = pool.query_class == pool.classes.index(name)
    pairs = is_inside[pool.query]
    labels = scope.labels.where(pairs[scope.labels.pair])
    return replace(
        scope,
        labels=labels,
        pool=replace(
            pool,
            is_returned=pool.is_returned & pairs,
            planned=np.where(is_inside, pool.planned, 0),
            is_asked=is_inside,
        ),
    )


def keep_grades(scope: ScopeLabels) -> Labels:
    """The labels that are grades, which are the rows of their table."""
    return scope.labels.where(scope.labels.grade != UNSURE)


def build_table(scope: ScopeLabels, labels: Labels | None = None) -> LabelTable:
    """The label table of these outcomes; unsure ones are no rows of it. `labels` is what
    `keep_grades` gives of the scope, where the caller has it already."""
    labels = keep_grades(scope) if labels is None else labels
    return LabelTable(
        query=scope.pool.query[labels.pair],
        pair=labels.pair,
        annotator=labels.annotator,
        grade=labels.grade,
        dimension=labels.dimension,
        clause=labels.clause,
        scale=scope.vocabulary.scale,
        annotators=scope.vocabulary.annotator_names,
        query_class=scope.pool.query_class,
        classes=scope.pool.classes,
    )


def _read_pool(study: Study, rounds: ScopeRounds, with_controls: bool) -> Pool:
    planned = _read_plan(study, rounds)
    classes = list(QueryClass.objects.filter(study=study).values_list("pk", "name"))
    class_code = {key: code for code, (key, _) in enumerate(classes)}
    queries = [
        (key, query_class)
        for key, query_class in study.queries.order_by("pk").values_list("pk", "query_class")
        if rounds.is_whole_pool or key in planned
    ]
    rows = copy_rows(PAIRS, {"study": study.pk, "with_controls": with_controls}, PAIR_TYPES)
    sizes = [len(row[2]) // 8 for row in rows]
    is_control = spread([row[0] for row in rows], sizes).astype(bool)
    is_returned = spread([row[1] for row in rows], sizes).astype(bool)
    key = unpack((row[2] for row in rows), "i8")
    query, is_inside = _find(
        unpack((row[3] for row in rows), "i8"), np.array([key for key, _ in queries], dtype="i8")
    )
    order = np.argsort(key, kind="stable")
    order = order[is_inside[order]]
    return Pool(
        key=key[order],
        query=query[order],
        is_control=is_control[order],
        is_returned=is_returned[order],
        query_key=np.array([key for key, _ in queries], dtype=np.int64),
        planned=np.array([planned.get(key, 0) for key, _ in queries], dtype=np.int64),
        query_class=np.array([class_code.get(key, NONE) for _, key in queries], dtype=np.int64),
        is_asked=np.ones(len(queries), dtype=bool),
        classes=tuple(name for _, name in classes),
    )


def _read_plan(study: Study, rounds: ScopeRounds) -> dict[int, int]:
    """Annotators planned for each query of the rounds."""
    keys = [round.pk for round in rounds.plan]
    with connection.cursor() as cursor:
        cursor.execute(PLAN, {"study": study.pk, "rounds": keys})
        return dict(cursor.fetchall())


def _read_rows(study: Study, rounds: ScopeRounds, rubric: int | None) -> list[Row]:
    if not rounds.labels:
        return []
    keys = [round.pk for round in rounds.labels]
    select = LABELS if Unblinding.objects.filter(round__in=keys).exists() else BLIND_LABELS
    parameters = {"study": study.pk, "rounds": keys, "rubric": rubric or 0}
    return copy_rows(select, parameters, LABEL_TYPES)


def _unpack_labels(
    study: Study, rows: list[Row], rounds: ScopeRounds, vocabulary: Vocabulary
) -> Labels:
    """One row for each label, coded, in the order of `Labels`; `pair` still holds the database's
    keys."""
    rank = {round.pk: place for place, round in enumerate(rounds.labels)}
    number = dict(study.rubric_versions.values_list("pk", "number"))
    groups = sorted(rows, key=lambda row: (vocabulary.annotators[row[1]], rank[row[0]]))
    pair = unpack((row[8] for row in groups), "i8")
    # Stable, so that labels of one pair stay in the order of their groups.
    order = np.argsort(pair, kind="stable")
    group = spread(range(len(groups)), [len(row[8]) // 8 for row in groups])[order]

    def of_groups(values: Iterable[int]) -> IntArray:
        return np.array(list(values), dtype=np.int32)[group]

    return Labels(
        pair=pair[order],
        rank=of_groups(rank[row[0]] for row in groups),
        annotator=of_groups(vocabulary.annotators[row[1]] for row in groups),
        rubric=of_groups(number[row[2]] for row in groups),
        is_surplus=of_groups(row[3] for row in groups).astype(bool),
        is_blind=of_groups(row[7] for row in groups).astype(bool),
        grade=of_groups(vocabulary.grades.get(row[4], UNSURE) for row in groups),
        dimension=of_groups(vocabulary.dimensions.get(row[5], NONE) for row in groups),
        clause=of_groups(vocabulary.clauses.get(row[6], NONE) for row in groups),
        seconds=unpack((row[9] for row in groups), "f8")[order],
        moment=unpack((row[10] for row in groups), "i8")[order] // 1_000_000 + START_OF_TIME,
    )


def _find_in_pool(labels: Labels, pool: Pool) -> Labels:
    """The labels of pairs in the pool, `pair` turned into positions there."""
    place, is_inside = _find(labels.pair, pool.key)
    return replace(labels, pair=place).where(is_inside)


def _find(wanted: IntArray, keys: IntArray) -> tuple[IntArray, BoolArray]:
    """The place of each value among ascending keys, and whether it is there at all."""
    place = np.searchsorted(keys, wanted)
    is_there = place < len(keys)
    is_there[is_there] = keys[place[is_there]] == wanted[is_there]
    return place, is_there


def _keep_latest(labels: Labels) -> Labels:
    """One outcome for each annotator and pair: that of the highest rank, which comes last."""
    if not labels.rank.any():
        return labels
    is_last = np.ones(len(labels), dtype=bool)
    is_last[:-1] = (np.diff(labels.pair) != 0) | (np.diff(labels.annotator) != 0)
    return labels.where(is_last)

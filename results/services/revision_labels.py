"""The labels of a study under one rubric version or of one round, and what they decide.

Imports numpy: only workers and commands import this module.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Max

from results.consensus import Consensus, FinalDecision, decide_consensus
from results.models import FinalLabel
from results.services.columns import (
    UNSURE,
    Pool,
    ScopeLabels,
    build_table,
    leave_controls_out,
    read_labels,
)
from results.services.scopes import Scope, find_rounds
from results.statistics.table import LabelTable
from studies.models import Grade, Study


@dataclass(frozen=True, eq=False)
class Side:
    """People's labels under one version, those carried to it included, or those of one round.

    `number` is the version, or the one that the round is judged under. `table` holds the grades,
    `decided` the outcome of each pair (position in the pool) that anybody graded or was unsure of,
    `relevant` the lowest grade that counts as relevant (None where none does), `carried` how many
    labels were given under an earlier version.
    """

    scope: Scope
    number: int
    pool: Pool
    table: LabelTable
    decided: Mapping[int, Consensus]
    grade_names: Mapping[int, str]
    relevant: int | None
    carried: int

    def is_relevant(self, pair: int) -> bool:
        """Whether the pair has a label under this version that counts as relevant."""
        found = self.decided.get(pair)
        grade = found.grade if found else None
        return grade is not None and self.relevant is not None and grade >= self.relevant


def read_side(study: Study, scope: Scope) -> Side:
    """Read one side within the caller's snapshot: a version's labels of main rounds, rechecks in
    their place, or the labels of one round. The pool is the study's whole one in either case.

    Raises UnknownScope for a version or a round that the study does not have.
    """
    rounds = replace(find_rounds(study, scope), is_whole_pool=True)
    read = leave_controls_out(read_labels(study, rounds, rubric=scope.rubric))
    is_machine = np.isin(read.labels.annotator, list(read.vocabulary.machine))
    people = read.labels.take(np.flatnonzero(~is_machine))
    side = ScopeLabels(read.pool, read.vocabulary, people, read.surplus)
    number = scope.rubric or rounds.labels[0].rubric_version.number
    grades = Grade.objects.filter(rubric_version__study=study, rubric_version__number=number)
    return Side(
        scope=scope,
        number=number,
        pool=read.pool,
        table=build_table(side),
        decided=_decide(study, side, version=scope.rubric),
        grade_names=dict(grades.values_list("value", "name")),
        relevant=min(grades.filter(is_relevant=True).values_list("value", flat=True), default=None),
        carried=0 if scope.rubric is None else int((people.rubric != number).sum()),
    )


def _decide(study: Study, side: ScopeLabels, *, version: int | None) -> dict[int, Consensus]:
    """What labels, and under a version also final labels, decide for each pair."""
    labels, scale = side.labels, side.vocabulary.scale
    votes: dict[int, list[int]] = defaultdict(list)
    unsure: Counter[int] = Counter()
    for pair, grade in zip(labels.pair.tolist(), labels.grade.tolist(), strict=True):
        if grade == UNSURE:
            unsure[pair] += 1
        else:
            votes[pair].append(scale[grade])
    finals: dict[int, FinalDecision] = {}
    if version is not None:
        finals = _read_finals(study, version, side)
    return {
        pair: decide_consensus(
            votes.get(pair, []),
            final=finals.get(pair),
            minimum_votes=study.minimum_votes,
            policy="unanimous" if study.consensus == Study.Consensus.UNANIMOUS else "plurality",
            unsure=unsure[pair],
        )
        for pair in sorted(votes.keys() | unsure.keys())
    }


def _read_finals(study: Study, number: int, side: ScopeLabels) -> dict[int, FinalDecision]:
    """The decision that holds for each pair under the version: the latest that was recorded under
    it or an earlier one, unless it was reopened and no other took its place.

    One of an earlier version holds on where all labels of the pair are of that version or before,
    that is, where nobody judged it again since, under this version or one between.
    """
    position = {int(key): place for place, key in enumerate(side.pool.key)}
    judged_under = _find_newest_versions(side)
    of_study = FinalLabel.objects.filter(pair__study=study)
    newest = dict(of_study.order_by().values_list("pair_id").annotate(Max("pk")))
    rows = (
        of_study.filter(rubric_version__number__lte=number)
        .order_by("rubric_version__number", "pk")
        .values_list("pk", "pair_id", "rubric_version__number", "grade", "ended_at")
    )
    finals: dict[int, FinalDecision] = {}
    for key, pair_id, version, grade, ended_at in rows:
        pair = position.get(pair_id)
        if pair is None:
            continue
        was_reopened = ended_at is not None and newest[pair_id] == key
        # What a later decision overruled stays overruled, also where that one does not hold.
        finals.pop(pair, None)
        if not was_reopened and (version == number or version >= judged_under.get(pair, 0)):
            finals[pair] = FinalDecision(grade)
    return finals


def _find_newest_versions(side: ScopeLabels) -> dict[int, int]:
    """The newest version that a label of each pair was given under."""
    newest: dict[int, int] = {}
    for pair, version in zip(side.labels.pair.tolist(), side.labels.rubric.tolist(), strict=True):
        newest[pair] = max(version, newest.get(pair, 0))
    return newest

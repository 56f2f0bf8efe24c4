"""From a label table to verdicts: the steps in their order."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from results.statistics.diagnosis.citation import (
    Citation,
    Readings,
    ask_citations,
    count_decided_by,
    count_decided_on_splits,
    describe_citation,
    read_citations,
)
from results.statistics.diagnosis.concentration import (
    Concentration,
    QuerySplits,
    count_query_splits,
    measure_concentration,
)
from results.statistics.diagnosis.direction import (
    DirectedSplits,
    Direction,
    count_directed,
    describe_directions,
)
from results.statistics.diagnosis.leniency import Leniency, find_leniency
from results.statistics.diagnosis.outcome import ClassDiagnosis, Diagnosis
from results.statistics.diagnosis.resampling import Draws, holm
from results.statistics.diagnosis.sentences import (
    Sentence,
    say_citation,
    say_concentration,
    say_direction,
    say_directions_together,
    say_how_to_tell,
    say_not_sure,
    say_what_to_do,
)
from results.statistics.diagnosis.shares import (
    Answers,
    Side,
    choose_reference,
    compare_shares,
)
from results.statistics.diagnosis.thresholds import (
    APART_LEVEL,
    LEVEL,
    MINIMUM_EXCESS,
    PERMUTATIONS,
    SEED,
)
from results.statistics.diagnosis.verdict import (
    decide,
    find_need,
    find_need_to_be_sure,
    find_spread_between_queries,
    is_concentrated,
    weigh_apart,
)
from results.statistics.splits import ClassSplits, find_spread, splits_by_class, splits_by_grades
from results.statistics.table import NONE, LabelTable


def diagnose(
    table: LabelTable,
    *,
    dimension_names: Sequence[str] = (),
    machine: frozenset[int] = frozenset(),
    seed: int = SEED,
    permutations: int = PERMUTATIONS,
) -> Diagnosis:
    """Tell for every named class whether its splits are a hole in the rubric.

    `machine` holds annotator codes whose labels are left out. `dimension_names` names the codes
    of the table's dimensions. The same table and `seed` give the same diagnosis; `permutations`
    bounds the random draws of each test. Raises `ValueError` where a label cites a dimension
    without a name.
    """
    people = table.without(machine)
    names = tuple(dimension_names)
    highest = int(people.dimension.max(initial=NONE))
    if highest >= len(names):
        raise ValueError(f"a label cites dimension {highest}, but only {len(names)} are named")
    study = _read_study(people, Draws(seed, permutations))
    evidence = _gather_evidence(study)
    judged = _judge_classes(study, evidence)
    leniency = _find_leniency(study, judged)
    return Diagnosis(
        annotators=people.annotators,
        classes=_say_classes(study, evidence, judged, leniency),
        leniency=leniency,
        decided_by=count_decided_by(people, names),
        decided_by_on_splits=tuple(count_decided_on_splits(study.readings, names)),
    )


@dataclass(frozen=True, eq=False)
class _Study:
    """The table and everything that is counted once for all classes.

    `split_table` holds the labels of the pairs that split. Groups are the classes, in their
    order, and last the unclassified queries.
    """

    table: LabelTable
    split_table: LabelTable
    classes: list[ClassSplits]
    queries: QuerySplits
    directed: DirectedSplits
    readings: Readings
    citations: Answers
    draws: Draws


@dataclass(frozen=True, eq=False)
class _Evidence:
    """What speaks for and against a hole in one class."""

    splits: ClassSplits
    concentration: Concentration
    p_adjusted: float | None
    concentrated: bool
    directions: tuple[Direction, ...]
    joint_p: float | None
    joint_queries: tuple[int, int]
    citation: Citation

    @property
    def leading(self) -> Direction | None:
        """The contrast that speaks most for a direction of the class's own."""
        far = [found for found in self.directions if found.excess >= MINIMUM_EXCESS]
        return min(far, key=lambda found: (found.p_value, found.b is None), default=None)

    @property
    def direction_p(self) -> float | None:
        """One p for a direction of the class's own, `None` where no two labels differ.

        Two annotators have one contrast. Of three and more all are tested together, because a hole
        that divides them shows a little in many contrasts.
        """
        if not self.directions:
            return None
        if self.leading is None:
            return 1.0
        return self.leading.p_value if self.joint_p is None else self.joint_p

    @property
    def citation_p(self) -> float | None:
        if self.citation.p_value is None:
            return None
        return 1.0 if self.citation.excess < MINIMUM_EXCESS else self.citation.p_value

    @property
    def has_direction(self) -> bool:
        """Whether direction alone would set the class apart, had it no other to be held against."""
        return weigh_apart(self.direction_p, None) <= APART_LEVEL

    @property
    def shown(self) -> Direction | None:
        """The contrast to tell of: it sets the class apart, or is beyond chance taken by itself."""
        found = self.leading
        return found if found and (self.has_direction or found.p_value <= LEVEL) else None

    @property
    def cites_apart(self) -> bool:
        return weigh_apart(None, self.citation_p) <= APART_LEVEL

    @property
    def stands_out(self) -> bool:
        """A direction or citation of the class's own shows, be it sure enough or not."""
        return self.shown is not None or self.cites_apart

    @property
    def is_alike(self) -> bool:
        """Whether most of the splits are known to rest on one reading, and nothing stands out."""
        return 2 * self.citation.same_reading > self.splits.inside.splits and not self.stands_out


def _read_study(people: LabelTable, draws: Draws) -> _Study:
    groups = len(people.classes) + 1
    group = np.where(people.query_class == NONE, groups - 1, people.query_class)
    split_table = _select_splits(people)
    readings = read_citations(people, split_table, group, groups)
    return _Study(
        table=people,
        split_table=split_table,
        classes=[row for row in splits_by_class(people) if row.code != NONE],
        queries=count_query_splits(people),
        directed=count_directed(split_table, group, groups),
        readings=readings,
        citations=ask_citations(readings, group, groups),
        draws=draws,
    )


def _select_splits(table: LabelTable) -> LabelTable:
    """The labels of the pairs that split."""
    is_split = np.zeros(len(table.pair_sizes), dtype=bool)
    is_split[table.pair_sizes >= 2] = find_spread(table).split
    return table.select(np.repeat(is_split, table.pair_sizes))


def _gather_evidence(study: _Study) -> list[_Evidence]:
    """Concentration first, because it tells which other classes are no good to compare with."""
    found = measure_concentration(study.queries, len(study.classes), study.draws)
    adjusted = holm([row.p_value for row in found])
    concentrated = list(map(is_concentrated, found, adjusted))
    directions = compare_shares(
        study.directed.answers,
        _choose_sides(study, study.directed.answers, concentrated),
        two_sided=True,
        draws=study.draws,
        joint=study.directed.teams,
    )
    citations = compare_shares(
        study.citations,
        _choose_sides(study, study.citations, concentrated),
        two_sided=False,
        draws=study.draws,
    )
    return [
        _Evidence(
            splits=row,
            concentration=found[row.code],
            p_adjusted=adjusted[row.code],
            concentrated=concentrated[row.code],
            directions=tuple(describe_directions(study.directed, directions[row.code])),
            joint_p=directions[row.code].joint_p,
            joint_queries=directions[row.code].joint_queries,
            citation=describe_citation(study.split_table.of_class(row.code), citations[row.code]),
        )
        for row in study.classes
    ]


def _choose_sides(study: _Study, answers: Answers, concentrated: list[bool]) -> list[Side]:
    yes, asked = answers.sum_groups(answers.yes), answers.sum_groups(answers.asked)
    return [
        Side(
            row.code,
            choose_reference(row.code, yes, asked, concentrated),
            hangs_on=concentrated[row.code],
        )
        for row in study.classes
    ]


def _judge_classes(study: _Study, evidence: list[_Evidence]) -> tuple[ClassDiagnosis, ...]:
    weighed = [
        weigh_apart(row.direction_p, row.citation_p) if row.concentrated else None
        for row in evidence
    ]
    spread = find_spread_between_queries(study.queries)
    told_apart = sum(p is not None for p in weighed)
    return tuple(
        _judge_class(study, row, apart_p=apart_p, spread=spread, told_apart=told_apart)
        for row, apart_p in zip(evidence, holm(weighed), strict=True)
    )


def _judge_class(
    study: _Study, row: _Evidence, *, apart_p: float | None, spread: float, told_apart: int
) -> ClassDiagnosis:
    inside, rest = row.splits.inside, row.splits.rest
    # Every class is tested sooner or later, so what is missing is told for all of them at once.
    tests = len(study.classes)
    need = find_need(row.concentration, inside, rest, tests=tests, spread=spread)
    apart = apart_p is not None and apart_p <= APART_LEVEL
    verdict = decide(concentrated=row.concentrated, apart=apart, alike=row.is_alike, need=need)
    if verdict == "too_little_data" and apart_p is not None and row.stands_out and not need:
        pairs = find_need_to_be_sure(
            inside.pairs, row.direction_p, row.citation_p, tests=told_apart
        )
        need = replace(need, pairs=pairs)
    grades = splits_by_grades(study.split_table.of_class(row.splits.code))
    return ClassDiagnosis(
        name=study.table.classes[row.splits.code],
        inside=inside,
        rest=rest,
        concentration=row.concentration,
        p_adjusted=row.p_adjusted,
        fisher_p=row.splits.fisher_p.value,
        directions=row.directions,
        citation=row.citation,
        grades=tuple((low, high, count) for (low, high), count in grades.items()),
        apart_p=apart_p,
        need=need,
        verdict=verdict,
        sentences=(),
    )


def _say_classes(
    study: _Study,
    evidence: list[_Evidence],
    judged: tuple[ClassDiagnosis, ...],
    leniency: tuple[Leniency, ...],
) -> tuple[ClassDiagnosis, ...]:
    """The classes with their sentences, which must know whose leniency shows in them."""
    lenient = {(row.a, row.b) for row in leniency if row.lenient is not None}
    return tuple(
        replace(
            found,
            sentences=(
                *_say_evidence(study.table, row, found),
                *_say_advice(
                    row, found, lenient=any((d.a, d.b) in lenient for d in row.directions)
                ),
            ),
        )
        for row, found in zip(evidence, judged, strict=True)
    )


def _say_evidence(table: LabelTable, row: _Evidence, found: ClassDiagnosis) -> list[Sentence]:
    """Concentration, direction and citation; no word on splits where there is none."""
    inside = found.inside
    said = [
        say_concentration(
            found.name,
            inside,
            found.rest,
            found=row.concentration,
            p_value=row.p_adjusted,
            concentrated=row.concentrated,
        )
    ]
    if not inside.splits:
        return said
    total = sum(each.a_higher + each.b_higher for each in row.directions if each.b is not None)
    said.append(say_direction(table.annotators, row.shown, total))
    if row.shown and row.has_direction and row.joint_p is not None:
        said.append(say_directions_together(row.joint_p, *row.joint_queries))
    said.append(say_citation(row.citation, inside.splits, apart=row.cites_apart))
    if row.stands_out and found.apart_p is not None and found.verdict != "hole":
        said.append(say_not_sure(found.apart_p))
    return said


def _say_advice(row: _Evidence, found: ClassDiagnosis, *, lenient: bool) -> list[Sentence]:
    """What to do: what is missing first, then what tells a hole from slips."""
    is_undecided = found.is_undecided and not row.is_alike
    if is_undecided and row.stands_out and not (found.need.queries or found.need.rest_pairs):
        return [
            say_how_to_tell(found.name, found.inside, found.need, row.citation, stands_out=True)
        ]
    said = say_what_to_do(
        found.verdict,
        found.name,
        found.inside,
        found.need,
        stands_out=row.stands_out,
        lenient=lenient,
    )
    if is_undecided and not row.stands_out:
        said.append(
            say_how_to_tell(found.name, found.inside, found.need, row.citation, stands_out=False)
        )
    return said


def _find_leniency(study: _Study, classes: tuple[ClassDiagnosis, ...]) -> tuple[Leniency, ...]:
    """Who is higher everywhere: outside of holes, and whichever class is left out besides.

    What one class does is no habit, be it a hole that was not found. Where all queries are of one
    class there is nothing to leave it out of.
    """
    holes = [code for code, row in enumerate(classes) if row.verdict == "hole"]
    groups = np.unique(study.queries.query_class)
    others = np.setdiff1d(groups, [NONE, *holes]).tolist() if len(groups) > 1 else []
    return tuple(find_leniency(study.directed, holes, others, study.draws))
